"""Stimuli of slot measures: groups, traits and templates, as plain frozen values."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from functools import cached_property
from typing import Any, TypeVar

from probing.measures.templates import (
    GENERIC_NOUNS,
    GroupForm,
    ParsedTemplate,
    TemplateError,
    parse_template,
)


class StimuliError(ValueError):
    """Stimuli that no measure can use; the message names the value and the remedy."""


@dataclass(frozen=True)
class Group:
    """A social group in its three surface forms."""

    slug: str
    singular: str
    plural: str
    plural_capitalised: str

    def __post_init__(self) -> None:
        _require_text(self, f"group '{self.slug}'")

    def form(self, form: GroupForm) -> str:
        """Return the surface form that a template's group slot asks for."""
        return {
            "singular": self.singular,
            "plural": self.plural,
            "Plural": self.plural_capitalised,
        }[form]


@dataclass(frozen=True)
class Trait:
    """A pair of opposite adjectives; a positive pair score leans to `high`.

    The synonyms are used only where a measure is asked to score lists of adjectives.
    """

    slug: str
    low: str
    high: str
    dimension: str
    low_synonyms: tuple[str, ...] = ()
    high_synonyms: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _require_text(self, f"trait '{self.slug}'")


@dataclass(frozen=True)
class Template:
    """A sentence with one group slot and one trait slot; see :mod:`probing.measures.templates`."""

    slug: str
    text: str

    def __post_init__(self) -> None:
        _require_text(self, f"template '{self.slug}'")
        parse_template(self.text)

    @property
    def parsed(self) -> ParsedTemplate:
        """The parts of the text."""
        return parse_template(self.text)

    @property
    def generic_noun(self) -> str:
        """The noun that stands for no group in particular: person, people or People."""
        return GENERIC_NOUNS[self.parsed.form]

    def fill(self, group: Group, adjective: str) -> str:
        """Return the whole sentence, for people to read."""
        before, after = self.parsed.around_trait(group.form(self.parsed.form))
        return f"{before}{adjective}{after}"


@dataclass(frozen=True)
class Stimuli:
    """Groups, traits and templates of one run, in the order in which they are scored.

    Raises :class:`StimuliError` where one of the three is empty or a slug occurs twice.
    """

    groups: tuple[Group, ...]
    traits: tuple[Trait, ...]
    templates: tuple[Template, ...]

    def __post_init__(self) -> None:
        for kind in ("group", "trait", "template"):
            entries = tuple(getattr(self, f"{kind}s"))
            object.__setattr__(self, f"{kind}s", entries)
            if not entries:
                raise StimuliError(f"There are no {kind}s. Choose at least one.")
            slugs = Counter(entry.slug for entry in entries)
            if twice := [slug for slug, count in slugs.items() if count > 1]:
                raise StimuliError(f"The {kind} '{twice[0]}' is listed twice. Name it once.")

    @cached_property
    def _groups(self) -> dict[str, Group]:
        return {group.slug: group for group in self.groups}

    @cached_property
    def _templates(self) -> dict[str, Template]:
        return {template.slug: template for template in self.templates}

    def group(self, slug: str) -> Group:
        """Return the group `slug`; :class:`StimuliError` where there is none."""
        if slug not in self._groups:
            raise StimuliError(f"There is no group '{slug}' in these stimuli.")
        return self._groups[slug]

    def template(self, slug: str) -> Template:
        """Return the template `slug`; :class:`StimuliError` where there is none."""
        if slug not in self._templates:
            raise StimuliError(f"There is no template '{slug}' in these stimuli.")
        return self._templates[slug]

    def to_dict(self) -> dict[str, list[dict[str, Any]]]:
        """Return the stimuli as plain lists and dictionaries, fit for a JSON column."""
        return {
            kind: [_plain(entry) for entry in getattr(self, kind)]
            for kind in ("groups", "traits", "templates")
        }

    def to_json(self) -> str:
        """Return the canonical JSON: sorted keys, no spaces, so that equal stimuli are equal."""
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Stimuli:
        """Return the stimuli written by :meth:`to_dict`.

        Raises
        ------
        StimuliError
            Something is missing, superfluous or of the wrong type.
        TemplateError
            A template text cannot be used.
        """
        if not isinstance(data, Mapping) or set(data) != {"groups", "traits", "templates"}:
            raise StimuliError("Stimuli are an object with groups, traits and templates.")
        return cls(
            groups=_entries(Group, data["groups"], "groups"),
            traits=_entries(Trait, data["traits"], "traits"),
            templates=_entries(Template, data["templates"], "templates"),
        )

    @classmethod
    def from_json(cls, text: str | bytes | Mapping[str, Any]) -> Stimuli:
        """Return the stimuli written by :meth:`to_json`, or read from a JSON column already."""
        if isinstance(text, Mapping):
            return cls.from_dict(text)
        try:
            data = json.loads(text)
        except ValueError as error:
            raise StimuliError(f"The stimuli are not JSON ({error}).") from error
        return cls.from_dict(data)

    def content_hash(self) -> str:
        """Return the sha256 of the canonical JSON, 64 hexadecimal digits.

        The order of the entries counts: it decides how ties are broken and shards are cut.
        """
        return hashlib.sha256(self.to_json().encode("utf-8")).hexdigest()


E = TypeVar("E", Group, Trait, Template)


def _plain(entry: Group | Trait | Template) -> dict[str, Any]:
    """Return the entry's fields; empty lists of synonyms are left out, so old hashes stand."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(entry).items()
        if value != ()
    }


def _entries(kind: type[E], data: Any, name: str) -> tuple[E, ...]:
    if not isinstance(data, Sequence) or isinstance(data, str | bytes):
        raise StimuliError(f"{name} must be a list.")
    known = {field.name for field in fields(kind)}
    needed = {field.name for field in fields(kind) if field.default is MISSING}
    entries = []
    for number, entry in enumerate(data, start=1):
        if not isinstance(entry, Mapping) or not needed <= set(entry) <= known:
            raise StimuliError(
                f"Entry {number} of {name} must be an object with {', '.join(sorted(needed))}."
            )
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in entry.items()
        }
        entries.append(kind(**values))
    return tuple(entries)


def _require_text(entry: Group | Trait | Template, what: str) -> None:
    for field in fields(entry):
        value = getattr(entry, field.name)
        texts = value if isinstance(value, tuple) else (value,)
        if not all(isinstance(text, str) and text.strip() for text in texts):
            error = TemplateError if field.name == "text" else StimuliError
            raise error(f"The {what} has no {field.name.replace('_', ' ')}. Give it a text.")
