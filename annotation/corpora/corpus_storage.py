"""Stores texts and pairs: how they are named, and their first entry in the history."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import AbstractBaseUser
from django.utils.text import slugify
from simple_history.utils import bulk_create_with_history

from annotation.corpora.bodies import fold_body, hash_body
from annotation.corpora.corpus_rows import Row, Side
from annotation.models import Corpus, Text, TextPair

BATCH = 500
LONGEST_SLUG = 90  # leaves room for a number


def name_varieties(corpus: Corpus) -> tuple[str, str]:
    """Return what the names of a pair's two texts end in, such as “aal” and “wme”."""
    source, target = slugify(corpus.source_variety), slugify(corpus.target_variety)
    return (source, target) if source and target and source != target else ("source", "target")


def store_rows(
    *, corpus: Corpus, rows: Sequence[Row], user: AbstractBaseUser | None, reason: str
) -> tuple[int, int]:
    """Store checked rows; return how many texts and pairs they made. Runs in a transaction."""
    taken = set(corpus.texts.values_list("slug", flat=True))
    taken |= set(corpus.pairs.values_list("slug", flat=True))
    taken |= {row.name for row in rows if row.name}
    endings = name_varieties(corpus)
    there = {(text.variety, fold_body(text.body)): text for text in corpus.texts.all()}
    texts: list[Text] = []
    pairs: list[TextPair] = []
    number_name = _Numbering(taken, start=len(there))

    def place(row: Row, side: Side, variety: str, name: str, **more: str) -> Text:
        """Return the text that is there already, or a new one."""
        key = variety, fold_body(side.body)
        if key not in there:
            there[key] = Text(
                corpus=corpus,
                slug=free_name(name, taken) if row.target else name,
                variety=variety,
                body=side.body,
                body_hash=hash_body(side.body),
                source=row.source,
                split=row.split,
                spans=list(side.spans),
                **more,
            )
            texts.append(there[key])
        return there[key]

    for row in rows:
        name = row.name or number_name("pair" if row.target else "text")
        if row.target is None:
            place(row, row.text, row.variety, name, context=row.context)
            continue
        source = place(row, row.text, row.variety, f"{name}-{endings[0]}", context=row.context)
        target = place(row, row.target, corpus.target_variety, f"{name}-{endings[1]}")
        pairs.append(TextPair(corpus=corpus, slug=name, source_text=source, target_text=target))
    bulk_create_with_history(
        texts, Text, batch_size=BATCH, default_user=user, default_change_reason=reason
    )
    for pair in pairs:  # the texts have their keys only now
        pair.source_text_id, pair.target_text_id = pair.source_text.pk, pair.target_text.pk
    TextPair.objects.bulk_create(pairs, batch_size=BATCH)
    return len(texts), len(pairs)


def free_name(wanted: str, taken: set[str]) -> str:
    """Return ``wanted``, with a number behind it where that is taken, and take it."""
    wanted = wanted[:LONGEST_SLUG]
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}-{number}"
    taken.add(name)
    return name


class _Numbering:
    """Names rows that have none: text-0001, text-0002 …, going on where the corpus ends."""

    def __init__(self, taken: set[str], start: int) -> None:
        self._taken = taken
        self._number = start

    def __call__(self, kind: str) -> str:
        while True:
            self._number += 1
            name = f"{kind}-{self._number:04}"
            if name not in self._taken:
                self._taken.add(name)
                return name
