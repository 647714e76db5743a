"""An instrument as one document: what the designer edits and what a file of an instrument holds.

Everything that a participant can see or that decides a check stands in it; joined by slugs, free
of primary keys, so that it can be carried to another study or installation.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from django.core.exceptions import ValidationError as DjangoValidationError
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from annotation.instruments import flow
from annotation.instruments.arms import read_arms
from annotation.instruments.files import MOST_FILES
from annotation.instruments.flow import MOST_STEPS, explain
from annotation.instruments.versions import SETTINGS
from annotation.models import SURVEY_KINDS, Dimension, Instrument, QuestionKind, Skipping
from annotation.steps.texts import check_language, check_storable

SCHEMA = "stereoscope-instrument/1"
MOST_JSON_CHARACTERS = 400_000
MOST_TEXT = 20_000
MOST_ENTRIES = 2_000
EXPLANATIONS = flow.EXPLANATIONS | {
    "string_too_short": "It is empty.",
    "string_too_long": "It is too long, expected at most {max_length} characters.",
    "string_pattern_mismatch": "It is “{value}”, expected letters, digits and hyphens.",
}


def _check_flow(flow: list[Any]) -> list[Any]:
    try:
        written = json.dumps(flow, ensure_ascii=False)
    except RecursionError:
        raise ValueError("The steps are nested too deeply.") from None
    if len(written) > MOST_JSON_CHARACTERS:
        raise ValueError(
            f"The steps have {len(written)} characters, expected at most {MOST_JSON_CHARACTERS}."
        )
    if "\\u0000" in written:
        raise ValueError("It holds a character that cannot be stored.")
    check_storable(written)
    return flow


def _check_arms(arms: list[Any]) -> list[Any]:
    read_arms(arms)
    check_storable(json.dumps(arms, ensure_ascii=False))
    return arms


def _check_base64(content: str) -> str:
    try:
        base64.b64decode(content, validate=True)
    except ValueError:
        raise ValueError("It is no content in base64.") from None
    return content


def _one_of(values: list[str]) -> AfterValidator:
    def check(value: str) -> str:
        if value not in values:
            raise ValueError(f"It is “{value[:60]}”, expected one of: {', '.join(values)}.")
        return value

    return AfterValidator(check)


STORABLE = AfterValidator(check_storable)
SLUG = r"^[-a-zA-Z0-9_]+$"
Language = Annotated[str, AfterValidator(check_language)]
Slug = Annotated[str, StringConstraints(pattern=SLUG, max_length=100)]
ScaleSlug = Annotated[str, StringConstraints(pattern=SLUG, max_length=80)]
QuestionSlug = Annotated[str, StringConstraints(pattern=SLUG, max_length=40)]
Form = Annotated[str, StringConstraints(min_length=1, max_length=120), STORABLE]
Pole = Annotated[str, StringConstraints(min_length=1, max_length=60), STORABLE]
Short = Annotated[str, StringConstraints(max_length=100), STORABLE]
Label = Annotated[str, StringConstraints(max_length=200), STORABLE]
Help = Annotated[str, StringConstraints(max_length=300), STORABLE]
Key = Annotated[str, StringConstraints(min_length=1, max_length=180), STORABLE]
Paragraphs = Annotated[str, StringConstraints(max_length=MOST_TEXT), STORABLE]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Limit = Annotated[int, Field(ge=-(2**31), lt=2**31)]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class GroupEntry(Part):
    """What is rated: a group of the library, or a text of a corpus where ``body`` is not empty."""

    slug: Slug
    singular: Form
    plural: Form
    plural_capitalised: Form
    domains: list[Short] = []
    item: Short = ""
    variety: Short = ""
    body: Paragraphs = ""


class ScaleEntry(Part):
    slug: ScaleSlug
    low: Pole
    high: Pole
    dimension: Annotated[str, _one_of(Dimension.values)]


class QuestionEntry(Part):
    slug: QuestionSlug
    kind: Annotated[str, _one_of(QuestionKind.values)]
    label: Label
    help_text: Help = ""
    options: Annotated[list[Help], Field(max_length=300)] = []
    minimum: Limit | None = None
    maximum: Limit | None = None


class FileEntry(Part):
    """A picture or sound; ``content`` in base64, ``digest`` the SHA-256 of what it stands for."""

    digest: Digest
    name: Annotated[str, StringConstraints(min_length=1, max_length=200), STORABLE]
    content: Annotated[str, AfterValidator(_check_base64)]

    @property
    def decoded(self) -> bytes:
        return base64.b64decode(self.content)


class Logo(Part):
    file: Digest
    alt: Annotated[str, StringConstraints(min_length=1, max_length=200), STORABLE]


class InstrumentDocument(Part):
    """The parts of an instrument; ``texts`` are by language and key.

    Arms, logo and files stand in a file alone: the designer leaves them as they are.
    """

    #: What the designer may send by itself.
    EDITABLE: ClassVar = ("settings", "flow", "groups", "scales", "questions", "texts")

    kind: Annotated[str, _one_of([str(kind) for kind in SURVEY_KINDS])]
    language: Language
    settings: dict[str, Any]
    flow: Annotated[list[Any], Field(max_length=MOST_STEPS), AfterValidator(_check_flow)]
    groups: Annotated[list[GroupEntry], Field(max_length=MOST_ENTRIES)]
    scales: Annotated[list[ScaleEntry], Field(max_length=MOST_ENTRIES)]
    questions: Annotated[list[QuestionEntry], Field(max_length=200)]
    texts: dict[Language, dict[Key, Paragraphs]]
    translated_from: dict[Language, dict[str, list[str]]] = {}
    arms: Annotated[list[Any], AfterValidator(_check_arms)] = []
    logo: Logo | None = None
    files: Annotated[list[FileEntry], Field(max_length=MOST_FILES)] = []


class DocumentError(ValueError):
    """A document that cannot be stored; ``problems`` are sentences by path, such as “groups 2”."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = dict(problems)


def write_document(instrument: Instrument) -> dict[str, Any]:
    """Return an instrument as its document, as plain values. Five queries."""
    texts: dict[str, dict[str, str]] = {instrument.language: {}}
    for row in instrument.wordings.all():
        texts.setdefault(row.language, {})[row.key] = row.text
    return {
        "kind": str(instrument.study.kind),
        "language": instrument.language,
        "settings": {name: getattr(instrument, name) for name in SETTINGS},
        "flow": instrument.flow,
        "groups": _rows(instrument.groups, GroupEntry),
        "scales": _rows(instrument.scales, ScaleEntry),
        "questions": _rows(instrument.questions, QuestionEntry),
        "texts": texts,
        "translated_from": instrument.translated_from,
    }


def _rows(manager: Any, entry: type[BaseModel]) -> list[dict[str, Any]]:
    return list(manager.values(*entry.model_fields))


def hash_document(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a document as canonical JSON."""
    written = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()


def read_document(data: Mapping[str, Any]) -> InstrumentDocument:
    """Return the document that ``data`` holds. Raises `DocumentError` with all that is wrong.

    Whether a survey can be made of it is another question: a draft may be incomplete.
    """
    try:
        document = InstrumentDocument.model_validate(data)
        # Files from before the setting do not say it.
        document.settings.setdefault("skipping", Skipping.NEVER.value)
    except ValidationError as error:
        raise DocumentError(dict(explain(error, EXPLANATIONS))) from None
    problems: dict[str, str] = {}
    for name in ("groups", "scales", "questions"):
        seen: set[str] = set()
        for place, entry in enumerate(getattr(document, name), start=1):
            if entry.slug in seen:
                problems[f"{name} {place} slug"] = f"“{entry.slug}” stands there twice."
            seen.add(entry.slug)
    if document.language not in document.texts:
        problems["texts"] = f"There are no texts in “{document.language}”, its own language."
    problems |= _find_setting_problems(document.settings) | _find_file_problems(document)
    if problems:
        raise DocumentError(problems)
    return document


def _find_file_problems(document: InstrumentDocument) -> dict[str, str]:
    problems = {
        f"files {place}": f"“{file.name}” was changed: its SHA-256 is another one."
        for place, file in enumerate(document.files, start=1)
        if hashlib.sha256(file.decoded).hexdigest() != file.digest
    }
    brought = {file.digest for file in document.files}
    if document.logo is not None and document.logo.file not in brought:
        problems["logo"] = "The picture of the logo is not among the files."
    return problems


def _find_setting_problems(settings: Mapping[str, Any]) -> dict[str, str]:
    if missing := [name for name in SETTINGS if name not in settings]:
        return {f"settings {name}": "It is missing." for name in missing}
    if unknown := sorted(set(settings) - set(SETTINGS)):
        return {f"settings {name[:60]}": "It is not known here." for name in unknown}
    others = [field.name for field in Instrument._meta.fields if field.name not in SETTINGS]
    try:
        Instrument(**settings).clean_fields(exclude=others)
    except DjangoValidationError as error:
        return {f"settings {name}": " ".join(said) for name, said in error.message_dict.items()}
    return {}
