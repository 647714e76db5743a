"""An answer to a question of the flow in words, for its participant, researchers and exports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.instruments.step_content import (
    MatrixContent,
    NumberContent,
    Option,
    OptionsContent,
    RankingContent,
    SliderContent,
    StepContent,
)

Read = Callable[[Mapping[str, str] | None], str]


@dataclass(frozen=True)
class AnswerLine:
    """One line of an answer.

    part : the name in the data of the row or item, "" for a question with one answer
    label : its text, "" for a question with one answer
    words : what was answered, several where several answers were chosen
    value : as it is stored: a text, a number, or the names of chosen answers
    """

    part: str
    label: str
    words: list[str]
    value: str | float | list[str]
    is_chosen: bool = False


def write_number(number: float) -> str:
    """Return a number in digits, without a point where it is whole."""
    return str(int(number)) if float(number).is_integer() else str(number)


def read_answer(content: StepContent | None, value: Any, read: Read) -> list[AnswerLine]:
    """Return the lines of a stored answer in the order of its page, a ranking by its places.

    ``read`` gives a text in the reader's language. What the content does not know, such as an
    answer to another version, is told as it was stored.
    """
    match content, value:
        case MatrixContent(rows=rows, points=points), dict():
            return list(_read_rows(rows, points, value, read))
        case RankingContent(items=items), dict():
            return list(_read_places(items, value, read))
        case ((SliderContent(unit=unit) | NumberContent(unit=unit)), int() | float()):
            told = f"{write_number(value)} {read(unit)}".strip()
            return [AnswerLine("", "", [told], value)]
        case OptionsContent(options=options), str() | list():
            chosen = value if isinstance(value, list) else [value]
            texts = {option.value: read(option.text) for option in options}
            words = [texts.get(name, str(name)) for name in chosen]
            return [AnswerLine("", "", words, value, is_chosen=all(n in texts for n in chosen))]
    return [AnswerLine("", "", [str(value)], str(value))]


def _read_rows(
    rows: list[Option], points: list[Option], value: Mapping[str, Any], read: Read
) -> Iterator[AnswerLine]:
    texts = {point.value: read(point.text) for point in points}
    for row in rows:
        if row.value in value:
            point = str(value[row.value])
            words = [texts.get(point, point)]
            yield AnswerLine(row.value, read(row.text), words, point, is_chosen=point in texts)


def _read_places(items: list[Option], value: Mapping[str, Any], read: Read) -> Iterator[AnswerLine]:
    for item in sorted(items, key=lambda item: value.get(item.value, len(items) + 1)):
        if item.value in value:
            place = value[item.value]
            yield AnswerLine(item.value, read(item.text), [write_number(place)], place)
