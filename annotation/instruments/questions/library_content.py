"""What the library keeps of a question: its texts in all languages, without its study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from annotation.instruments.flow import FRAME
from annotation.instruments.text_keys import name_option, name_question
from annotation.models import ABOUT_PARTICIPANT, QuestionKind
from annotation.steps.kind import KINDS
from annotation.steps.question import Slug
from annotation.steps.texts import Texts, text_in

#: Of the fields that say what a step asks, the first that it has is shown in lists.
LEADS = ("question", "title")


class ParticipantQuestion(BaseModel):
    """A question about the participant; the fields of `DemographicQuestion`, by language."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Slug
    kind: Annotated[str, Field(pattern=f"^({'|'.join(QuestionKind.values)})$")]
    label: Texts
    help: Texts | None = None
    options: list[Texts] = []
    minimum: int | None = None
    maximum: int | None = None


class LibraryContentError(ValueError):
    """A question that is not complete, or that the library cannot keep."""


def check_content(kind: str, content: Mapping[str, Any]) -> None:
    """Raise `LibraryContentError` unless ``content`` is a complete question of its kind."""
    try:
        if kind == ABOUT_PARTICIPANT:
            ParticipantQuestion.model_validate(content)
            return
        model = KINDS.get(kind)
        if model is None or not model.model_fields:
            raise LibraryContentError("Only steps with texts of their own go into the library.")
        model.model_validate({name: part for name, part in content.items() if name not in FRAME})
    except ValidationError as error:
        first = error.errors()[0]
        place = " ".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        raise LibraryContentError(f"{place}: {said}".removeprefix(": ")) from None


def take_step(item: Any) -> dict[str, Any]:
    """Return a step of a flow as the library keeps it: without its condition, about other steps.

    Raises `LibraryContentError` for a step that is not complete.
    """
    data = dict(item) if isinstance(item, dict) else {"kind": str(item)}
    data.pop("show_if", None)
    check_content(str(data.get("kind", "")), data)
    return data


def find_lead(kind: str, content: Mapping[str, Any], language: str) -> str:
    """Return what a question says first."""
    return text_in(_first_text(kind, content), language)


def find_languages(kind: str, content: Mapping[str, Any]) -> list[str]:
    """Return the languages that what it says first is written in."""
    return [code for code, text in _first_text(kind, content).items() if text.strip()]


def _first_text(kind: str, content: Mapping[str, Any]) -> dict[str, str]:
    names = ("label",) if kind == ABOUT_PARTICIPANT else LEADS
    return next((content[name] for name in names if content.get(name)), {})


def fit_texts(content: Any, languages: Sequence[str], *, fallback: str) -> Any:
    """Return ``content`` with its texts in the languages of a study, the main one first.

    A text that is missing in the main language stands there in the question's own, to be
    translated; in the others it is missing.
    """

    def fit(texts: Mapping[str, str]) -> dict[str, str]:
        found = {code: _exactly(texts, code) for code in languages}
        main = languages[0]
        found[main] = found[main] or text_in(texts, main, fallback=fallback)
        return {code: text for code, text in found.items() if text}

    return map_texts(content, fit)


def map_texts(value: Any, change: Callable[[Mapping[str, str]], Any]) -> Any:
    """Return a copy of a content's plain value with every text by language changed."""
    if isinstance(value, list):
        return [map_texts(item, change) for item in value]
    if not isinstance(value, dict):
        return value
    if all(isinstance(part, str) for part in value.values()):
        return change(value)
    return {name: map_texts(part, change) for name, part in value.items()}


def _exactly(texts: Mapping[str, str], code: str) -> str:
    """Return the text in a language, or in the same one without its region."""
    return (texts.get(code) or texts.get(code.partition("-")[0]) or "").strip()


def fill_question(
    content: Mapping[str, Any], *, slug: str, languages: Sequence[str], fallback: str
) -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
    """Return a question about the participant as a study's document holds it.

    The second value are its translations by language and key.
    """
    main, *others = languages
    fitted = fit_texts(dict(content), languages, fallback=fallback)
    label, help_text = fitted["label"], fitted.get("help") or {}
    options = fitted.get("options") or []
    entry = {
        "slug": slug,
        "kind": content["kind"],
        "label": label[main],
        "help_text": help_text.get(main, ""),
        "options": [option[main] for option in options],
        "minimum": content.get("minimum"),
        "maximum": content.get("maximum"),
    }
    texts = {}
    for code in others:
        rows = {
            name_question(slug, "label"): label.get(code, ""),
            name_question(slug, "help"): help_text.get(code, ""),
            **{name_option(slug, option[main]): option.get(code, "") for option in options},
        }
        if written := {key: text for key, text in rows.items() if text}:
            texts[code] = written
    return entry, texts


def take_question(
    entry: Mapping[str, Any], texts: Mapping[str, Mapping[str, str]], language: str
) -> dict[str, Any]:
    """Return a question of a document as the library keeps it, with its translations.

    Raises `LibraryContentError` for a question without words or answers.
    """
    slug = entry["slug"]

    def gather(text: str, key: str) -> dict[str, str]:
        others = {code: rows.get(key, "") for code, rows in texts.items() if code != language}
        return {language: text, **{code: found for code, found in others.items() if found.strip()}}

    content = {
        "name": slug,
        "kind": entry["kind"],
        "label": gather(entry["label"], name_question(slug, "label")),
        "help": gather(entry["help_text"], name_question(slug, "help"))
        if entry["help_text"]
        else None,
        "options": [gather(text, name_option(slug, text)) for text in entry["options"]],
        "minimum": entry["minimum"],
        "maximum": entry["maximum"],
    }
    check_content(ABOUT_PARTICIPANT, content)
    return content


def find_media(content: Mapping[str, Any]) -> str:
    """Return the digest of the picture or sound of a step, "" for none."""
    return str((content.get("media") or {}).get("file", ""))


def list_words(content: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return all texts of a question by language, in their order."""
    found: dict[str, list[str]] = {}

    def note(texts: Mapping[str, str]) -> Mapping[str, str]:
        for code, text in texts.items():
            if text.strip():
                found.setdefault(code, []).append(text)
        return texts

    map_texts(dict(content), note)
    return found
