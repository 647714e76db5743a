"""What a report keeps of its inputs, as it is stored and read again: plain records."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class CorpusRecord(TypedDict):
    """A corpus of pairs."""

    public_id: str
    name: str
    source_variety: str
    target_variety: str
    license: str
    access_note: str
    citation: str


class SentenceRecord(TypedDict):
    """The sentences of a corpus that a run read its words in."""

    name: str
    n_sentences: int
    per_word: int


class PromptRecord(TypedDict):
    text: str
    variety_names: dict[str, str]


class RunRecord(TypedDict):
    """A run of a measure.

    obtained : how results were that were not computed here
    label : how tables name it; prompts, n_examples : of runs on texts
    templates, sentences, question : what scores of groups rest on
    """

    number: int
    public_id: str
    measure: str
    model: str
    model_revision: str
    is_demo: bool
    parameters: dict[str, Any]
    seed: int
    stimuli_hash: str
    code_version: str
    notices: list[str]
    obtained: NotRequired[str]
    label: NotRequired[str]
    prompts: NotRequired[list[PromptRecord]]
    n_examples: NotRequired[int]
    templates: NotRequired[list[str]]
    sentences: NotRequired[SentenceRecord | None]
    question: NotRequired[str]
    scores_hash: NotRequired[str]


class StudyRecord(TypedDict):
    """The accepted ratings of a study, or of one arm of it."""

    public_id: str
    title: str
    arm: NotRequired[str]
    origin: str
    source: str
    instrument_version: int
    instrument_hash: str
    groups_per_submission: int
    finished: int
    accepted: int
    excluded: int
    ratings: int
    ratings_hash: str


class GroupRecord(TypedDict):
    slug: str
    plural: str
    domain: str


class ScaleRecord(TypedDict):
    slug: str
    low: str
    high: str
    dimension: str


class QuestionRecord(TypedDict):
    """How many people gave each answer that is shown."""

    slug: str
    label: str
    several: bool
    n_people: int | None
    shown: list[tuple[str, int]]
    has_hidden: bool
    n_hidden: int | None
    n_hidden_answers: NotRequired[int]


class ParticipantsRecord(TypedDict):
    """Who gave the ratings; left_out : label of a question → why it is not counted."""

    kind: str
    source: str
    smallest: int
    n_people: int | None
    questions: list[QuestionRecord]
    left_out: dict[str, str]


class RatedRecord(TypedDict):
    """People's ratings beside models; other_groups : slug → name of what only one side has."""

    study: StudyRecord
    groups: list[GroupRecord]
    scales: list[ScaleRecord]
    other_groups: dict[str, str]
    participants: NotRequired[ParticipantsRecord]


class AlignmentRecord(RatedRecord):
    """One run beside people."""

    run: RunRecord


class ComparisonRecord(RatedRecord):
    """Several runs beside the same people."""

    runs: list[RunRecord]
