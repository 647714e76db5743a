"""Creates a study in which annotators write counterparts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.annotators.lifecycle import create_study, edit_design
from annotation.counterparts.text_sampling import count_open_texts
from annotation.models import Corpus, Study, StudyKind, WritingDesign

#: What a new study begins with: Deas et al. (2023), appendix C.1, in other words, and examples of
#: habitual “be”, a missing copula and negative concord.
DEFAULT_GUIDELINES = (
    "Write out alternative spellings, such as “should’ve” for “shoulda”.",
    "Keep user names, hashtags and web addresses as they are.",
    "Leave emojis alone, unless speakers of the other variety would use them differently.",
    "Keep swear words, and write out those that were masked.",
    "Change only what has to change. Meaning and tone stay.",
    "Where no guideline fits, trust your own judgment.",
    "She be working late. → She usually works late.",
    "They at the store already. → They are at the store already.",
    "I ain’t never seen nothing like that. → I have never seen anything like that.",
)
#: Between the two texts of an example.
ARROW = "→"
MOST_GUIDELINES, LONGEST_GUIDELINE = 30, 600


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
    per_source: bool = False,
    guidelines: Sequence[str] = DEFAULT_GUIDELINES,
    seed: int | None = None,
    **options: Any,
) -> Study:
    """Create a draft study and its design; annotators are invited and tasks given later.

    Raises `ValidationError` for bad options; nothing is stored then.
    """
    study = create_study(
        kind=StudyKind.COUNTERPART_WRITING,
        title=title,
        owner=owner,
        contact_email=contact_email,
        **options,
    )
    design = WritingDesign(study=study, corpus=corpus, guidelines=list(guidelines))
    if seed is not None:
        design.seed = seed
    change_design(
        design=design,
        n_texts=n_texts,
        weighted_by_features=weighted_by_features,
        common_texts=common_texts,
        shared_percent=shared_percent,
        per_source=per_source,
    )
    return study


@transaction.atomic
def change_design(*, design: WritingDesign, **values: Any) -> WritingDesign:
    """Change the design of a draft. Raises `ValidationError`, by field, for what cannot be."""
    edit_design(design, values)
    if not design.guidelines:
        raise ValidationError({"guidelines": _("Write at least one guideline.")})
    design.full_clean(exclude=["study"])
    check_numbers(
        corpus=design.corpus,
        n_texts=design.n_texts,
        common_texts=design.common_texts,
        weighted=design.weighted_by_features,
        per_source=design.per_source,
    )
    design.save()
    return design


def check_numbers(
    *,
    corpus: Corpus,
    n_texts: int | None,
    common_texts: int,
    weighted: bool = False,
    per_source: bool = False,
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
    there = min(count_open_texts(corpus, per_source=per_source).values(), default=0)
    if there and n_texts is not None and not 1 <= n_texts <= there:
        few = (
            _(
                "%(n)d texts of every source are to be drawn, expected 1 to %(most)d: one source "
                "has no more without a gold counterpart."
            )
            if per_source
            else _(
                "%(n)d texts are to be drawn, expected 1 to %(most)d: the texts of the corpus "
                "without a gold counterpart."
            )
        )
        raise ValidationError({"n_texts": few % {"n": n_texts, "most": there}})
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


def parse_guidelines(text: str) -> list[str]:
    """Return one guideline a line, blank lines left out; raises `ValidationError` where too many or
    too long."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    guidelines = [line for line in lines if line]
    if len(guidelines) > MOST_GUIDELINES:
        raise ValidationError(
            _("There are %(n)d guidelines, expected at most %(most)d: nobody keeps more in mind.")
            % {"n": len(guidelines), "most": MOST_GUIDELINES}
        )
    for number, line in enumerate(guidelines, start=1):
        if len(line) > LONGEST_GUIDELINE:
            raise ValidationError(
                _("Guideline %(number)d has %(n)d characters, expected at most %(most)d.")
                % {"number": number, "n": len(line), "most": LONGEST_GUIDELINE}
            )
    return guidelines


def split_examples(guidelines: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the guidelines, and the pairs “text → counterpart” among their lines."""
    rules = [line for line in guidelines if ARROW not in line]
    pairs = [line.split(ARROW, 1) for line in guidelines if ARROW in line]
    return rules, [(text.strip(), counterpart.strip()) for text, counterpart in pairs]
