"""Turns decided counterparts of a writing study into gold pairs of its corpus."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.corpora.bodies import hash_body
from annotation.corpora.corpus_storage import free_name, name_varieties
from annotation.models import Corpus, Study, Text, TextPair


@dataclass(frozen=True)
class GoldItem:
    """A text of the corpus's source variety and its decided counterpart; empty where none is."""

    text: Text
    body: str


@dataclass
class GoldResult:
    """What became of the items, by the texts' names; ``refused`` says why not."""

    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


@transaction.atomic
def add_gold_pairs(
    *,
    corpus: Corpus,
    study: Study,
    items: Iterable[GoldItem],
    user: AbstractBaseUser | None = None,
) -> GoldResult:
    """Make the study's pairs what ``items`` say; a repeat changes nothing.

    A counterpart that is in the corpus already is used again. An item without a body takes the
    study's pair of its text away. Left as they are and named in ``refused``: texts with a pair
    that this study did not write, and counterparts whose text stands in the other split, for
    training texts are never evaluated. Pairs of texts that are not among ``items`` stay.

    Raises `ValidationError` for a text of another corpus or variety, and for one that comes twice.
    """
    Corpus.objects.select_for_update().get(pk=corpus.pk)
    store = _Store(corpus, study, user)
    seen: set[int] = set()
    for item in items:
        if item.text.corpus_id != corpus.pk or item.text.variety != corpus.source_variety:
            raise ValidationError(
                f"“{item.text.slug}” is no text of “{corpus.name}” in {corpus.source_variety}."
            )
        if item.text.pk in seen:
            raise ValidationError(f"“{item.text.slug}” comes twice, expected one counterpart.")
        seen.add(item.text.pk)
        store.settle(item)
    store.remove_unused()
    return store.result


def find_due(*, corpus: Corpus, study: Study, items: Iterable[GoldItem]) -> set[int]:
    """Return the texts (by key) whose pair of the study is not yet what ``items`` say.

    Texts with a pair that another study wrote, or that was imported, are never due. One query.
    """
    pairs = _by_text(corpus.pairs.select_related("target_text").order_by("pk"), study)
    due = set()
    for item in items:
        pair = pairs.get(item.text.pk)
        if pair is not None and pair.study_id != study.pk:
            continue
        there = pair.target_text.body_hash if pair else None
        if there != (hash_body(item.body.strip()) if item.body.strip() else None):
            due.add(item.text.pk)
    return due


def _by_text(pairs: Iterable[TextPair], study: Study) -> dict[int, TextPair]:
    """Return a pair of each text, the study's own before others."""
    own_last = sorted(pairs, key=lambda pair: pair.study_id == study.pk)
    return {pair.source_text_id: pair for pair in own_last}


class _Store:
    """Two queries for what is there, then what changes alone."""

    def __init__(self, corpus: Corpus, study: Study, user: AbstractBaseUser | None) -> None:
        self.corpus, self.study, self.user = corpus, study, user
        self.result = GoldResult()
        texts = list(corpus.texts.all())
        self.splits: dict[str, set[str]] = {}
        for text in texts:
            self.splits.setdefault(text.body_hash, set()).add(text.split)
        self.targets = {
            text.body_hash: text for text in texts if text.variety == corpus.target_variety
        }
        pairs = list(corpus.pairs.select_related("target_text").order_by("pk"))
        self.pairs = _by_text(pairs, study)
        self.taken = {text.slug for text in texts} | {pair.slug for pair in pairs}
        self.left: list[Text] = []

    def settle(self, item: GoldItem) -> None:
        name, body = item.text.slug, item.body.strip()
        pair = self.pairs.get(item.text.pk)
        if pair is not None and pair.study_id != self.study.pk:
            self.result.refused[name] = "It has a counterpart that this study did not write."
        elif not body:
            self._remove(name, pair)
        elif self.splits.get(hash_body(body), set()) - {item.text.split}:
            self.result.refused[name] = (
                f"It is for {item.text.split}, but its counterpart is a text of the other split."
            )
        else:
            self._put(item.text, body, pair)

    def _remove(self, name: str, pair: TextPair | None) -> None:
        if pair is None:
            self.result.unchanged.append(name)
            return
        self.left.append(pair.target_text)
        pair.delete()
        self.result.removed.append(name)

    def _put(self, text: Text, body: str, pair: TextPair | None) -> None:
        target = self.targets.get(hash_body(body)) or self._create_target(text, body)
        if pair is None:
            TextPair.objects.create(
                corpus=self.corpus,
                slug=free_name(f"{text.slug}-pair", self.taken),
                source_text=text,
                target_text=target,
                study=self.study,
            )
            self.result.added.append(text.slug)
        elif pair.target_text_id == target.pk:
            self.result.unchanged.append(text.slug)
        else:
            self.left.append(pair.target_text)
            pair.target_text = target
            pair.save(update_fields=["target_text"])
            self.result.replaced.append(text.slug)

    def _create_target(self, text: Text, body: str) -> Text:
        ending = name_varieties(self.corpus)[1]
        target = Text(
            corpus=self.corpus,
            slug=free_name(f"{text.slug}-{ending}", self.taken),
            variety=self.corpus.target_variety,
            body=body,
            body_hash=hash_body(body),
            source=text.source,
            split=text.split,
        )
        target._history_user = self.user  # type: ignore[attr-defined] # as django-simple-history has it
        target._change_reason = f"Counterpart of study {self.study.public_id}"  # type: ignore[attr-defined]
        target.save()
        self.targets[target.body_hash] = target
        self.splits.setdefault(target.body_hash, set()).add(target.split)
        return target

    def remove_unused(self) -> None:
        """Delete the texts of replaced counterparts, if this study made them and nothing else
        refers to them.
        """
        made = f"Counterpart of study {self.study.public_id}"
        for text in {text.pk: text for text in self.left}.values():
            used = any(
                getattr(text, relation).exists()
                for relation in (
                    "pairs_as_target",
                    "counterparts",
                    "writing_tasks",
                    "adjudications",
                    "judgment_items",
                )
            )
            first = text.history.order_by("history_date", "history_id").first()
            if not used and first is not None and first.history_change_reason == made:
                text.delete()
