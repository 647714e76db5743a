"""What a run is made of where nothing else was said."""

from __future__ import annotations

from probing.measures.template_library import BEST_TEMPLATES
from probing.models import LanguageModel

# Table 5 of Cao et al. (2022): the best template of SeT with RoBERTa, and one of the two of
# ILPS* with RoBERTa. Other families and measures have their own rows where the paper gives any.
FALLBACK_TEMPLATES = ("that-group-is-trait",)


def default_templates(*, measure: str, model: LanguageModel) -> tuple[str, ...]:
    """Return the paper's best templates for this measure and family of models, as slugs."""
    return BEST_TEMPLATES.get((measure, model.family), FALLBACK_TEMPLATES)
