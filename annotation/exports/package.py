"""A study's data as a folder that archives take: tables, codebooks, and descriptions for machines.

Descriptions: Croissant 1.1 with its RAI vocabulary (MLCommons), Data Package (Frictionless),
RO-Crate 1.1, and Psych-DS. All say the same, from the codebook and the study's record; what no
record answers is left out or said to be not stated.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils import timezone

from annotation.common.table_formats import TABLE_FORMATS
from annotation.common.tables import Column, ColumnType, Table
from annotation.exports.study_tables import StudyTable, list_study_tables
from annotation.models import Origin, Study

#: Psych-DS wants tables in this folder, named by pairs of a keyword and a value.
DATA = "data"
FORMATS = (".csv", ".parquet", "-codebook.csv")
ENDINGS = {".csv": "_data.csv", ".parquet": "_data.parquet", "-codebook.csv": "_codebook.csv"}
MEDIA_TYPES = {
    ".csv": "text/csv",
    ".parquet": "application/vnd.apache.parquet",
    "-codebook.csv": "text/csv",
}
NOT_STATED = "Not stated"
CROISSANT_TYPES = {
    ColumnType.TEXT: "sc:Text",
    ColumnType.NUMBER: "sc:Float",
    ColumnType.INTEGER: "sc:Integer",
    ColumnType.BOOLEAN: "sc:Boolean",
    ColumnType.TIME: "sc:DateTime",
}
FRICTIONLESS_TYPES = {
    ColumnType.TEXT: "string",
    ColumnType.NUMBER: "number",
    ColumnType.INTEGER: "integer",
    ColumnType.BOOLEAN: "boolean",
    ColumnType.TIME: "datetime",
}
#: MLCommons, Croissant Format Specification 1.1, §Namespaces.
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


@dataclass(frozen=True)
class PackagedFile:
    """A table in one format: ``path`` inside the folder, with what its bytes are."""

    table: StudyTable
    columns: Sequence[Column]
    path: str
    media_type: str
    size: int
    sha256: str

    @property
    def is_data(self) -> bool:
        return self.media_type == "text/csv" and not self.path.endswith("_codebook.csv")


@dataclass(frozen=True)
class PackageFacts:
    """What the database doesn't know of a publication; empty for what is not stated.

    license : an SPDX identifier or an address
    """

    license: str = ""
    creators: tuple[str, ...] = ()
    citation: str = ""
    url: str = ""

    @property
    def license_address(self) -> str:
        if not self.license or ":" in self.license:
            return self.license
        return f"https://spdx.org/licenses/{self.license}.html"


def write_package(
    study: Study, folder: Path, facts: PackageFacts, *, include: Collection[str] = ()
) -> list[Path]:
    """Write all tables of a study with descriptions into an empty folder; return the files.

    ``include`` : pilot, preview, excluded. Raises `OSError` if the folder can't be written.
    """
    (folder / DATA).mkdir(parents=True)
    files = [
        _write_table(study, table, end, folder, include)
        for table in list_study_tables(study).values()
        for end in FORMATS
    ]
    described: dict[str, Any] = {
        "croissant.json": _croissant(study, files, facts),
        "datapackage.json": _data_package(study, files, facts),
        "ro-crate-metadata.json": _crate(study, files, facts),
        "dataset_description.json": _psych_ds(study, files, facts),
    }
    for name, content in described.items():
        text = json.dumps(content, ensure_ascii=False, indent=2)
        (folder / name).write_text(f"{text}\n", encoding="utf-8")
    (folder / "README.md").write_text(_readme(study, files, facts, include), encoding="utf-8")
    return [folder / name for name in ("README.md", *described)] + [
        folder / file.path for file in files
    ]


def _write_table(
    study: Study, table: StudyTable, end: str, folder: Path, include: Collection[str]
) -> PackagedFile:
    built: Table = table.build(study, include)
    path = f"{DATA}/study-{study.public_id}_description-{table.name}{ENDINGS[end]}"
    digest, size = hashlib.sha256(), 0
    with (folder / path).open("wb") as handle:
        for chunk in TABLE_FORMATS[end].stream([built], False):
            digest.update(chunk)
            size += handle.write(chunk)
    return PackagedFile(table, built.columns, path, MEDIA_TYPES[end], size, digest.hexdigest())


def _describe(study: Study) -> str:
    kind = str(study.get_kind_display())
    if study.origin == Origin.IMPORTED:
        return f"{study.title}: {kind}, imported. {study.source}".strip()
    until = f" to {study.closed_at:%Y-%m-%d}" if study.closed_at else ""
    period = f" from {study.launched_at:%Y-%m-%d}{until}" if study.launched_at else ""
    made_up = " Simulated answers, not of people." if study.origin == Origin.SIMULATED else ""
    return f"{study.title}: {kind}, collected with Stereoscope{period}.{made_up}"


def _column_words(column: Column) -> str:
    labels = "; ".join(f"{value}: {label}" for value, label in column.labels)
    return f"{column.meaning}; {column.values}" + (f" ({labels})" if labels else "")


def _rai(study: Study) -> dict[str, Any]:
    """Return what the record says of collection and people, in the terms of Croissant RAI 1.0."""
    collected = study.origin == Origin.COLLECTED
    pay = f"{study.reward_cents / 100:.2f} {study.currency}" if study.reward_cents else ""
    found = {
        "rai:dataCollection": _describe(study),
        "rai:dataCollectionType": "Surveys" if collected else "",
        "rai:dataCollectionTimeframe": [
            f"{at:%Y-%m-%d}" for at in (study.launched_at, study.closed_at) if at
        ],
        "rai:dataAnnotationPlatform": "Stereoscope" if collected else "",
        "rai:dataAnnotationProtocol": (
            f"Recruited by {study.get_panel_display()}"
            + (f", reward {pay}" if pay else "")
            + f", about {study.estimated_minutes} minutes."
            if collected
            else ""
        ),
        "rai:personalSensitiveInformation": (
            "No identities. Answers to demographic questions and texts that participants wrote may "
            "tell who somebody is: read them before you publish."
        ),
        "rai:dataReleaseMaintenancePlan": (
            f"Participants could withdraw until {study.withdraw_until:%Y-%m-%d}."
            if study.withdraw_until
            else ""
        ),
        "rai:dataLimitations": (
            "Ratings say how participants think or report that groups are seen; they are no facts "
            "about these groups."
        ),
    }
    return {name: value for name, value in found.items() if value}


def _croissant(study: Study, files: Sequence[PackagedFile], facts: PackageFacts) -> dict[str, Any]:
    described = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [
            "http://mlcommons.org/croissant/1.1",
            "http://mlcommons.org/croissant/RAI/1.0",
        ],
        "name": study.title,
        "description": _describe(study),
        "version": "1.0.0",
        "datePublished": f"{timezone.localdate():%Y-%m-%d}",
        "license": facts.license_address,
        "creator": [{"@type": "sc:Person", "name": name} for name in facts.creators],
        "citeAs": facts.citation,
        "url": facts.url,
        **_rai(study),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file.path,
                "name": Path(file.path).name,
                "contentUrl": file.path,
                "contentSize": f"{file.size} B",
                "encodingFormat": file.media_type,
                "sha256": file.sha256,
            }
            for file in files
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": file.table.name,
                "name": file.table.name,
                "description": str(file.table.content),
                "field": [
                    {
                        "@type": "cr:Field",
                        "@id": f"{file.table.name}/{column.name}",
                        "name": column.name,
                        "description": _column_words(column),
                        "dataType": _croissant_type(column),
                        "source": {
                            "fileObject": {"@id": file.path},
                            "extract": {"column": column.name},
                        },
                    }
                    for column in file.columns
                ],
            }
            for file in files
            if file.is_data
        ],
    }
    return _stated(described)


def _data_package(
    study: Study, files: Iterable[PackagedFile], facts: PackageFacts
) -> dict[str, Any]:
    described = {
        "profile": "tabular-data-package",
        "name": f"stereoscope-{study.public_id}",
        "title": study.title,
        "description": _describe(study),
        "homepage": facts.url,
        "created": timezone.now().isoformat(timespec="seconds"),
        "licenses": [{"name": facts.license, "path": facts.license_address}]
        if facts.license
        else [],
        "contributors": [{"title": name, "role": "author"} for name in facts.creators],
        "resources": [
            {
                "name": file.table.name,
                "title": str(file.table.title),
                "description": str(file.table.content),
                "profile": "tabular-data-resource",
                "path": file.path,
                "format": "csv",
                "mediatype": file.media_type,
                "encoding": "utf-8",
                "bytes": file.size,
                "hash": f"sha256:{file.sha256}",
                "schema": {
                    "fields": [
                        {
                            "name": column.name,
                            "type": FRICTIONLESS_TYPES[column.type],
                            "title": column.meaning,
                            "description": _column_words(column),
                        }
                        for column in file.columns
                    ],
                    # Texts that stand among numbers, such as “prefers not to say”.
                    "missingValues": ["", *_texts_among_numbers(file.columns)],
                },
            }
            for file in files
            if file.is_data
        ],
    }
    return _stated(described)


def _croissant_type(column: Column) -> str:
    """Return a column's type; Croissant knows no missing values among numbers but empty ones."""
    return "sc:Text" if _texts_among_numbers([column]) else CROISSANT_TYPES[column.type]


def _texts_among_numbers(columns: Iterable[Column]) -> list[str]:
    found = {
        value: None
        for column in columns
        if column.type in (ColumnType.NUMBER, ColumnType.INTEGER)
        for value, _label in column.labels
        if isinstance(value, str)
    }
    return list(found)


def _crate(study: Study, files: Iterable[PackagedFile], facts: PackageFacts) -> dict[str, Any]:
    listed = list(files)
    people = [{"@id": f"#creator-{n}", "@type": "Person", "name": name}
              for n, name in enumerate(facts.creators, 1)]  # fmt: skip
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": study.title,
        "description": _describe(study),
        "datePublished": f"{timezone.localdate():%Y-%m-%d}",
        "license": {"@id": facts.license_address} if facts.license else NOT_STATED,
        "author": [{"@id": person["@id"]} for person in people],
        "hasPart": [{"@id": file.path} for file in listed],
    }
    return {
        "@context": "https://w3id.org/ro/crate/1.1/context",
        "@graph": [
            {
                "@id": "ro-crate-metadata.json",
                "@type": "CreativeWork",
                "about": {"@id": "./"},
                "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
            },
            _stated(root),
            *people,
            *(
                [{"@id": facts.license_address, "@type": "CreativeWork", "name": facts.license}]
                if facts.license
                else []
            ),
            *(
                {
                    "@id": file.path,
                    "@type": "File",
                    "name": f"{file.table.title}, {Path(file.path).suffix[1:]}",
                    "description": str(file.table.content),
                    "encodingFormat": file.media_type,
                    "contentSize": str(file.size),
                    "sha256": file.sha256,
                }
                for file in listed
            ),
        ],
    }


def _psych_ds(study: Study, files: Iterable[PackagedFile], facts: PackageFacts) -> dict[str, Any]:
    variables = {
        column.name: _column_words(column)
        for file in files
        if file.is_data
        for column in file.columns
    }
    described = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": study.title,
        "description": _describe(study),
        "license": facts.license_address,
        "author": [{"@type": "Person", "name": name} for name in facts.creators],
        "citation": facts.citation,
        "url": facts.url,
        "variableMeasured": [
            {"@type": "PropertyValue", "name": name, "description": words}
            for name, words in variables.items()
        ],
    }
    return _stated(described)


def _stated(described: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in described.items() if value not in ("", [], None)}


def _readme(
    study: Study,
    files: Iterable[PackagedFile],
    facts: PackageFacts,
    include: Collection[str],
) -> str:
    lines = [f"- `{file.path}`: {file.table.content}" for file in files if file.is_data]
    counted = "Accepted data, and data that nobody has reviewed yet (`data_decision`)."
    if include:
        counted += f" Also: {', '.join(sorted(include))}."
    return "\n".join(
        [
            f"# {study.title}",
            "",
            _describe(study),
            "",
            *lines,
            "",
            "Each table is a CSV file in UTF-8, the same as Parquet, and a codebook "
            "(`…_codebook.csv`) with type, values, and meaning of every column.",
            "",
            f"{counted} No file holds an identity. Answers to demographic questions and texts that "
            "participants wrote may tell who somebody is: read them before you publish.",
            "",
            f"License: {facts.license or NOT_STATED}.",
            f"Creators: {', '.join(facts.creators) or NOT_STATED}.",
            *([f"Citation: {facts.citation}"] if facts.citation else []),
            "",
            "Descriptions for machines: `croissant.json` (Croissant 1.1 with RAI), "
            "`datapackage.json` (Frictionless), `ro-crate-metadata.json` (RO-Crate 1.1), and "
            "`dataset_description.json` (Psych-DS).",
            "",
        ]
    )
