"""Labeled templates, lexicons, labeled texts, and pairs of texts: what classifiers are asked about.

Filled sentences, as in the released samples (label, attribute, group, text; no heading), are turned
back into templates with the words of a lexicon. Pairs have the same content in several varieties:
each becomes a template that is one placeholder, and each group a lexicon's group with one filler,
so that all that compares mentions compares these as well.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied, ValidationError
from django.urls import reverse

from annotation.common.table_file import TableFileError
from annotation.common.text_shortening import shorten
from annotation.imports.import_kind import (
    FurtherColumns,
    ImportColumn,
    Imported,
    ImportKind,
    ImportOption,
    ImportPlan,
    ImportRequest,
    ImportRow,
    ReadRows,
)
from probing.library.labeled_files import group_slug, set_entries, stored_groups, unfill
from probing.measures.label_map import LabelMap, LabelMapError, read_label_map
from probing.measures.labeled_texts import SPLIT_NAMES, LabeledText
from probing.measures.probe_stimuli import ROLES, SENTIMENT, ProbeGroup, ProbeTemplate
from probing.measures.probe_templates import ANY, ProbeTemplateError, placeholders
from probing.models import GroupLexicon, LabeledTemplateSet, LabeledTextSet
from probing.models.labeled_templates import LibraryFile

LONGEST_TEXT, LONGEST_SENTENCE, LONGEST_NAME = 1000, 10_000, 200
MOST_SENTENCES = 100_000
LABEL = ImportColumn("label", "the true label", needed=True, other_names=("sent", "y_true"))
LABELS = ImportOption(
    "labels",
    "Labels",
    "Which label stands for which class: ternary (0, 1, 2), sst5, semeval, or a map such as "
    "“bad=negative, so-so=neutral, good=positive”; without any, ternary.",
)
FACTS = (
    ImportOption("slug", "Slug", "The entry’s name in commands.", needed=True),
    ImportOption("title", "Title", "As pages call it; without one, the slug."),
    ImportOption("license", "License", "For example MIT; needed for a new entry."),
    ImportOption("citation", "Citation", "Who made it, and where it is from.", is_long=True),
    ImportOption(
        "replace",
        "Replace the rows of this entry",
        "Puts the file’s rows in place of those of the entry with this slug, which is refused "
        "otherwise. Runs keep the rows that they were made of.",
        is_flag=True,
    ),
)


class LibraryFileImport(ImportKind):
    """A file that becomes an entry of the library of stimuli, or replaces the rows of one."""

    model: ClassVar[type[LibraryFile]]
    #: What the entry holds, in the plural.
    noun: ClassVar[str]
    options: ClassVar[tuple[ImportOption, ...]] = FACTS

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.permission = f"probing.add_{cls.model._meta.model_name}"

    @abstractmethod
    def read(self, request: ImportRequest, read: ReadRows) -> dict[type[LibraryFile], list[Any]]:
        """Return good rows as entries of each model; what is wrong with a row is left with it."""

    def plan(self, request: ImportRequest) -> ImportPlan:
        read = self.rows(request)
        found = self.read(request, read)
        problems = read.told_problems
        entries = [self._build(request, model, rows) for model, rows in found.items()]
        for entry in entries if all(found.values()) else ():
            entry.full_clean()
        counts = {self.noun: len(found[self.model])}
        if self.model is not GroupLexicon and GroupLexicon in found:
            counts["groups"] = len(found[GroupLexicon])
        return ImportPlan(counts, problems, read.warnings, entries)

    def store(self, request: ImportRequest, plan: ImportPlan) -> Imported:
        entries: list[LibraryFile] = plan.data
        for entry in entries:
            entry._history_user = request.user  # type: ignore[attr-defined] # simple_history
            entry.save()
        first = entries[0]
        address = reverse(f"admin:probing_{first._meta.model_name}_change", args=[first.pk])
        return Imported(f"“{first.slug}”", first.slug, address)

    def _build(
        self, request: ImportRequest, model: type[LibraryFile], rows: list[Any]
    ) -> LibraryFile:
        """Return an unsaved entry. Raises `PermissionDenied` and, by option, `ValidationError`."""
        slug, replaces = request.option("slug"), request.flag("replace")
        verb = "change" if replaces else "add"
        needed = f"probing.{verb}_{model._meta.model_name}"
        if request.user is not None and not request.user.has_perm(needed):  # type: ignore[attr-defined]
            raise PermissionDenied(f"You may not {verb} {model._meta.verbose_name_plural}.")
        entry = (model._default_manager.filter(slug=slug).first() if replaces else None) or model(
            slug=slug, title=slug
        )
        for name in ("title", "license", "citation"):
            setattr(entry, name, request.option(name) or getattr(entry, name))
        set_entries(entry, rows)
        return entry


@dataclass
class Labels:
    """Reads the label of each row by a map."""

    map: LabelMap

    @classmethod
    def of(cls, request: ImportRequest) -> Labels:
        try:
            return cls(read_label_map(request.option("labels") or "ternary", SENTIMENT))
        except LabelMapError as error:
            raise ValidationError({"labels": str(error)}) from error

    def read(self, row: ImportRow) -> int:
        """Return the class of a row's label; what is wrong with it is left with the row."""
        try:
            (label,) = self.map.collapse([row.text("label")])
        except LabelMapError as error:
            row.fault(str(error))
            return 0
        return label


def _text(row: ImportRow, name: str = "text", *, longest: int = LONGEST_TEXT) -> str:
    return " ".join(row.text(name, longest=longest, needed=True).split())


class LabeledTexts(LibraryFileImport):
    """Texts with a true label: demonstrations, and what classifiers are trained on."""

    name = "labeled-texts"
    title = "Labeled texts"
    purpose = (
        "A row for each text with its label, for demonstrations and to train classifiers on; for "
        "training, splits that are not there are drawn by each run."
    )
    model = LabeledTextSet
    noun = "texts"
    columns = (
        ImportColumn("text", "the text", needed=True, other_names=("sentence", "template")),
        LABEL,
        ImportColumn("split", "train, validation or test"),
    )
    options = (*FACTS, LABELS)

    def read(self, request: ImportRequest, read: ReadRows) -> dict[type[LibraryFile], list[Any]]:
        labels = Labels.of(request)
        if len(read.rows) > MOST_SENTENCES:
            raise TableFileError(
                f"The file holds {len(read.rows):,} rows, expected {MOST_SENTENCES:,} at most."
            )
        found: dict[str, tuple[int, LabeledText]] = {}
        for row in read.rows:
            text, label = _text(row, longest=LONGEST_SENTENCE), labels.read(row)
            split = row.text("split").casefold()
            if "split" in row.values and split not in SPLIT_NAMES:
                row.refuse("split", split, "train, validation or test")
            if row.faults:
                continue
            new = LabeledText(text, label, SPLIT_NAMES[split] if split else "")
            line, known = found.setdefault(text, (row.line, new))
            if known.label != label:
                row.fault(f"The text has another label than on line {line}.")
            elif known.split != new.split:
                row.fault(f"The text stands on line {line} in the split {known.split}.")
            elif line != row.line:
                row.fault(f"The text stands on line {line} already.")
        return {LabeledTextSet: [text for _, text in found.values()]}


class LabeledTemplates(LibraryFileImport):
    """Sentences with a true label and a placeholder for the mention of a group."""

    name = "labeled-templates"
    title = "Labeled templates"
    purpose = (
        "A row for each sentence with a placeholder such as {identity_adj} and its label; or "
        "filled sentences with the group that each mentions, and the lexicon of their words."
    )
    model = LabeledTemplateSet
    noun = "templates"
    columns = (
        ImportColumn("text", "the sentence", needed=True, other_names=("template",)),
        LABEL,
        ImportColumn("group", "slug of the group that a filled sentence mentions"),
    )
    without_heading = ("label", "attribute", "group", "text")
    options = (
        *FACTS,
        LABELS,
        ImportOption(
            "words",
            "Words in the file",
            "For filled sentences: the lexicon whose words are taken out of them.",
            choices=lambda user: list(GroupLexicon.objects.values_list("slug", "title")),
        ),
    )

    def read(self, request: ImportRequest, read: ReadRows) -> dict[type[LibraryFile], list[Any]]:
        labels, lexicon = Labels.of(request), _find_lexicon(request.option("words"))
        texts = [_text(row) for row in read.rows]
        groups = [row.text("group") for row in read.rows]
        unfilled = unfill(list(zip(groups, texts, strict=True)), lexicon)
        found: dict[str, tuple[int, int]] = {}
        for row, text, group, behind in zip(read.rows, texts, groups, unfilled, strict=True):
            label = labels.read(row)
            if lexicon and behind is None and not row.faults:
                row.fault(
                    f"“{shorten(text)}” holds no word of the group “{group}” in the lexicon with "
                    f"{', '.join(one.slug for one in lexicon)}."
                )
            template = behind[0] if lexicon and behind else text
            try:
                placeholders(template)
            except ProbeTemplateError as error:
                row.fault(str(error))
            if row.faults:
                continue
            line, known = found.setdefault(template, (row.line, label))
            if known != label:
                row.fault(f"The template has another label than on line {line}.")
            elif line != row.line and not lexicon:
                row.fault(f"The template stands on line {line} already.")
        width = len(str(len(found)))
        return {
            LabeledTemplateSet: [
                ProbeTemplate(f"{number:0{width}d}", text, label)
                for number, (text, (_, label)) in enumerate(found.items(), start=1)
            ]
        }


class Lexicon(LibraryFileImport):
    """Groups with the words that mention them."""

    name = "lexicon"
    title = "Lexicon of groups"
    purpose = (
        f"A row for each word of a group, and a column named like each placeholder, such as "
        f"identity_adj; “{ANY}” fills any."
    )
    model = GroupLexicon
    noun = "groups"
    columns = (
        ImportColumn("group", "the group", needed=True),
        ImportColumn("name", "as tables call it"),
        ImportColumn("role", "group, placebo or unmarked; empty: group"),
    )

    def further(self) -> FurtherColumns:
        return FurtherColumns(str.strip)

    def read(self, request: ImportRequest, read: ReadRows) -> dict[type[LibraryFile], list[Any]]:
        own = {column.name for column in self.columns}
        slots = [name for name in read.held if name not in own]
        if not slots:
            raise TableFileError(
                "There is no column for a placeholder. Add one named like it, such as "
                f"identity_adj, or “{ANY}” for any."
            )
        found: dict[str, ProbeGroup] = {}
        for row in read.rows:
            called, role = row.text("group"), row.text("role").lower() or "group"
            slug, name = group_slug(called), row.text("name") or called
            filler = {slot.casefold(): " ".join(row.text(slot).split()) for slot in slots}
            if not slug:
                row.refuse("group", called, "the name of a group")
            if role not in ROLES:
                row.refuse("role", role, f"one of: {', '.join(ROLES)}")
                continue
            if role != "unmarked" and not all(filler.values()):
                row.fault(
                    "A placeholder has no word. Only groups of the role unmarked have empty cells."
                )
            new = ProbeGroup(slug, name, (), role)
            group = found.get(slug, new)
            if group.role != role:
                row.fault(f"The group has the role “{role}”, but was “{group.role}” before.")
            elif filler in group.fillers:
                row.fault("The word stands in the file already.")
            if not row.faults:
                found[slug] = replace(group, fillers=(*group.fillers, filler))
        return {GroupLexicon: list(found.values())}


class TextPairs(LibraryFileImport):
    """Sentences that signal a group without naming it: the same content in several varieties."""

    name = "text-pairs"
    title = "Pairs of texts"
    purpose = (
        "A row for each text of a pair: texts that signal a group without naming it, such as names "
        "or two varieties. They become templates and a lexicon of one name."
    )
    model = LabeledTemplateSet
    noun = "pairs"
    columns = (
        ImportColumn("pair", "which texts belong together", needed=True),
        ImportColumn("group", "the variety, or who would say it", needed=True),
        ImportColumn("text", "the text", needed=True),
        LABEL,
    )
    options = (*FACTS, LABELS)

    def read(self, request: ImportRequest, read: ReadRows) -> dict[type[LibraryFile], list[Any]]:
        labels = Labels.of(request)
        texts: dict[str, dict[str, str]] = {}
        found: dict[str, int] = {}
        called: dict[str, str] = {}
        for row in read.rows:
            pair = " ".join(row.text("pair", longest=LONGEST_NAME, needed=True).split())
            group, text, label = row.text("group", needed=True), _text(row), labels.read(row)
            slug = group_slug(group)
            if group and not slug:
                row.refuse("group", group, "a name with letters or digits")
            if slug in texts.get(pair, {}):
                row.fault(f"The pair “{shorten(pair)}” has a text of “{group}” already.")
            if not row.faults and found.setdefault(pair, label) != label:
                row.fault(f"The pair “{shorten(pair)}” has two labels. Give it one.")
            if not row.faults:
                texts.setdefault(pair, {})[slug] = text
                called[slug] = group
        _check_pairs(read, texts, called)
        places = {pair: f"pair_{number:04d}" for number, pair in enumerate(texts, start=1)}
        return {
            LabeledTemplateSet: [
                ProbeTemplate(place.removeprefix("pair_"), f"{{{place}}}", found[pair])
                for pair, place in places.items()
            ],
            GroupLexicon: [
                # The first entry is what tables call the filler.
                ProbeGroup(
                    slug,
                    name,
                    ({ANY: name, **{p: texts[pair].get(slug, "") for pair, p in places.items()}},),
                )
                for slug, name in called.items()
            ],
        }


def _check_pairs(read: ReadRows, texts: dict[str, dict[str, str]], called: dict[str, str]) -> None:
    """Refuse pairs that cannot be compared."""
    for pair, own in texts.items():
        if missing := [name for slug, name in called.items() if slug not in own]:
            read.refuse(
                f"The pair “{shorten(pair)}” has no text of {', '.join(missing)}. Give every pair "
                "a text of each group."
            )
    if len(called) < 2:
        read.refuse("The file has one group, and a gap compares at least two.")


def _find_lexicon(slug: str) -> list[ProbeGroup]:
    if not slug:
        return []
    entry = GroupLexicon.objects.filter(slug=slug).first()
    if entry is None:
        raise ValidationError({"words": f"There is no lexicon of groups “{slug}”."})
    return list(stored_groups(entry))
