"""What a run is made of where nothing else was said."""

from __future__ import annotations

from probing.measures.prompt_library import INSTRUCTION_PROMPT, PAPER_PROMPT
from probing.measures.template_library import BEST_TEMPLATES
from probing.models import LanguageModel, ModelKind

# Table 5 of Cao et al. (2022): the best template of SeT with RoBERTa, and one of the two of
# ILPS* with RoBERTa. Other families and measures have their own rows where the paper gives any.
FALLBACK_TEMPLATES = ("that-group-is-trait",)
#: The set that a page offers: the one template that Table 5 finds best for SeT with RoBERTa.
DEFAULT_TEMPLATE_SET = "cao-2022-best-roberta"


def default_templates(*, measure: str, model: LanguageModel) -> tuple[str, ...]:
    """Return the paper's best templates for this measure and family of models, as slugs."""
    return BEST_TEMPLATES.get((measure, model.family), FALLBACK_TEMPLATES)


def default_prompts(model: LanguageModel) -> tuple[str, ...]:
    """Return the slug of the prompt that this kind of model is asked with.

    Figure 1 of Deas et al. (2023) is the prompt of the GPT models, causal and chat alike; models
    that turn one sequence into another get the instruction without its arrow.
    """
    return (INSTRUCTION_PROMPT,) if model.kind == ModelKind.SEQ2SEQ else (PAPER_PROMPT,)
