"""JSON of any shape: rows come out, or the file is refused in words."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.common.table_file import TableFileError, read_table

#: Names under which tools keep what is looked for, beside any other.
KEPT = (
    "data annotations completions result value from_name type text messages role content "
    "translation completed_by rows aal"
)
NAMES = st.sampled_from(KEPT.split()) | st.text(max_size=3)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.just("user"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=30,
)


@given(DOCUMENTS)
def test_any_document_gives_rows_or_a_reason(document: object) -> None:
    for name, text in (("a.json", json.dumps(document)), ("a.jsonl", json.dumps(document))):
        with suppress(TableFileError):  # anything else is a fault of the reader
            assert read_table(text.encode(), name, or_json=True).records


@pytest.mark.parametrize("result", [5, "x", [5], [{"from_name": [], "type": [], "value": {}}]])
def test_an_annotation_of_another_shape_enters_nothing(result: object) -> None:
    task = {"data": {"aal": "a"}, "annotations": [{"result": result}]}
    (row,) = read_table(json.dumps([task]).encode(), "a.json", or_json=True).records
    assert row.values["aal"] == "a"


def test_an_archive_that_unpacks_to_a_thousand_times_its_size_is_refused() -> None:
    bomb = gzip.compress(b"a,b\n" * 13_000_000, 1)
    assert len(bomb) < 1_000_000
    with pytest.raises(TableFileError, match="unpacks to more than 50 MB"):
        read_table(bomb, "a.csv.gz", or_json=True)
