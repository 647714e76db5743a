"""Creates a study in which annotators judge counterparts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.annotators.lifecycle import create_study, edit_design
from annotation.judgments.error_coding import parse_scheme, store_scheme
from annotation.judgments.questions import (
    default_wording,
    list_producers,
    missing_directions,
    parse_wording,
)
from annotation.models import Corpus, JudgmentDesign, Study, StudyKind


@transaction.atomic
def create_judgment_study(
    *,
    title: str,
    owner: AbstractBaseUser | None,
    contact_email: str,
    corpus: Corpus,
    runs: Sequence[str] = (),
    n_texts: int = 100,
    include_human: bool = True,
    complete: bool = True,
    overlap_percent: float = 10,
    wording: dict[str, Any] | None = None,
    error_scheme: Sequence[Any] = (),
    seed: int | None = None,
    **options: Any,
) -> Study:
    """Create a draft study and its design; judges are invited, counterparts drawn at the launch.

    ``wording`` is that of Deas et al. (2023) unless it is given; with an ``error_scheme`` judges
    mark errors, too (`annotation.judgments.error_coding`). Raises `ValidationError` for bad
    options; nothing is stored then.
    """
    study = create_study(
        kind=StudyKind.COUNTERPART_JUDGMENT,
        title=title,
        owner=owner,
        contact_email=contact_email,
        **options,
    )
    design = JudgmentDesign(study=study, corpus=corpus)
    if seed is not None:
        design.seed = seed
    change_design(
        design=design,
        runs=list(runs),
        n_texts=n_texts,
        include_human=include_human,
        complete=complete,
        overlap_percent=overlap_percent,
        wording=wording or default_wording(),
        error_scheme=list(error_scheme),
    )
    return study


@transaction.atomic
def change_design(*, design: JudgmentDesign, **values: Any) -> JudgmentDesign:
    """Change the design of a draft. Raises `ValidationError`, by field, for what cannot be."""
    edit_design(design, values)
    design.full_clean(exclude=["study", "runs", "wording", "error_scheme"])
    check_producers(design)
    try:
        design.wording = parse_wording(design.wording).model_dump(mode="json")
    except ValidationError as error:
        raise ValidationError({"wording": error.messages}) from None
    try:
        design.error_scheme = store_scheme(parse_scheme(design.error_scheme))
    except ValidationError as error:
        raise ValidationError({"error_scheme": error.messages}) from None
    design.save()
    return design


def check_producers(design: JudgmentDesign) -> None:
    """Raise `ValidationError` unless somebody is chosen and everyone chosen is there. One query."""
    if not design.runs and not design.include_human:
        raise ValidationError(
            {"runs": _("Choose at least one run, or include the human counterparts.")}
        )
    there = {producer.run: producer for producer in list_producers(design.corpus)}
    unknown = [run for run in design.runs if run not in there]
    if unknown:
        raise ValidationError(
            {
                "runs": _("No counterpart of “%(corpus)s” is stored from: %(runs)s.")
                % {"corpus": design.corpus, "runs": ", ".join(unknown)}
            }
        )
    if not design.complete:
        return
    missing = missing_directions(design.corpus, [there[run] for run in design.runs])
    if missing:
        raise ValidationError(
            {
                "runs": [
                    _(
                        "%(model)s wrote nothing into %(variety)s in the runs that are chosen: add "
                        "such a run, or draw incomplete pairs too."
                    )
                    % {"model": model, "variety": variety}
                    for model, variety in missing
                ]
            }
        )
