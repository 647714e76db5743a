"""Norms of published studies: named attributes, favorability, occupational prestige."""

from __future__ import annotations

from pathlib import PurePath

from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils.text import slugify

from annotation.common.table_file import TableFileError
from annotation.imports.import_kind import (
    ImportColumn,
    Imported,
    ImportKind,
    ImportPlan,
    ImportRequest,
    ImportRow,
)
from evaluation.models import Norm, NormKind

LONGEST_LABEL, LONGEST_TITLE, LONGEST_NOTE = 200, 160, 1000
LATEST_YEAR = 2**15 - 1


# What released files write.
OTHER_SPELLINGS = {NormKind.FAVORABILITY: ("favourability",)}


class Norms(ImportKind):
    """One or several studies, which are those of the norms' slugs."""

    name = "norms"
    title = "Norms"
    purpose = (
        "Values that people gave in published studies, a row for each: an attribute with the "
        "percentage of people who named it or with its favorability, or an occupation with its "
        "prestige. Norms of the same name are replaced, and their history is kept."
    )
    permission = "evaluation.add_norm"
    columns = (
        ImportColumn(
            "label",
            "the attribute or occupation",
            needed=True,
            other_names=("adjective", "attribute", "title", "occupation"),
        ),
        ImportColumn("source", "citation of the study", needed=True, other_names=("citation",)),
        *(ImportColumn(kind.value, f"{kind.label}; a file holds one of the three",
                       other_names=OTHER_SPELLINGS.get(kind, ())) for kind in NormKind),
        ImportColumn("study_key", "which study, if the file holds several"),
        ImportColumn("year", "of the study, such as 1933"),
        ImportColumn("note", "what a reader of the values should know"),
    )  # fmt: skip

    def plan(self, request: ImportRequest) -> ImportPlan:
        read = self.rows(request)
        values = [kind for kind in NormKind if kind.value in read.held]
        if len(values) != 1:
            raise TableFileError(
                "The file does not say which norm it holds. Head the column of its values with one "
                f"of: {', '.join(NormKind.values)}; or name it: percent=ITS NAME."
            )
        norms: dict[str, Norm] = {}
        notes: dict[str, dict[str, None]] = {}
        for row in read.rows:
            if slug := _take(norms, row, values[0], slugify(PurePath(request.file_name).stem)):
                notes.setdefault(slug, {})[row.text("note")] = None
        for norm in norms.values():
            norm.note = "; ".join(filter(None, notes[norm.slug]))[:LONGEST_NOTE]
            try:
                norm.full_clean(validate_unique=False)
            except ValidationError as error:
                raise TableFileError(f"“{norm.slug}”: {' '.join(error.messages)}") from error
        known = {norm.slug: norm for norm in Norm.objects.filter(slug__in=norms)}
        same = [slug for slug in known if _is_same(norms[slug], known[slug])]
        told = [
            f"“{slug}” is here already, "
            + ("with the same values." if slug in same else "and is replaced; its history is kept.")
            for slug in norms
            if slug in known
        ]
        return ImportPlan(
            counts={
                "norms": len(norms),
                "values": sum(len(norm.values) for norm in norms.values()),
            },
            problems=read.told_problems,
            warnings=(*read.warnings, *told),
            data=(norms, [norm for slug, norm in norms.items() if slug not in same]),
        )

    def store(self, request: ImportRequest, plan: ImportPlan) -> Imported:
        norms, changed = plan.data
        known = {norm.slug: norm for norm in Norm.objects.filter(slug__in=norms)}
        for norm in changed:
            if norm.slug in known:
                norm.pk, norm.created_at = known[norm.slug].pk, known[norm.slug].created_at
                norm._state.adding = False
            norm._history_user = request.user
            norm.save()
        return Imported(
            f"Norms {', '.join(norms)}",
            next(iter(norms)),
            reverse("admin:evaluation_norm_changelist"),
        )


def _is_same(norm: Norm, other: Norm) -> bool:
    names = ("title", "kind", "year", "citation", "note", "values")
    return all(getattr(norm, name) == getattr(other, name) for name in names)


def _take(norms: dict[str, Norm], row: ImportRow, kind: NormKind, file_slug: str) -> str:
    """Add a row to its norm and return its slug; what is wrong is left with the row."""
    label = row.text("label", longest=LONGEST_LABEL, needed=True)
    value, year = row.number(kind.value, needed=True), row.whole("year", most=LATEST_YEAR)
    citation = row.text("source", needed=True)
    slug = slugify(row.text("study_key")) or file_slug
    if kind is NormKind.PERCENT and value is not None and not 0 <= value <= 100:
        row.refuse("percent", f"{value:g}", "a number from 0 to 100")
    if slug in norms and label in norms[slug].values:
        row.fault(f"“{label}” comes twice, expected once.")
    if row.faults:
        return ""
    title = citation.split(";")[0].split(" (scale")[0].strip()[:LONGEST_TITLE]
    norm = norms.setdefault(
        slug,
        Norm(slug=slug, title=title or slug, kind=kind, year=year, citation=citation, values={}),
    )
    norm.values[label] = value
    return slug
