"""The errors that judges mark in a counterpart: a small scheme of categories.

Deas et al. (2023) §6 and Table 4 tell two kinds of error apart by inspection: what a model
neutralises, and what it misreads. The third, what it invents, is ours. Researchers edit the scheme
until the study is launched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.utils.text import slugify
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, StringConstraints, TypeAdapter
from pydantic import ValidationError as SchemaError

LONGEST_NAME, LONGEST_MEANING, MOST_CATEGORIES = 40, 200, 6


class ErrorCategory(BaseModel):
    """A category: ``slug`` joins data, judges read the name and what it means."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    slug: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
    name: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
    meaning: Annotated[str, StringConstraints(max_length=LONGEST_MEANING)] = ""


Scheme = tuple[ErrorCategory, ...]
_ADAPTER: TypeAdapter[Scheme] = TypeAdapter(Scheme)

DEFAULT_SCHEME: Scheme = (
    ErrorCategory(
        slug="neutralised",
        name="Neutralised",
        meaning="Says it more weakly, politely or blandly than the original does.",
    ),
    ErrorCategory(
        slug="misread",
        name="Misread",
        meaning="Takes a word or construction of the original for something that it does not mean.",
    ),
    ErrorCategory(
        slug="invented", name="Invented", meaning="Adds something that the original does not say."
    ),
)


def parse_scheme(stored: Sequence[Any]) -> Scheme:
    """Return the scheme of a design from its JSON, () where judges mark no errors.

    Raises Django's `ValidationError` for what is no scheme.
    """
    try:
        scheme = _ADAPTER.validate_python(tuple(stored))
    except SchemaError as error:
        raise ValidationError(
            [f"{' '.join(map(str, found['loc']))}: {found['msg']}." for found in error.errors()]
        ) from None
    _check(scheme)
    return scheme


def _check(scheme: Scheme) -> None:
    if len(scheme) > MOST_CATEGORIES:
        raise ValidationError(_("Enter at most %(most)d categories.") % {"most": MOST_CATEGORIES})
    times = Counter(category.slug for category in scheme)
    names = {category.slug: category.name for category in reversed(scheme)}
    twice = [
        _("“%(name)s” stands there twice: give every category a name of its own.") % {"name": name}
        for slug, name in names.items()
        if times[slug] > 1
    ]
    if twice:
        raise ValidationError(twice)


def store_scheme(scheme: Scheme) -> list[dict[str, str]]:
    """Return a scheme as designs and reports keep it."""
    return [category.model_dump() for category in scheme]


def write_scheme(scheme: Scheme) -> str:
    """Return a scheme as the form shows it: one category on each line, “name: meaning”."""
    return "\n".join(
        f"{category.name}: {category.meaning}" if category.meaning else category.name
        for category in scheme
    )


def read_scheme(text: str) -> Scheme:
    """Return the scheme that lines of “name: meaning” describe.

    Raises `ValidationError` with every line that cannot be one, and for none or too many.
    """
    problems, found = [], []
    for number, line in enumerate(filter(str.strip, text.splitlines()), start=1):
        name, _colon, meaning = (part.strip() for part in line.partition(":"))
        slug = slugify(name, allow_unicode=True)
        if not slug or len(name) > LONGEST_NAME:
            problems.append(
                _("Line %(n)d: begin with a name of up to %(most)d characters, then a colon.")
                % {"n": number, "most": LONGEST_NAME}
            )
        elif len(meaning) > LONGEST_MEANING:
            problems.append(
                _("Line %(n)d: explain the category in up to %(most)d characters.")
                % {"n": number, "most": LONGEST_MEANING}
            )
        else:
            found.append(ErrorCategory(slug=slug, name=name, meaning=meaning))
    if problems:
        raise ValidationError(problems)
    if not found:
        raise ValidationError(_("Enter at least one category, one per line."))
    _check(tuple(found))
    return tuple(found)
