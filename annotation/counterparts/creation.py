"""Creates a study in which annotators write counterparts, with texts drawn from a corpus."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.annotators.lifecycle import create_study, edit_design
from annotation.common.lazy import np
from annotation.corpora.features import measure_density
from annotation.models import Corpus, Study, StudyKind, Text, WritingDesign

DENSITY_FLOOR = 0.01


class SamplingError(ValueError):
    """The texts cannot be drawn as asked; the message says what is there."""


@dataclass(frozen=True)
class SampleItem:
    """A text that can be drawn: its unique ``key``, where it was drawn from, features per word."""

    key: str
    source: str = ""
    density: float = 0.0


def sample_texts(
    items: Sequence[SampleItem],
    *,
    seed: int,
    n: int | None = None,
    per_source: int | None = None,
    weighted: bool = True,
) -> tuple[SampleItem, ...]:
    """Return the drawn items in the order of ``items``.

    n : how many to draw from all of them
    per_source : how many to draw from each source, instead of `n`
    weighted : by density as above, else all alike
    seed : whole number from 0; the same seed, keys and densities give the same draw, whatever the
        order of ``items``; with `per_source`, whatever the other sources hold

    Raises `SamplingError` where there are fewer than asked for.
    """
    if (n is None) == (per_source is None):
        raise SamplingError("Say either n or per_source, not both and not neither.")
    if len({item.key for item in items}) < len(items):
        raise SamplingError("A key comes twice, expected one for each text.")
    if n is not None:
        drawn = _draw(items, n, seed, "", weighted)
    else:
        sources = sorted({item.source for item in items})
        if not sources:
            raise SamplingError("There is no text to draw from.")
        drawn = set()
        for source in sources:
            of_source = [item for item in items if item.source == source]
            drawn |= _draw(of_source, per_source or 0, seed, source, weighted)
    return tuple(item for item in items if item.key in drawn)


def _draw(items: Sequence[SampleItem], n: int, seed: int, source: str, weighted: bool) -> set[str]:
    if n < 1:
        raise SamplingError(f"{n} texts are asked for, expected at least 1.")
    if n > len(items):
        where = f" from “{source}”" if source else ""
        raise SamplingError(f"{n} texts{where} are asked for, but there are {len(items)}.")
    ordered = sorted(items, key=lambda item: item.key)
    weights = np.array(
        [item.density + DENSITY_FLOOR if weighted else 1.0 for item in ordered], dtype=float
    )
    if not np.all(np.isfinite(weights) & (weights > 0)):
        raise SamplingError("A density is not a number from 0.")
    stream = int.from_bytes(hashlib.sha256(source.encode()).digest()[:8], "big")
    rng = np.random.default_rng([seed, stream])
    chosen = rng.choice(len(ordered), size=n, replace=False, p=weights / weights.sum())
    return {ordered[index].key for index in chosen}


# --- Which texts of a corpus a study works on

#: Stands for all sources together, where texts are not counted by source.
ALL_SOURCES = ""


def open_texts(corpus: Corpus) -> QuerySet[Text]:
    """Return the texts that can be rewritten: in the source variety, without a gold counterpart."""
    return Text.objects.filter(
        corpus=corpus, variety=corpus.source_variety, pairs_as_source__isnull=True
    ).order_by("slug")


def count_open_texts(corpus: Corpus, *, per_source: bool) -> dict[str, int]:
    """Return how many texts can be rewritten, by source or in all. One query."""
    if not per_source:
        return {ALL_SOURCES: n} if (n := open_texts(corpus).count()) else {}
    return dict(Counter(open_texts(corpus).values_list("source", flat=True)))


def draw_texts(design: WritingDesign) -> list[Text]:
    """Return the texts that a design's seed draws, all of them where it names no number. One query.

    Weighted draws follow `annotation.counterparts.creation`: by features of the variety per word. A
    number of texts per source is drawn from every source.
    Raises `ValueError` where the corpus has fewer than the design asks for.
    """
    texts = list(open_texts(design.corpus))
    if design.n_texts is None or (design.n_texts == len(texts) and not design.per_source):
        return texts
    weighted = design.weighted_by_features
    items = [
        SampleItem(text.slug, text.source, measure_density(text.body) if weighted else 0.0)
        for text in texts
    ]
    try:
        wanted = {"per_source" if design.per_source else "n": design.n_texts}
        drawn = sample_texts(items, seed=design.seed, weighted=weighted, **wanted)
    except SamplingError as error:
        raise ValueError(str(error)) from None
    chosen = {item.key for item in drawn}
    return [text for text in texts if text.slug in chosen]


# --- The study

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
