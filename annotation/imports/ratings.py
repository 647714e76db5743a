"""Group ratings as a kind of import: tables, long or wide, and the published JSON shape."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.core.exceptions import ValidationError
from django.urls import reverse

from annotation.common.table_file import Problem, TableFile, TableFileError
from annotation.common.text_shortening import shorten
from annotation.imports.abc_file import (
    LONGEST_NAME,
    AbcFileError,
    ParsedFile,
    RatingEntry,
    Vocabulary,
    parse_abc_file,
)
from annotation.imports.abc_ratings import (
    CITATION,
    TITLE,
    digest_ratings,
    find_warnings,
    import_abc_ratings,
    load_vocabulary,
)
from annotation.imports.import_kind import (
    FileHead,
    FurtherColumns,
    ImportColumn,
    Imported,
    ImportKind,
    ImportOption,
    ImportPlan,
    ImportRequest,
    ReadRows,
    refuse_second,
)
from annotation.models import SocialGroup, Study, TraitPair

SCALE = re.compile(r"(-?\d+(?:\.\d+)?)\s*(?:-|–|to)\s*(-?\d+(?:\.\d+)?)")
#: So many whole ratings up to this one are hardly on a scale of 0 to 100.
FEW, SHORT = 10, 10
#: Columns that LimeSurvey puts beside its “id”.
LIMESURVEY = {"submitdate", "startlanguage"}
PERSON = ImportColumn(
    "person",
    "who rated: any name or number, which becomes a pseudonym",
    needed=True,
    other_names=(
        "participant",
        "participant_id",
        "participant.code",
        "participant.id",
        "prolific_id",
        "subject",
        "annotator",
        "rater",
        "respondent",
        "submission",
        "responseid",
        "response_id",
        "record_id",
        "prolific_pid",
        "subject_id",
        "user_id",
        "worker_id",
        "workerid",
    ),
)
GROUP = ImportColumn(
    "group",
    "slug or name of a group of the library",
    needed=True,
    other_names=("target_group", "social_group"),
)
TRAIT = ImportColumn(
    "trait",
    "slug of a trait pair, or “low – high”; without it, each trait pair is a column of ratings",
    other_names=("scale", "trait_pair", "item"),
)
RATING = ImportColumn(
    "rating", "the rating, low pole first", other_names=("value", "response", "score")
)


class Ratings(ImportKind):
    """Ratings of groups on trait scales, by person."""

    name = "ratings"
    title = "Group ratings"
    purpose = (
        "Ratings of groups on trait scales: a row for each person, group and trait pair, or a row "
        "for each person and group with a column for each trait pair (“cold – warm”); or JSON as "
        "published by Cao et al. (2022): annotator → group → trait pair → value. They become a "
        "closed study."
    )
    columns = (PERSON, GROUP, TRAIT, RATING)
    permission = "annotation.add_study"
    options = (
        ImportOption("title", "Title of the study", f"Of published JSON, without one: {TITLE}."),
        ImportOption(
            "citation",
            "Where the data come from",
            f"Of published JSON, without one: {CITATION}",
            is_long=True,
        ),
        ImportOption(
            "scale",
            "Scale of the ratings",
            "Its ends, the low pole’s first, such as 1-7; without it 0-100. Ratings are stored on "
            "0 to 100.",
        ),
    )

    def sniff(self, request: ImportRequest) -> FileHead:
        return FileHead() if _is_published(request) else super().sniff(request)

    def further(self) -> FurtherColumns:
        return trait_columns()

    def _find_columns(self, table: TableFile, request: ImportRequest) -> dict[str, str]:
        """LimeSurvey calls the number of an answer “id”."""
        held = super()._find_columns(table, request)
        if PERSON.name not in held.values() and {"id", *LIMESURVEY} <= set(table.columns):
            held["id"] = PERSON.name
        return held

    def plan(self, request: ImportRequest) -> ImportPlan:
        problems: tuple[Problem, ...]
        warnings: tuple[str, ...] = ()
        if _is_published(request):
            try:
                parsed = parse_abc_file(request.content, load_vocabulary())
            except AbcFileError as error:
                raise TableFileError(str(error)) from error
            problems = tuple(Problem(0, str(problem)) for problem in parsed.problems)
        else:
            parsed, read = _parse_table(request)
            problems = read.told_problems
            warnings = (*read.warnings, *_find_small(request, parsed))
        refuse_second(Study, digest_ratings(parsed))
        return ImportPlan(
            counts={
                "people": len({row.annotator for row in parsed.rows}),
                "groups": len({row.group for row in parsed.rows}),
                "trait scales": len({row.scale for row in parsed.rows}),
                "ratings": len(parsed.rows),
            },
            problems=problems,
            warnings=(*warnings, *find_warnings(parsed)),
            data=parsed,
        )

    def store(self, request: ImportRequest, plan: ImportPlan) -> Imported:
        study = import_abc_ratings(
            content=request.content,
            file_name=request.file_name,
            owner=request.user,
            title=request.option("title") or TITLE,
            citation=request.option("citation") or CITATION,
            skip_bad=True,  # bad rows were refused or agreed to before
            parsed=None if _is_published(request) else plan.data,
        ).study
        address = reverse("admin:annotation_study_overview", args=[study.pk])
        return Imported(f"Study “{study.title}”", study.public_id, address)


def trait_columns() -> FurtherColumns:
    """Return the trait pairs of the library, each of which may be a column of values."""
    pairs = TraitPair.objects.order_by("low", "high").values_list("slug", "low", "high")
    labels = {slug: f"{low} – {high}" for slug, low, high in pairs}
    vocabulary = load_vocabulary()
    words = {label: _search_for(label) for label in labels.values()}

    def find(heading: str) -> str:
        slug = heading.replace("_", "-")  # as programs name variables
        found = slug if slug in labels else vocabulary.find_scale(heading)
        return labels[found] if found else ""

    def find_in_question(question: str) -> str:
        found = [label for label, search in words.items() if search(question)]
        return found[0] if len(found) == 1 else ""

    return FurtherColumns(find, find_in_question, tuple(labels.values()))


def _is_published(request: ImportRequest) -> bool:
    """Whether a file is of the published shape: one JSON object."""
    content = request.content.removeprefix(b"\xef\xbb\xbf").strip()
    is_lines = content.partition(b"\n")[0].rstrip().endswith(b"}") and b"\n" in content
    is_one = not is_lines and not content.startswith(b"[")
    return request.file_name.lower().endswith(".json") and is_one


def _parse_table(request: ImportRequest) -> tuple[ParsedFile, ReadRows]:
    """Return the ratings of a table, long or wide, and its rows with what is wrong with them.

    Four queries. Raises `TableFileError` and, by option, `ValidationError`.
    """
    needed = "Enter it: a table does not say it."
    if missing := [name for name in ("title", "citation") if not request.option(name)]:
        raise ValidationError(dict.fromkeys(missing, needed))
    low, high = _read_scale(request.option("scale"))
    vocabulary = load_vocabulary()
    traits = set(TraitPair.objects.values_list("slug", flat=True))
    groups = set(SocialGroup.objects.values_list("slug", flat=True))
    read = Ratings().rows(request)
    rows: dict[tuple[str, str, str], RatingEntry] = {}
    lines: dict[tuple[str, str, str], int] = {}
    names: dict[str, str] = {}
    is_long = RATING.name in read.held
    for row in read.spread(Ratings.columns, TRAIT.name, RATING.name):
        person = row.text(PERSON.name, longest=LONGEST_NAME, needed=True)
        group = row.text(GROUP.name, needed=True)
        slug = group if group in groups else vocabulary.find_group(group)
        if group and slug is None:
            row.refuse(GROUP.name, group, "a group of the library", why=_add_hint("groups"))
        trait = row.text(TRAIT.name, needed=True)
        scale = _find_trait(trait, traits, vocabulary)
        if trait and scale is None:
            why = _explain(trait, vocabulary)
            row.refuse(TRAIT.name, trait, "a trait pair of the library", why=why)
        rating = row.number(RATING.name, needed=is_long)
        if rating is not None and not low <= rating <= high:
            row.refuse(RATING.name, f"{rating:g}", f"{low:g} to {high:g}")
        key = (person, slug or "", scale or "")
        if key in lines and rating is not None and not row.faults:
            row.fault(f"the same rating stands on line {lines[key]}.")
        if row.faults or rating is None:
            continue
        lines[key] = row.line
        rows[key] = RatingEntry(*key, 100 * (rating - low) / (high - low))
        names |= {key[1]: group, key[2]: trait}
    faulty = {row.line for row in read.rows if row.faults}
    kept = tuple(entry for key, entry in rows.items() if lines[key] not in faulty)
    return ParsedFile(kept, (), names), read


def _find_small(request: ImportRequest, parsed: ParsedFile) -> tuple[str, ...]:
    """Return a warning of ratings on 0 to 100 that look like those of a shorter scale."""
    values = [row.value for row in parsed.rows]
    is_small = len(values) >= FEW and max(values) <= SHORT and all(map(float.is_integer, values))
    if request.option("scale") or not is_small:
        return ()
    return (
        f"All {len(values):,} ratings are whole numbers from {min(values):g} to {max(values):g} "
        "and were read on a scale of 0 to 100. If theirs is another one, name it, such as 1-7.",
    )


def _search_for(label: str) -> Callable[[str], Any]:
    """Return a search for a trait pair in a question, such as “How do you see women? Cold - Warm”.

    Nothing but “to”, “or”, “vs.” and marks stands between its poles.
    """
    low, high = (r"\W+".join(map(re.escape, pole.split())) for pole in label.split(" – "))
    return re.compile(rf"\b{low}\W+(?:(?:to|or|vs)\W+)?{high}\b", re.IGNORECASE).search


def _find_trait(name: str, traits: set[str], vocabulary: Vocabulary) -> str | None:
    return name if name in traits else vocabulary.find_scale(name)


def _explain(trait: str, vocabulary: Vocabulary) -> str:
    if vocabulary.is_reversed(trait):
        return "which has its poles exchanged; expected the low pole first."
    return _add_hint("trait-pairs")


def _add_hint(kind: str) -> str:
    return (
        "which the library does not have. Add it under “Groups and scales”, or with "
        f"import_library --kind {kind}."
    )


def _read_scale(text: str) -> tuple[float, float]:
    found = SCALE.fullmatch(text or "0-100")
    if found is None or float(found[1]) >= float(found[2]):
        raise ValidationError({"scale": f"It is “{shorten(text)}”, expected its ends: 1-7."})
    return float(found[1]), float(found[2])
