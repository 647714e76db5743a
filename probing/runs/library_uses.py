"""Finds runs and defaults that use entries of the library."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.db.models import Model

from annotation.library.uses import User
from annotation.models import SocialGroup, TraitPair
from probing.measures.template_library import BEST_TEMPLATES
from probing.models import Run, Template, TemplateSet
from probing.runs.access import visible_runs
from probing.runs.stimuli import DEFAULT_TEMPLATE_SET, FALLBACK_TEMPLATES

#: Where a run's stimuli hold entries of a model.
STIMULI: dict[type[Model], str] = {
    SocialGroup: "groups",
    TraitPair: "traits",
    Template: "templates",
}


def find_run_uses(
    model: type[Model], slugs: Collection[str], user: User
) -> Iterable[tuple[str, str]]:
    """Yield runs and defaults. Two queries; reads the stimuli of every run."""
    yield from _defaults(model, slugs)
    if model not in STIMULI:
        return
    wanted = set(slugs)
    visible = set(visible_runs(user).values_list("pk", flat=True))
    for pk, stimuli in Run.objects.order_by("pk").values_list("pk", "stimuli").iterator():
        entries = stimuli.get(STIMULI[model], ())
        for slug in wanted & {entry["slug"] for entry in entries if isinstance(entry, dict)}:
            yield slug, f"run {pk}" if pk in visible else "a run of somebody else"


def _defaults(model: type[Model], slugs: Collection[str]) -> Iterable[tuple[str, str]]:
    used = {
        Template: {
            *FALLBACK_TEMPLATES,
            *(slug for best in BEST_TEMPLATES.values() for slug in best),
        },
        TemplateSet: {DEFAULT_TEMPLATE_SET},
    }.get(model, set())
    for slug in used & set(slugs):
        yield slug, "new runs, which begin with it"
