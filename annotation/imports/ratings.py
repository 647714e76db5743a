"""Group ratings in the published JSON shape, as a kind of import."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.urls import reverse

from annotation.common.table_file import TableFileError
from annotation.imports.abc_file import AbcFileError, parse_abc_file
from annotation.imports.abc_ratings import (
    CITATION,
    TITLE,
    AlreadyImportedError,
    find_warnings,
    import_abc_ratings,
    load_vocabulary,
)
from annotation.imports.import_kind import (
    Imported,
    ImportKind,
    ImportOption,
    ImportPlan,
    ImportRequest,
)


class Ratings(ImportKind):
    """Ratings of groups on trait scales, by annotator."""

    name = "ratings"
    title = "Group ratings"
    purpose = (
        "Ratings of groups on trait scales, as published by Cao et al. (2022): JSON of the shape "
        "annotator → group → trait pair → value from 0 to 100. They become a closed study."
    )
    suffixes = (".json",)
    permission = "annotation.add_study"
    options = (
        ImportOption("title", "Title of the study", f"Without one: {TITLE}."),
        ImportOption("citation", "Where the data come from", f"Without one: {CITATION}"),
    )

    def plan(self, request: ImportRequest) -> ImportPlan:
        try:
            parsed = parse_abc_file(request.content, load_vocabulary())
        except AbcFileError as error:
            raise TableFileError(str(error)) from error
        return ImportPlan(
            counts={
                "people": len({row.annotator for row in parsed.rows}),
                "groups": len({row.group for row in parsed.rows}),
                "trait scales": len({row.scale for row in parsed.rows}),
                "ratings": len(parsed.rows),
            },
            problems=tuple(map(str, parsed.problems)),
            warnings=find_warnings(parsed),
        )

    def store(self, request: ImportRequest, plan: ImportPlan) -> Imported:
        try:
            study = import_abc_ratings(
                content=request.content,
                file_name=request.file_name,
                owner=request.user,
                title=request.option("title") or TITLE,
                citation=request.option("citation") or CITATION,
                skip_bad=True,  # bad rows were refused or agreed to before
            ).study
        except AlreadyImportedError as error:
            raise ValidationError(str(error)) from error
        address = reverse("admin:annotation_study_overview", args=[study.pk])
        return Imported(f"Study “{study.title}”", study.public_id, address)
