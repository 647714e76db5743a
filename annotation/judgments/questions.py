"""What judges are asked: which counterparts, and four questions with answers from 1 to 5.

Deas et al. (2023), appendix C.2, word for word but for a slip of spelling. ``{variety}`` stands for
the variety of the counterpart.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.db.models import Count
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, StringConstraints, field_validator
from pydantic import ValidationError as SchemaError

from annotation.common.seeded import shuffle
from annotation.judgments.assignment_plan import PlannedItem
from annotation.models import (
    ASPECTS,
    LIKERT,
    Adjudication,
    Annotator,
    Corpus,
    Counterpart,
    JudgmentDesign,
    JudgmentItem,
    Split,
    Text,
    TextPair,
)

# --- Which counterparts a study puts before its judges, and who may not judge them

HUMAN = "human"  # the producer of a pair's own other text
SHOWN_DIGITS = 12  # of a revision's hash


@dataclass(frozen=True)
class Producer:
    """A run whose counterparts can be judged; ``into`` counts them by their variety."""

    run: str
    model: str
    into: Mapping[str, int]


@dataclass(frozen=True)
class LeftOut:
    """Pairs that could not be drawn."""

    reason: str
    n: int


@dataclass(frozen=True)
class Draw:
    """What a design draws from its corpus.

    Attributes
    ----------
    pairs : in the order in which they were drawn.
    items : the counterparts, not stored: pair by pair, both directions, every producer.
    eligible : pairs that could have been drawn; ``wanted`` of them were asked for.
    left_out : the others, each pair under one reason.
    missing : counterparts that are not there among the drawn pairs.
    """

    pairs: Sequence[TextPair]
    items: Sequence[JudgmentItem]
    eligible: int
    wanted: int
    left_out: Sequence[LeftOut]
    missing: int


def list_producers(corpus: Corpus) -> list[Producer]:
    """Return the runs that stored counterparts of a corpus's texts, oldest first. One query."""
    rows = (
        Counterpart.objects.filter(text__corpus=corpus)
        .exclude(run="")
        .exclude(body="")
        .values("run", "model", "variety")
        .annotate(n=Count("pk"))
        .order_by("model", "run", "variety")
    )
    found: dict[str, Producer] = {}
    for row in rows:
        into = dict(found[row["run"]].into) if row["run"] in found else {}
        into[row["variety"]] = row["n"]
        found[row["run"]] = Producer(row["run"], row["model"], into)
    return list(found.values())


def missing_directions(corpus: Corpus, producers: Iterable[Producer]) -> list[tuple[str, str]]:
    """Return (model, variety) for every model whose runs wrote nothing into that variety."""
    into: dict[str, set[str]] = {}
    for producer in producers:
        into.setdefault(producer.model, set()).update(producer.into)
    varieties = (corpus.target_variety, corpus.source_variety)
    return [
        (model, variety) for model in into for variety in varieties if variety not in into[model]
    ]


def draw_items(design: JudgmentDesign) -> Draw:
    """Return the counterparts that a design draws by its seed. Three queries.

    Of pairs with the same text in the target variety one is drawn at most: the way back begins with
    one text, whose counterparts would be judged twice.
    """
    corpus = design.corpus
    pairs = list(corpus.pairs.select_related("source_text", "target_text").order_by("slug"))
    written = _load_written(design)
    expected = [
        (producer, variety)
        for producer in list_producers(corpus)
        if producer.run in design.runs
        for variety in (corpus.target_variety, corpus.source_variety)
        if variety in producer.into
    ]
    reasons: Counter[str] = Counter()
    fitting: list[TextPair] = []
    for pair in pairs:
        reason = _find_reason(design, pair, written, expected)
        if reason:
            reasons[reason] += 1
        else:
            fitting.append(pair)
    name = {"variety": corpus.target_variety}
    eligible: list[TextPair] = []
    targets: set[int] = set()
    for pair in shuffle(fitting, name=lambda pair: pair.slug, seed=design.seed, purpose="pairs"):
        if pair.target_text_id in targets:
            reasons[_("the same %(variety)s text as another pair") % name] += 1
            continue
        targets.add(pair.target_text_id)
        eligible.append(pair)
    drawn = eligible[: design.n_texts]
    items = [item for pair in drawn for item in _build_items(design, pair, written)]
    full = len(drawn) * (len(expected) + 2 * design.include_human)
    left_out = [LeftOut(reason, n) for reason, n in reasons.most_common()]
    return Draw(drawn, items, len(eligible), design.n_texts, left_out, full - len(items))


Written = Mapping[tuple[int, str], Sequence[Counterpart]]


def _load_written(design: JudgmentDesign) -> Written:
    rows = (
        Counterpart.objects.filter(text__corpus=design.corpus_id, run__in=design.runs)
        .exclude(run="")
        .exclude(body="")
        .order_by("model", "run", "pk")
    )
    found: dict[tuple[int, str], list[Counterpart]] = {}
    for row in rows:
        found.setdefault((row.text_id, row.variety), []).append(row)
    return found


def short_name(producer: str) -> str:
    """Return a producer's name as pages have room for it: name@revision, hashes cut."""
    name, at, revision = producer.rpartition("@")
    kept = revision.removeprefix("sha256:")
    return f"{name}@{kept[:SHOWN_DIGITS]}" if at and len(kept) > SHOWN_DIGITS else producer


def _find_reason(
    design: JudgmentDesign,
    pair: TextPair,
    written: Written,
    expected: Sequence[tuple[Producer, str]],
) -> str:
    """Return why a pair cannot be drawn, "" if it can."""
    if Split.TRAINING in {pair.source_text.split, pair.target_text.split}:
        return _("texts for training, which are never judged")
    if design.complete:
        for producer, variety in expected:
            text = _original(design, pair, variety)
            there = written.get((text.pk, variety), ())
            if not any(one.run == producer.run for one in there):
                return _("no %(variety)s counterpart by %(model)s (run %(run)s)") % {
                    "variety": variety,
                    "model": short_name(producer.model),
                    "run": producer.run,
                }
    elif not _build_items(design, pair, written):
        return _("no counterpart by anyone who was chosen")
    return ""


def _original(design: JudgmentDesign, pair: TextPair, variety: str) -> Text:
    """Return the text whose counterpart in ``variety`` is judged."""
    return pair.source_text if variety == design.corpus.target_variety else pair.target_text


def _build_items(design: JudgmentDesign, pair: TextPair, written: Written) -> list[JudgmentItem]:
    """Return the counterparts of a pair as items that are not stored yet."""
    corpus = design.corpus
    found = []
    for variety, gold in (
        (corpus.target_variety, pair.target_text),
        (corpus.source_variety, pair.source_text),
    ):
        item: dict[str, Any] = {
            "study_id": design.study_id,
            "pair": pair,
            "text": _original(design, pair, variety),
            "variety": variety,
        }
        if design.include_human:
            found.append(JudgmentItem(**item, body=gold.body, producer=HUMAN))
        found += [
            JudgmentItem(**item, body=row.body, producer=row.model, run=row.run, counterpart=row)
            for row in written.get((item["text"].pk, variety), ())
        ]
    return found


def find_writers(pairs: Iterable[TextPair]) -> dict[int, set[int]]:
    """Return for every pair (by key) the accounts that may not judge its counterparts. Two queries.

    Those who wrote a counterpart of either text in any study, or said that there is none, and those
    who adjudicated one; also where the same words stand in another corpus.
    """
    pairs = list(pairs)
    hashes = {pair.pk: {pair.source_text.body_hash, pair.target_text.body_hash} for pair in pairs}
    wanted = set().union(*hashes.values())
    by_hash: dict[str, set[int]] = {}
    wrote = Counterpart.objects.filter(
        text__body_hash__in=wanted, annotator__user__isnull=False
    ).values_list("text__body_hash", "annotator__user")
    decided = Adjudication.objects.filter(
        text__body_hash__in=wanted, decided_by__isnull=False
    ).values_list("text__body_hash", "decided_by")
    for body_hash, user in [*wrote, *decided]:
        by_hash.setdefault(body_hash, set()).add(user)
    return {
        key: set().union(*(by_hash.get(one, set()) for one in both)) for key, both in hashes.items()
    }


def wrote_everything(annotator: Annotator) -> bool:
    """Whether the judge wrote or decided counterparts of all texts of the study. Three queries."""
    pairs = list(
        TextPair.objects.filter(judgment_items__study=annotator.study_id)
        .select_related("source_text", "target_text")
        .distinct()
    )
    writers = find_writers(pairs)
    return bool(pairs) and all(annotator.user_id in writers[pair.pk] for pair in pairs)


def plan_items(
    items: Sequence[JudgmentItem],
    writers: Mapping[int, set[int]],
    judges: Sequence[Annotator],
) -> list[PlannedItem]:
    """Return items as the plan of the assignment takes them, those that are not stored by place."""
    return [
        PlannedItem(
            key=item.pk if item.pk is not None else place,
            pair=item.pair.slug,
            original=item.text.slug,
            words=" ".join(item.body.split()),
            stratum=f"{item.variety}\x1f{item.producer}\x1f{item.run}",
            barred=frozenset(
                judge.number for judge in judges if judge.user_id in writers[item.pair_id]
            ),
        )
        for place, item in enumerate(items)
    ]


# --- The four questions

LONGEST_QUESTION, LONGEST_ANSWER = 300, 80
PLACEHOLDER = "{variety}"
BRACES = re.compile(r"\{[^{}]*\}|[{}]")

Question = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_QUESTION)
]
Answer = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_ANSWER)
]


class AspectWording(BaseModel):
    """A question and its answers, from 1 to 5."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: Question
    answers: tuple[Answer, Answer, Answer, Answer, Answer]

    @field_validator("question", "answers")
    @classmethod
    def _only_the_variety_in_braces(cls, value: Any) -> Any:
        for text in [value] if isinstance(value, str) else value:
            for found in BRACES.findall(text):
                if found != PLACEHOLDER:
                    raise ValueError(f"“{found}” is unknown: only {PLACEHOLDER} stands in braces")
        return value

    @field_validator("answers")
    @classmethod
    def _answers_differ(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(value)) != len(value):
            raise ValueError("two answers are the same, expected five different ones")
        return value


class JudgmentWording(BaseModel):
    """What judges read, by aspect."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    human_likeness: AspectWording
    linguistic_match: AspectWording
    meaning_preservation: AspectWording
    tone_preservation: AspectWording


_ACCURATE = (
    "Completely inaccurate",
    "Inaccurate",
    "Neutral",
    "Accurate",
    "Completely accurate",
)
#: Of Deas et al. (2023), appendix C.2, but with one word for one thing: three of their questions
#: say “interpretation” for a counterpart.
DEFAULT_WORDING = JudgmentWording(
    human_likeness=AspectWording(
        question="Is the counterpart more likely generated by a human or language model?",
        answers=(
            "Very likely a model",
            "Likely a model",
            "Neutral",
            "Likely a human",
            "Very likely a human",
        ),
    ),
    linguistic_match=AspectWording(
        question="How well does the counterpart resemble {variety}?",
        answers=(
            "Completely unlike {variety}",
            "Unlike {variety}",
            "Neutral",
            "Like {variety}",
            "Completely like {variety}",
        ),
    ),
    meaning_preservation=AspectWording(
        question="How well does the counterpart reflect the meaning of the original text?",
        answers=_ACCURATE,
    ),
    tone_preservation=AspectWording(
        question="How well does the counterpart accurately reflect the tone of the original text?",
        answers=_ACCURATE,
    ),
)

ASPECT_NAMES = {
    "human_likeness": "Human-likeness",
    "linguistic_match": "Linguistic match",
    "meaning_preservation": "Meaning preservation",
    "tone_preservation": "Tone preservation",
}


@dataclass(frozen=True)
class ShownAspect:
    """One aspect as a judge reads it; ``answers`` are value and label."""

    name: str
    title: str
    question: str
    answers: tuple[tuple[int, str], ...]


def default_wording() -> dict[str, Any]:
    """Return the wording that a new study begins with, as it is stored."""
    return DEFAULT_WORDING.model_dump(mode="json")


def parse_wording(stored: Mapping[str, Any]) -> JudgmentWording:
    """Return a wording from its JSON, the default where nothing is stored.

    Raises Django's `ValidationError`, naming aspect, place and what is wrong.
    """
    if not stored:
        return DEFAULT_WORDING
    try:
        return JudgmentWording.model_validate(dict(stored))
    except SchemaError as error:
        raise ValidationError([_explain(found) for found in error.errors()]) from None


def show_aspects(wording: JudgmentWording, variety: str) -> list[ShownAspect]:
    """Return the four aspects with the variety's name put in."""
    shown = []
    for name in ASPECTS:
        aspect: AspectWording = getattr(wording, name)
        answers = [answer.replace(PLACEHOLDER, variety) for answer in aspect.answers]
        shown.append(
            ShownAspect(
                name,
                _(ASPECT_NAMES[name]),
                aspect.question.replace(PLACEHOLDER, variety),
                tuple(zip(LIKERT, answers, strict=True)),
            )
        )
    return shown


def _explain(found: Any) -> str:
    aspect, *place = [str(part) for part in found["loc"]] or [""]
    where = ASPECT_NAMES.get(aspect, aspect)
    if len(place) > 1 and place[-1].isdigit():
        where = f"{where}, answer {int(place[-1]) + 1}"
    elif place:
        where = f"{where}, {place[0]}"
    message = found["msg"].removeprefix("Value error, ")
    return f"{where}: {message}."
