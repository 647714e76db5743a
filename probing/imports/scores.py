"""Scores of groups on traits by template that were computed elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.imports.abc_file import Vocabulary
from annotation.imports.abc_ratings import load_vocabulary
from annotation.imports.import_kind import (
    FurtherColumns,
    ImportColumn,
    ImportRequest,
    ImportRow,
    ReadRows,
)
from annotation.imports.ratings import trait_columns
from annotation.models import Corpus, SocialGroup, TraitPair
from probing.imports.run_import import RunImport, read_value
from probing.lm.question_protocols import ACCESS_TIERS
from probing.measures.base import ResultKind
from probing.measures.imported_stimuli import ImportedStimuli, NamedTemplate
from probing.measures.stimuli import Group, Trait
from probing.models import Template
from probing.runs.result_storage import Row

PAIR_SCORE = "pair_score"
LONGEST_TEMPLATE = 100
MIXED_ACCESS = "obtained in different ways by template, which are never averaged"


class Scores(RunImport):
    """Groups × traits × templates."""

    name = "scores"
    title = "Scores"
    purpose = (
        "Scores of groups on trait pairs, by template or as their mean; positive where the group "
        "leans to the right-hand adjective: a row for each, or a column for each trait pair. "
        "Without means, these are taken over the templates."
    )
    result = ResultKind.SCORES
    value_columns = (
        ImportColumn(
            "group",
            "slug or name of a group of the library",
            needed=True,
            other_names=("target_group", "social_group"),
        ),
        ImportColumn(
            "trait",
            "slug of a trait pair, or “low – high”; without it, each trait pair is a column",
            other_names=("trait_pair", "scale"),
        ),
        ImportColumn("value", "the score; empty where there is none", other_names=("score",)),
        ImportColumn("template", "slug of a template, or a name; empty for the mean over all"),
        ImportColumn("template_text", "its sentence, where the library does not have it"),
        ImportColumn("name", f"which score; empty: {PAIR_SCORE}"),
        ImportColumn("reason", "why there is no value"),
        ImportColumn("n", "how many values went in"),
        ImportColumn(
            "access", f"how the score was obtained: {' or '.join(ACCESS_TIERS)}; empty: not known"
        ),
    )

    def further(self) -> FurtherColumns:
        return trait_columns()

    def count(self, rows: Sequence[Row]) -> dict[str, int]:
        return {
            "scores": len(rows),
            "groups": len({row["group"] for row in rows}),
            "trait pairs": len({row["trait"] for row in rows}),
            "templates": len({row["template"] for row in rows} - {""}),
        }

    def read(
        self, request: ImportRequest, read: ReadRows
    ) -> tuple[list[Row], ImportedStimuli, Corpus | None]:
        """Four queries."""
        groups = {group.slug: group for group in SocialGroup.objects.order_by("slug")}
        traits = {trait.slug: trait for trait in TraitPair.objects.all()}
        vocabulary = load_vocabulary()
        rows: dict[tuple[str, str, str, str], Row] = {}
        lines: dict[tuple[str, str, str, str], int] = {}
        texts: dict[str, str] = {}
        for row in read.spread(self.columns, "trait", "value"):
            found = _read_row(row, groups, traits, vocabulary)
            key = (found["name"], found["group"], found["trait"], found["template"])
            if not row.faults and key in lines:
                row.fault(f"the same score stands on line {lines[key]}.")
            if row.faults:
                continue
            lines[key], rows[key] = row.line, found
            if template := found["template"]:
                texts[template] = row.text("template_text") or texts.get(template, "")
        stored = dict(Template.objects.filter(slug__in=texts).values_list("slug", "text"))
        named = {found["group"] for found in rows.values()}
        scored = {found["trait"] for found in rows.values()}
        return (
            add_means(list(rows.values())),
            ImportedStimuli(
                tuple(as_group(group) for slug, group in groups.items() if slug in named),
                tuple(as_trait(trait) for slug, trait in traits.items() if slug in scored),
                tuple(
                    NamedTemplate(slug, text or stored.get(slug, slug))
                    for slug, text in texts.items()
                ),
            ),
            None,
        )


def _read_row(
    row: ImportRow,
    groups: dict[str, SocialGroup],
    traits: dict[str, TraitPair],
    vocabulary: Vocabulary,
) -> Row:
    group, trait = row.text("group", needed=True), row.text("trait", needed=True)
    group_slug = group if group in groups else vocabulary.find_group(group)
    trait_slug = trait if trait in traits else vocabulary.find_scale(trait)
    if group and group_slug is None:
        why = "which the library does not have. Add it there."
        row.refuse("group", group, "a group of the library", why=why)
    if trait and trait_slug is None:
        swapped = vocabulary.is_reversed(trait)
        why = "has its poles exchanged" if swapped else "is no trait pair of the library"
        row.refuse("trait", trait, "a trait pair of the library", why=f"which {why}.")
    return {
        "name": row.text("name", longest=40) or PAIR_SCORE,
        "group": group_slug or "",
        "trait": trait_slug or "",
        "template": row.text("template", longest=LONGEST_TEMPLATE),
        "access": _read_access(row),
        **read_value(row),
    }


def _read_access(row: ImportRow) -> str:
    access = row.text("access")
    if access and access not in ACCESS_TIERS:
        row.refuse("access", access, ", ".join(ACCESS_TIERS))
    return access


def add_means(rows: list[Row]) -> list[Row]:
    """Return rows with the mean over templates of each cell that has none.

    As `probing.measures.aggregation` has it: over the templates with a value, whose number is n.
    """
    cells: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        cells.setdefault((row["name"], row["group"], row["trait"]), []).append(row)
    means = []
    for (name, group, trait), found in cells.items():
        if any(not row["template"] for row in found):
            continue
        tiers = {row["access"] for row in found}
        mixed = MIXED_ACCESS if len(tiers) > 1 else ""
        values = [row["value"] for row in found if not row["reason"] and not mixed]
        means.append(
            {
                "name": name,
                "group": group,
                "trait": trait,
                "template": "",
                "access": "" if mixed else found[0]["access"],
                "value": sum(values) / len(values) if values else float("nan"),
                "reason": "" if values else mixed or found[0]["reason"],
                "n": len(values),
            }
        )
    return [*rows, *means]


def as_group(group: SocialGroup) -> Group:
    """Return a group as runs keep it; forms that it lacks are its slug."""
    forms = (group.singular, group.plural, group.plural_capitalised)
    return Group(group.slug, *(form or group.slug for form in forms))


def as_trait(trait: TraitPair) -> Trait:
    """Return a trait pair as runs keep it."""
    return Trait(trait.slug, trait.low, trait.high, trait.dimension or "none")
