"""Creates a study in which annotators write counterparts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.counterparts.drawing import open_texts
from annotation.counterparts.guidelines import DEFAULT_GUIDELINES
from annotation.models import Corpus, Study, StudyKind, StudyStatus, WritingDesign


@transaction.atomic
def create_writing_study(
    *,
    title: str,
    owner: AbstractBaseUser | None,
    contact_email: str,
    corpus: Corpus,
    n_texts: int | None = None,
    weighted_by_features: bool = False,
    common_texts: int = 0,
    shared_percent: float = 10,
    guidelines: Sequence[str] = DEFAULT_GUIDELINES,
    seed: int | None = None,
    **options: Any,
) -> Study:
    """Create a draft study and its design; annotators are invited and tasks given later.

    Raises `ValidationError` for bad options; nothing is stored then.
    """
    study = Study(
        title=title,
        owner=owner,  # type: ignore[misc]
        contact_email=contact_email,
        kind=StudyKind.COUNTERPART_WRITING,
        **options,
    )
    study.full_clean()
    study.save()
    design = WritingDesign(study=study, corpus=corpus, guidelines=list(guidelines))
    if seed is not None:
        design.seed = seed
    change_design(
        design=design,
        n_texts=n_texts,
        weighted_by_features=weighted_by_features,
        common_texts=common_texts,
        shared_percent=shared_percent,
    )
    return study


@transaction.atomic
def change_design(*, design: WritingDesign, **values: Any) -> WritingDesign:
    """Change the design of a draft. Raises `ValidationError`, by field, for what cannot be."""
    if design.study.status != StudyStatus.DRAFT:
        raise ValidationError(_("The study was launched: its design is frozen."))
    for name, value in values.items():
        setattr(design, name, value)
    if not design.guidelines:
        raise ValidationError({"guidelines": _("Write at least one guideline.")})
    design.full_clean(exclude=["study"])
    check_numbers(
        corpus=design.corpus,
        n_texts=design.n_texts,
        common_texts=design.common_texts,
        weighted=design.weighted_by_features,
    )
    design.save()
    return design


def check_numbers(
    *, corpus: Corpus, n_texts: int | None, common_texts: int, weighted: bool = False
) -> None:
    """Raise `ValidationError`, by field, for more texts than the corpus has to rewrite, and for
    weights without a draw. One query.

    An empty corpus can be filled before the launch, which asks again.
    """
    if weighted and n_texts is None:
        raise ValidationError(
            {
                "n_texts": _(
                    "Say how many texts are drawn: where all of them are taken, none can be drawn "
                    "more often."
                )
            }
        )
    there = open_texts(corpus).count()
    if there and n_texts is not None and not 1 <= n_texts <= there:
        raise ValidationError(
            {
                "n_texts": _(
                    "%(n)d texts are to be drawn, expected 1 to %(most)d: the texts of the corpus "
                    "without a gold counterpart."
                )
                % {"n": n_texts, "most": there}
            }
        )
    wanted = there if n_texts is None else n_texts
    if there and common_texts > wanted:
        raise ValidationError(
            {
                "common_texts": _(
                    "%(n)d texts are to be written by everyone, expected at most the %(most)d "
                    "texts of the study."
                )
                % {"n": common_texts, "most": wanted}
            }
        )
