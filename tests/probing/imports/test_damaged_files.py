"""Damaged files of every kind of import: each is planned or refused in words; none is stored."""

from __future__ import annotations

import io
import json

import openpyxl
import pytest
from django.core.exceptions import ValidationError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.common.table_file import TableFileError
from annotation.imports.bad_rows import write_bad_rows
from annotation.imports.import_kind import (
    BadImportError,
    ImportPlan,
    ImportRequest,
    import_kinds,
    plan_import,
)
from annotation.models import Corpus, Study
from evaluation.models import Norm
from probing.models import GroupLexicon, LabeledTemplateSet, LabeledTextSet, Run
from tests.depth import examples
from tests.evaluation.reports.corpora import make_pairs

pytestmark = pytest.mark.django_db

KINDS = import_kinds()
#: Words that some kind reads, so that damaged files come as far as its own checks.
CELLS = ("1", "80", "-9999", "women", "woman", "cold-warm", "p0", "AAL", "WME", "human", "gpt-4")
CELLS += ("train", "x", "", "nan", "1e999", '"', "'=1", "é", "A.\nB", "\u202e", "misread 0-2")


def write(name: str, columns: list[str], rows: list[list[str]]) -> bytes:
    """Return a table as a program saves it under this name."""
    if name.endswith(".xlsx"):
        book, file = openpyxl.Workbook(), io.BytesIO()
        assert book.active is not None
        for row in (columns, *rows):
            book.active.append(row)
        book.save(file)
        return file.getvalue()
    entries = [dict(zip(columns, row, strict=True)) for row in rows]
    if name.endswith(".parquet"):
        import pyarrow as pa
        from pyarrow import parquet

        file = io.BytesIO()
        parquet.write_table(pa.Table.from_pylist(entries), file)
        return file.getvalue()
    if name.endswith(".json"):
        return json.dumps(entries).encode()
    mark = "\t" if name.endswith(".tsv") else ","
    lines = [mark.join(row) for row in (columns, *rows)]
    return "\n".join(lines).encode("utf-16" if name.startswith("wide") else "utf-8")


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, str, bytes]:
    """Return a kind, a file's name, and its bytes, some of them lost, doubled, or changed."""
    kind = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    known = [column.name for column in kind.columns]
    columns = draw(st.permutations(known)) if known else ["a", "b"]
    rows = draw(
        st.lists(
            st.lists(st.sampled_from(CELLS), min_size=len(columns), max_size=len(columns)),
            min_size=1,
            max_size=4,
        )
    )
    names = ("a.csv", "wide.csv", "a.tsv", "a.json", "a.xlsx", "a.parquet")
    name = draw(st.sampled_from(names))
    content = bytearray(write(name, list(columns), rows))
    for _ in range(draw(st.integers(0, 4))):
        # A share of the file: a workbook holds the time, so that its length differs.
        place = draw(st.integers(0, 9_999)) * len(content) // 10_000
        match draw(st.sampled_from(("cut", "drop", "flip", "add"))):
            case "cut":
                del content[place:]
            case "drop":
                del content[place : place + draw(st.integers(1, 9))]
            case "flip" if content:
                content[place] ^= 1 << draw(st.integers(0, 7))
            case _:
                content[place:place] = draw(st.binary(max_size=4))
    return kind.name, name, bytes(content)


def n_stored() -> int:
    models = (Study, Run, Norm, GroupLexicon, LabeledTemplateSet, LabeledTextSet, Corpus)
    return sum(model._default_manager.count() for model in models)


@settings(
    max_examples=examples(100, 10_000),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(file=damaged())
def test_a_damaged_file_is_refused_in_words_or_planned(
    db: None, file: tuple[str, str, bytes]
) -> None:
    kind_name, name, content = file
    kind = KINDS[kind_name]
    corpus = Corpus.objects.first() or make_pairs()
    filled = {option.name: "a" for option in kind.options if option.needed}
    filled |= {"corpus": corpus.public_id} if "corpus" in filled else {}
    known = {option.name for option in kind.options}
    more = {"title": "T", "citation": "C", "model": "gpt-4", "producer": "m"}
    filled |= {option: value for option, value in more.items() if option in known}
    request, before = ImportRequest(content, name, filled), n_stored()
    try:
        plan: ImportPlan = plan_import(kind, request)
    except BadImportError as error:
        plan = error.plan
    except (TableFileError, ValidationError) as error:
        said = " ".join(error.messages) if isinstance(error, ValidationError) else str(error)
        said.encode()  # what a page prints
        plan = ImportPlan({})
    " ".join((*map(str, plan.problems), *plan.warnings, *plan.told_counts)).encode()
    write_bad_rows(kind, request, plan)
    assert n_stored() == before
