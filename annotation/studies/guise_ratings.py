"""Studies of guises: their pairs of texts, and accepted ratings of the speakers."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from annotation.common.seeded import shuffle
from annotation.common.text_shortening import show_beginning
from annotation.instruments.versions import current_instrument, published_instrument
from annotation.models import Corpus, Instrument, Rating, Split, Study, StudyGroup, Text, TextPair
from annotation.models.submission import accepted

# --- The texts of a study of guises: pairs drawn from a corpus, and what each is a guise of

# A launch writes all of them, and a start counts the places of all of them.
MOST_TEXTS = 1000
LONGEST_NAME = 60


@dataclass(frozen=True)
class Guise:
    """A text as it reads in one variety; guises of one ``item`` say the same."""

    text: Text
    item: str


def list_items(corpus: Corpus) -> dict[str, list[Text]]:
    """Return the texts of a corpus's pairs by item, items in the order of their first pair.

    An item is a pair, or all pairs that share a text: nobody may meet two of their texts. It is
    named by its first pair. Texts of the training split are left out. One query.
    """
    pairs = (
        TextPair.objects.filter(
            corpus=corpus,
            source_text__split=Split.EVALUATION,
            target_text__split=Split.EVALUATION,
        )
        .select_related("source_text", "target_text")
        .order_by("slug")
    )
    item_of: dict[int, str] = {}
    texts: dict[str, dict[int, Text]] = {}
    for pair in pairs:
        both = {text.pk: text for text in (pair.source_text, pair.target_text)}
        joined = dict.fromkeys(item_of[pk] for pk in both if pk in item_of)
        # The earliest item keeps its name and takes in those that the pair joins to it.
        name = min(joined, key=list(texts).index) if joined else pair.slug
        found = texts.setdefault(name, {})
        for other in joined:
            if other != name:
                found.update(texts.pop(other))
        found.update(both)
        item_of.update(dict.fromkeys(found, name))
    return {name: list(found.values()) for name, found in texts.items()}


def draw_guises(corpus: Corpus, *, n_pairs: int | None, seed_text: str) -> list[Guise]:
    """Return the texts of ``n_pairs`` items, all of them for None, drawn by ``seed_text``.

    They stand in the order of the corpus. Raises `ValidationError` where there are fewer, or more
    texts than a study can have. One query.
    """
    items = list_items(corpus)
    if not items:
        raise ValidationError(
            _("“%(corpus)s” has no text pairs for evaluation, expected at least one pair.")
            % {"corpus": corpus}
        )
    if n_pairs is not None and not 1 <= n_pairs <= len(items):
        raise ValidationError(
            _("%(n)d pairs are to be drawn, expected 1 to %(most)d: the pairs of “%(corpus)s”.")
            % {"n": n_pairs, "most": len(items), "corpus": corpus}
        )
    drawn: Collection[str] = items
    if n_pairs is not None:
        order = shuffle(items, name=str, seed=seed_number(seed_text), purpose="pairs")
        drawn = set(order[:n_pairs])
    guises = [Guise(text, item) for item, texts in items.items() if item in drawn for text in texts]
    if len(guises) > MOST_TEXTS:
        raise ValidationError(
            _("These are %(n)d texts, expected at most %(most)d: draw fewer pairs.")
            % {"n": len(guises), "most": MOST_TEXTS}
        )
    return guises


def seed_number(text: str) -> int:
    """Return a seed from a study's public id, which is letters and digits."""
    return int(text, 36)


def copy_guises(*, instrument: Instrument, guises: Iterable[Guise]) -> None:
    """Copy texts into ``instrument``, in the order given; edits of its corpus change nothing."""
    StudyGroup.objects.bulk_create(
        StudyGroup(
            instrument=instrument,
            text=guise.text,
            slug=guise.text.slug,
            item=guise.item,
            variety=guise.text.variety,
            body=guise.text.body,
            position=position,
            **dict.fromkeys(("singular", "plural", "plural_capitalised"), name_guise(guise.text)),
        )
        for position, guise in enumerate(guises, start=1)
    )


def name_guise(text: Text) -> str:
    """Return how researchers' pages name a text: its variety and how it begins."""
    return f"{text.variety}: {show_beginning(text.body, LONGEST_NAME)}"


# --- Ratings of speakers


class GuiseRow(NamedTuple):
    """One number by one person about the speaker of one text.

    submission : pseudonymous id; text, item, scale : slugs; value : 0 (low pole) to 100
    """

    submission: str
    text: str
    item: str
    variety: str
    scale: str
    value: float


def load_guise_ratings(study: Study, *, arm: str = "") -> list[GuiseRow]:
    """Return the ratings of accepted submissions that count, without repeated texts. One query.

    arm : name of the one that they are limited to, empty for all
    """
    rows = (
        Rating.objects.filter(
            accepted(of="assignment__submission__"),
            assignment__submission__study=study,
            assignment__is_repeat=False,
            assignment__group__text__isnull=False,
            **({"assignment__submission__arm": arm} if arm else {}),
        )
        .order_by("assignment__submission__pk", "assignment__position", "scale__position")
        .values_list(
            "assignment__submission__public_id",
            "assignment__group__slug",
            "assignment__item",
            "assignment__group__variety",
            "scale__slug",
            "value",
        )
    )
    return [GuiseRow(*row) for row in rows.iterator(chunk_size=5000)]


def list_varieties(study: Study) -> list[str]:
    """Return the varieties of a study's texts, the corpus's source variety first. Two queries."""
    instrument = published_instrument(study) or current_instrument(study)
    texts = StudyGroup.objects.filter(instrument=instrument, text__isnull=False)
    found = texts.order_by("position").values_list("variety", "text__corpus__source_variety")
    ordered = sorted(dict(found).items(), key=lambda pair: pair[0] != pair[1])
    return [variety for variety, _source in ordered]


def hash_guise_ratings(rows: list[GuiseRow]) -> str:
    """Return the SHA-256 of the rows, independent of their order and of the database's keys."""
    digest = hashlib.sha256()
    for row in sorted(rows):
        digest.update("\t".join([*row[:-1], repr(row.value), "\n"]).encode())
    return digest.hexdigest()
