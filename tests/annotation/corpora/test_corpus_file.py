"""Files of texts and pairs: what is read, and every row that is refused, by its line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.common.table_file import Problem, TableFileError
from annotation.corpora.corpus_file import parse_corpus_file
from annotation.corpora.corpus_import import Known, check_rows
from annotation.corpora.corpus_rows import Layout, Varieties

VARIETIES = Varieties("AAL", "WME")


def parse(content: str | bytes, name: str = "pairs.csv"):
    raw = content if isinstance(content, bytes) else content.encode()
    return check_rows(parse_corpus_file(raw, name, VARIETIES), Known(), "WME")


def lines(*objects: object) -> str:
    return "\n".join(json.dumps(entry) for entry in objects)


def problems(content: str | bytes, name: str = "pairs.csv") -> list[str]:
    return [str(problem) for problem in parse(content, name).problems]


def test_pairs_name_their_columns_by_variety():
    parsed = parse(
        "\ufeffid,aal,WME,source,context,split\r\n"
        'p1,"He be ""late"", y’all",He is usually late,CORAAL,They talk.,training\r\n'
        "\r\n"
        "p2, It be like that ,It is like that,,,\r\n"
    )
    assert parsed.layout == Layout.PAIRS
    assert parsed.problems == ()
    first, second = parsed.rows
    assert (first.line, first.name, first.variety) == (2, "p1", "AAL")
    assert first.text.body == 'He be "late", y’all'
    assert first.target is not None
    assert first.target.body == "He is usually late"
    assert (first.source, first.context, first.split) == ("CORAAL", "They talk.", "training")
    assert (second.line, second.text.body, second.split) == (4, "It be like that", "evaluation")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("source_text,target_text\na,b\n", "x.csv"),
        ("source_text;target_text\na;b\n", "x.CSV"),
        ("WME\tAAL\nb\ta\n", "x.tsv"),
        ('{"AAL": "a", "WME": "b"}\n', "x.jsonl"),
        ('{"target_text": "b", "source_text": "a"}', "x.ndjson"),
    ],
)
def test_the_same_pair_from_every_format(content, name):
    (row,) = parse(content, name).rows
    assert row.target is not None
    assert (row.text.body, row.target.body) == ("a", "b")


def test_quotes_are_plain_characters_in_tsv():
    (row,) = parse('text\n"Hey," she said\n', "x.tsv").rows
    assert row.text.body == '"Hey," she said'


def test_texts_may_say_their_variety():
    parsed = parse("text,variety,split\na,,\nb,wme,Training\n")
    assert parsed.layout == Layout.TEXTS
    assert [(row.variety, row.split) for row in parsed.rows] == [
        ("AAL", "evaluation"),
        ("WME", "training"),
    ]


def test_a_cell_of_several_lines_counts_from_its_first():
    parsed = parse('id,text\n1,"one\ntwo"\n2,\n')
    assert parsed.rows[0].text.body == "one\ntwo"
    assert [problem.line for problem in parsed.problems] == [4]


def test_spans_move_with_the_white_space_before_a_text():
    # “ the old man left”: the noun phrase stands at 1 to 12 of the line, 0 to 11 of the text.
    parsed = parse(
        lines(
            {"text": " the old man left", "spans": [{"start": 1, "end": 12, "kind": "NP"}]},
        ),
        "x.jsonl",
    )
    (row,) = parsed.rows
    assert row.text.spans == ({"start": 0, "end": 11, "kind": "NP"},)
    assert row.text.body[0:11] == "the old man"


def test_pairs_carry_spans_by_variety():
    entry = {"AAL": "he late", "WME": "he is late", "id": 7}
    entry["spans"] = {"wme": [{"start": 3, "end": 10, "kind": "VP"}]}
    (row,) = parse(lines(entry), "x.jsonl").rows
    assert row.name == "7"
    assert row.text.spans == ()
    assert row.target is not None
    assert row.target.spans == ({"start": 3, "end": 10, "kind": "VP"},)


BAD_TABLES = {
    "unpaired": ("AAL,WME\na,\n", "“WME” is empty, so that the text is unpaired"),
    "unpaired source": ("AAL,WME\n,b\n", "“AAL” is empty, so that the text is unpaired"),
    "empty": ("id,AAL,WME\n1,,\n", "has no text"),
    "duplicate pair": ("AAL,WME\nz,y\na,b\n z,y\n", "the same pair stands on line 2"),
    "duplicate id": ("id,text\nx,a\nx,b\n", "the id “x” stands on line 2"),
    "unknown split": ("text,split\na,later\n", "“split” is “later”, expected evaluation, training"),
    "over-long": (f"text\n{'a' * 10_001}\n", "has 10,001 characters, expected 10,000 at most"),
    "long source": (f"text,source\na,{'s' * 121}\n", "“source” has 121 characters"),
    "not UTF-8": (b"text\nna\xc3\xafve\ncaf\xe9\n", "“text” is not UTF-8 text"),
    "control": ("text\na\x07b\n", "holds a control character"),
    "no slug": ("id,text\na b,c\n", "“id” is “a b”, expected letters, digits"),
    "long id": (f"id,text\n{'i' * 101},c\n", "“id” is longer than 100 characters"),
    "variety": ("text,variety\na,SAE\n", "“variety” is “SAE”, expected “AAL” or “WME”"),
    "cells": ("text,source\nz,y\na,b,c\n", "has 3 cells, expected 2"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_a_bad_row_is_named_by_its_line(case):
    content, message = BAD_TABLES[case]
    parsed = parse(content)
    (problem,) = parsed.problems
    assert message in problem.message
    raw = content if isinstance(content, bytes) else content.encode()
    assert problem.line == len(raw.splitlines())
    assert all(row.line != problem.line for row in parsed.rows)


BAD_OBJECTS = {
    "no JSON": ("{", "is not JSON"),
    "a list": ('["a"]', "is not a JSON object"),
    "number": ('{"text": 3}', "“text” is 3, expected a text"),
    "other column": ('{"text": "a", "AAL": "b"}', "“AAL” is not expected here"),
    "surrogate": ('{"text": "\\ud800"}', "is not UTF-8"),
    "no list": ('{"text": "a", "spans": {}}', "“spans” is no list"),
    "outside": (
        '{"text": "abc", "spans": [{"start": 1, "end": 4, "kind": "NP"}]}',
        "goes from 1 to 4, outside the text of 3 characters",
    ),
    "in the margin": (
        '{"text": " abc", "spans": [{"start": 0, "end": 2, "kind": "NP"}]}',
        "goes from 0 to 2, outside",
    ),
    "backwards": (
        '{"text": "abc", "spans": [{"start": 2, "end": 2, "kind": "NP"}]}',
        "goes from 2 to 2",
    ),
    "no kind": (
        '{"text": "abc", "spans": [{"start": 0, "end": 1, "kind": ""}]}',
        "has the kind “”",
    ),
    "true": (
        '{"text": "abc", "spans": [{"start": true, "end": 2, "kind": "NP"}]}',
        "no whole number",
    ),
    "more keys": ('{"text": "abc", "spans": [{"start": 0, "end": 2}]}', "start, end and kind"),
}


@pytest.mark.parametrize("case", BAD_OBJECTS)
def test_a_bad_line_of_json_is_named(case):
    line, message = BAD_OBJECTS[case]
    parsed = parse('{"text": "good"}\n' + line, "x.jsonl")
    assert [row.text.body for row in parsed.rows] == ["good"]
    assert [problem.line for problem in parsed.problems] == [2]
    assert message in parsed.problems[0].message


def test_every_fault_of_a_row_is_told_at_once():
    assert problems("id,text,split,variety\na b,x,later,SAE\n") == [
        "Line 2: “id” is “a b”, expected letters, digits, hyphens and underscores.",
        "Line 2: “variety” is “SAE”, expected “AAL” or “WME”.",
        "Line 2: “split” is “later”, expected evaluation, training or nothing, which means "
        "evaluation.",
    ]


def test_training_texts_are_never_evaluated():
    assert problems("text,variety,split\nyes,AAL,training\nyes,WME,evaluation\n") == [
        "Line 3: the text in WME is for evaluation, but it stands on line 2 for training; "
        "training texts are never evaluated."
    ]
    (clash,) = problems("AAL,WME,split\na,b,training\nc,b,\n")
    assert clash.startswith("Line 3: the text in WME is for evaluation")


def test_texts_may_share_a_counterpart():
    assert problems("AAL,WME\na,b\nc,b\n") == []


def test_a_shared_counterpart_has_one_set_of_spans():
    first = {"AAL": "a", "WME": "bc", "spans": {"WME": [{"start": 0, "end": 1, "kind": "NP"}]}}
    assert problems(lines(first, {**first, "AAL": "d"}), "x.jsonl") == []
    (clash,) = problems(lines(first, {"AAL": "d", "WME": "bc"}), "x.jsonl")
    assert "the same counterpart on line 1 has other spans" in clash


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"", "x.csv", "The file is empty"),
        ("text\n", "x.csv", "holds no row"),
        ("text\na\n", "x.pdf", "expected .csv, .tsv, .tab, .txt, .xlsx, .xls"),
        (b"\xff\xfet", "x.csv", "UTF-16"),
        ("text,AAL,WME\na,b,c\n", "x.csv", "neither pairs nor texts"),
        ("AAL,source\na,b\n", "x.csv", "neither pairs nor texts"),
        ("AAL,WME,variety\na,b,AAL\n", "x.csv", "neither pairs nor texts"),
        ("text,splt\na,b\n", "x.csv", "The column “splt” is not known"),
        ("text,text\na,b\n", "x.csv", "column “text” twice"),
        ("AAL,WME,source_text\na,b,c\n", "x.csv", "Two columns hold the same"),
        ('text\n"open\n', "x.csv", "The file breaks off at line 2"),
        ("1\n2\n", "x.jsonl", "No row can be read. Line 1 is not a JSON object"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(content, name, message):
    with pytest.raises(TableFileError, match=message):
        parse(content, name)


def test_a_variety_called_like_a_column_needs_the_general_names():
    odd = Varieties("text", "source")
    parsed = parse_corpus_file(b"source_text,target_text\na,b\n", "x.csv", odd)
    assert parsed.rows[0].variety == "text"


@given(content=st.binary(max_size=200), name=st.sampled_from(["a.csv", "a.tsv", "a.jsonl"]))
@settings(max_examples=150, deadline=None, derandomize=True, database=None)
def test_no_file_breaks_the_reader(content, name):
    for heading in (b"", b"text,source\n", b"text\tsource\n", b'{"text": "a"}\n'):
        try:
            parsed = parse(heading + content, name)
        except TableFileError:
            continue
        assert all(isinstance(problem, Problem) for problem in parsed.problems)
        assert all(row.text.body for row in parsed.rows)
