"""Files as other tools save them: what becomes of each, and what the import says of it."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path
from tempfile import NamedTemporaryFile

import pandas
import pyreadstat
import pytest
from openpyxl import Workbook

from annotation.common.table_file import Heading, TableFileError, read_heading
from annotation.corpora.bodies import hash_body
from annotation.corpora.corpus_file import parse_corpus_file
from annotation.corpora.corpus_import import BadRowsError, import_corpus
from annotation.corpora.corpus_rows import Varieties
from annotation.models import Corpus, Text

VARIETIES = Varieties("AAL", "WME")
ROWS = [("she been told me", "she told me long ago"), ("we be out here", "we are often out here")]


def read(content: bytes | str, name: str, heading: Heading | None = None):
    raw = content.encode() if isinstance(content, str) else content
    parsed = parse_corpus_file(raw, name, VARIETIES, heading)
    assert parsed.problems == ()
    pairs = [(row.text.body, row.target.body) for row in parsed.rows if row.target]
    return pairs, " ".join(parsed.notices)


def lines(rows, mark: str = "\t", end: str = "\n") -> str:
    return "".join(mark.join(row) + end for row in rows)


def workbook(*rows) -> bytes:
    book, sink = Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.create_sheet("Notes")
    book.save(sink)
    return sink.getvalue()


def parquet(rows) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet as files

    sink = io.BytesIO()
    files.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue()


def name_case(value) -> str | None:
    """Name binary files alike: some hold the time at which they were made."""
    return "bytes" if isinstance(value, bytes) else None


def spss(rows) -> bytes:
    with NamedTemporaryFile(suffix=".sav") as file:
        pyreadstat.write_sav(pandas.DataFrame(rows), file.name)
        return Path(file.name).read_bytes()


def zipped(name: str, content: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr(name, content)
        archive.writestr(f"__MACOSX/._{name}", b"\0")
    return sink.getvalue()


def annotated(source: str, target: str) -> dict:
    """Return a task as Label Studio exports it: one annotation, and one that was given up."""
    entered = {"from_name": "wme", "type": "textarea", "value": {"text": [target]}}
    annotations = [
        {"completed_by": 3, "result": [entered]},
        {"was_cancelled": True, "result": []},
    ]
    return {"id": 9, "data": {"aal": source}, "annotations": annotations}


def chat(source: str, target: str) -> dict:
    said = {"system": "Rewrite.", "user": source, "assistant": target}
    return {"messages": [{"role": role, "content": text} for role, text in said.items()]}


OBJECTS = [{"aal": source, "wme": target} for source, target in ROWS]
NAMED = [("AAL", "WME"), *ROWS]
#: What else tools call the two sides.
HEADINGS = [
    ("AAVE", "SAE"),
    ("aal_text", "WME Sentence"),
    ("Source Text", "target-text"),
    ("src", "tgt"),
    ("input", "output"),
    ("prompt", "completion"),
    ("original", "rewritten text"),
    ("dialect_text", "standard_text"),
]


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (lines(ROWS), "a.txt", "first line was read as a pair"),
        (lines(ROWS), "a.tsv", "first line was read as a pair"),
        (lines(NAMED, end="\r\n").encode("utf-16"), "a.tsv", ""),
        (b"\xfe\xff" + lines(NAMED).encode("utf-16-be"), "a.txt", ""),
        (lines(NAMED, ";"), "a.csv", ""),
        (lines(NAMED, "|"), "a.csv", ""),
        (lines(NAMED, "|"), "a.txt", ""),
        (lines(ROWS, "|"), "a.txt", "first line was read as a pair"),
        ("sep=;\r\n" + lines(NAMED, ";"), "a.csv", ""),
        ("# made by hand\n# 2024\n" + lines(NAMED), "a.tsv", "first 2 lines begin with “#”"),
        (lines(NAMED).encode("utf-16-le"), "a.tsv", ""),
        (lines(NAMED).encode("utf-32"), "a.tsv", ""),
        *((lines([heading, *ROWS], ","), "a.csv", "") for heading in HEADINGS),
        (lines([(*NAMED[0], "WME text"), *((*row, "–") for row in ROWS)]), "a.tsv", ": WME text"),
        (lines([(f"p{n}", *row, "3") for n, row in enumerate(ROWS)]), "a.tsv", "read from: 1, 4."),
        (json.dumps([{"translation": {"en-AAL": s, "en-US": t}} for s, t in ROWS]), "a.json", ""),
        (lines(NAMED), "a.csv", ""),
        (lines([(*row, "7", "") for row in NAMED]), "a.tsv", "read from: 7, (without a name)."),
        (json.dumps(ROWS), "a.json", "first line was read as a pair"),
        (json.dumps(NAMED), "a.json", ""),
        (json.dumps({"version": "1.0", "data": OBJECTS}), "a.json", ""),
        (pandas.DataFrame(OBJECTS).to_json(), "a.json", ""),
        (json.dumps(pandas.DataFrame(OBJECTS).to_dict("list")), "a.json", ""),
        (json.dumps([annotated(*row) for row in ROWS]), "a.json", "read from: annotator."),
        (lines([[json.dumps(chat(*row))] for row in ROWS]), "a.jsonl", ""),
        (spss(OBJECTS), "a.sav", ""),
        (zipped("pairs/a.csv", lines(NAMED, ",").encode()), "pairs.zip", ""),
        (gzip.compress(lines(NAMED).encode()), "a.tsv.gz", ""),
        (workbook(["Pairs of spring"], [], *NAMED), "a.xlsx", "The heading stands on line 3"),
        (workbook(*NAMED), "a.xlsx", "“Notes”, “"),
        (json.dumps(OBJECTS, indent=1), "a.json", ""),
        (lines([[json.dumps({"translation": one})] for one in OBJECTS]), "a.jsonl", ""),
        (parquet(OBJECTS), "a.parquet", ""),
        (parquet([{"translation": one} for one in OBJECTS]), "a.parquet", ""),
        (
            json.dumps([{"id": n, "text": s, "rewrite": t} for n, (s, t) in enumerate(ROWS)]),
            "a.json",
            "",
        ),
        (
            lines(
                [
                    ("participant.code", *(f"a.{n}.player.{v}" for n in "12" for v in NAMED[0])),
                    ("k3", *ROWS[0], *ROWS[1]),
                    ("p9", "", "", "", ""),
                ],
                ",",
            ),
            "a.csv",
            "read from: participant.code.",
        ),
        (
            lines([NAMED[0], ("How?", "And how?")], ",")
            + '"{""ImportId"":""QID1""}","{""ImportId"":""QID2""}"\n'
            + lines(ROWS, ","),
            "a.csv",
            "Lines up to 3 are Qualtrics",
        ),
    ],
    ids=name_case,
)  # fmt: skip
def test_the_same_pairs_from_whichever_tool(content, name: str, said: str) -> None:
    pairs, notices = read(content, name)
    assert pairs == ROWS
    assert said in notices
    assert said or not notices


QUOTED = [('"bet" he said', '"fine", he said'), ("no, ma'am", 'a\tb "c"')]


def excel(cell: str) -> str:
    doubled = cell.replace('"', '""')
    return f'"{doubled}"' if any(mark in cell for mark in '",\t\n') else cell


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        (zipped("a.csv", lines(NAMED, ",").encode())[:60], "a.zip", "cannot be unpacked"),
        (gzip.compress(lines(NAMED).encode())[:-9], "a.tsv.gz", "cannot be unpacked"),
        (zipped("a.docx", b"PK"), "a.zip", "“a.docx” is of no kind that can be read"),
        (b"$FL2@(#) IBM SPSS", "a.sav", "no SPSS file that can be read"),
        (b"\xd0\xcf\x11\xe0" * 40, "a.xls", "no workbook that can be read"),
        (json.dumps({"data": []}), "a.json", "holds no row"),
    ],
    ids=name_case,
)  # fmt: skip
def test_a_damaged_file_of_another_program_is_refused(content, name: str, told: str) -> None:
    with pytest.raises(TableFileError, match=told):
        read(content, name)


def test_quotes_that_excel_doubled_are_read_as_typed() -> None:
    content = lines([NAMED[0], *([excel(cell) for cell in row] for row in QUOTED)], end="\r\n")
    pairs, notices = read(content, "a.tsv")
    assert pairs == QUOTED
    assert "Quotation marks around cells" in notices


@pytest.mark.parametrize(
    "rows",
    [
        [('"bet" and "cap"', '"sure"')],
        [('he said "yes', '"')],
        [('"hello"', "hi"), ("no", '"yes"')],
        [('"well, hello"', "hi, there")],
        [('""', "empty")],
    ],
)
def test_quotes_that_nobody_doubled_stay(rows) -> None:
    assert read(lines([NAMED[0], *rows]), "a.tsv") == (rows, "")


def test_western_text_is_read_and_named_and_damaged_text_is_not() -> None:
    pairs, notices = read("AAL,WME\nat the café,in a café\n".encode("windows-1252"), "a.csv")
    assert pairs == [("at the café", "in a café")]
    assert "Windows-1252" in notices
    pairs, notices = read("AAL,WME\nat the café – now,“in” a café\n".encode("mac_roman"), "a.csv")
    assert pairs == [("at the café – now", "“in” a café")]
    assert "Mac Roman" in notices
    cyrillic = "AAL,WME\nмы тут,мы здесь\n".encode("windows-1251")
    (problem, *_) = parse_corpus_file(cyrillic, "a.csv", VARIETIES).problems
    assert "is not UTF-8 text" in problem.message


def test_columns_are_named_on_demand() -> None:
    swapped = [(target, source) for source, target in ROWS]
    given = read_heading(["source_text=2", "target_text=1"], is_there=False)
    assert read(lines(swapped, ","), "a.csv", given)[0] == ROWS
    assert read(lines(ROWS), "a.tsv", Heading(is_there=False))[0] == ROWS
    said = read_heading(["source_text=dialect", "target_text=plain"])
    assert read(lines([("plain", "dialect"), *swapped]), "a.tsv", said)[0] == ROWS


@pytest.mark.parametrize(
    ("content", "said", "told"),
    [
        ("dialect\tplain\tgloss\na b c\td e f\tg h i\n", [], "The columns are “dialect”, “plain”"),
        ("AAL\tWME\na\tb\n", ["source_text=x"], "no column “x”"),
        ("AAL\tWME\na\tb\n", ["body=AAL"], "“body” is not known"),
        ("AAL\tWME\na\tb\n", ["body"], "expected FIELD=COLUMN"),
    ],
)
def test_columns_that_are_not_there_are_refused(content: str, said: list[str], told: str) -> None:
    with pytest.raises(TableFileError, match=told):
        read(content, "a.tsv", read_heading(said))


def test_the_released_pairs_are_read_from_their_first_line(shared_dir: Path) -> None:
    released = shared_dir / "data" / "matched_guise" / "pairs" / "habitual.txt"
    pairs, _ = read(released.read_bytes(), "habitual.txt")
    assert pairs[0] == ("he be cracking", "he's usually cracking")
    assert len(pairs) == len(released.read_text().splitlines())


def take(content: str, **options):
    options = {"name": "Pairs", "license": "CC0", **options}
    return import_corpus(content=content.encode(), file_name="a.tsv", **options)


@pytest.mark.django_db
@pytest.mark.parametrize("twin", ["caf\u200be", "cafe\u2060", "c\u00adafe", "\u00a0cafe", "cafe"])
def test_a_text_with_several_counterparts_is_stored_once(twin: str) -> None:
    result = take(f"AAL\tWME\nhe cafe\tone\nhe {twin}\ttwo\nshe\tone\n")
    assert (result.n_texts, result.n_pairs) == (4, 3)
    assert Text.objects.get(slug="pair-0001-aal").pairs_as_source.count() == 2
    assert bool(result.notices) == (twin != "cafe")
    assert all("Line 3: the same text in AAL stands on line 2" in one for one in result.notices)


@pytest.mark.django_db
def test_accents_written_in_two_ways_are_one_text_as_first_typed() -> None:
    result = take("AAL\tWME\nun caf\u00e9\tone\nun cafe\u0301\ttwo\n")
    assert "how accents are written" in result.notices[0]
    (text,) = Text.objects.filter(variety="AAL")
    assert (text.body, text.body_hash) == ("un caf\u00e9", hash_body("un caf\u00e9"))


@pytest.mark.django_db
def test_joiners_that_a_script_needs_tell_texts_apart() -> None:
    assert take("AAL\tWME\n👩‍🚀 go\tone\n👩🚀 go\ttwo\n").n_texts == 4


@pytest.mark.django_db
def test_a_corpus_takes_another_counterpart_and_no_pair_twice() -> None:
    take("AAL\tWME\nhe be\the is\n")
    corpus = Corpus.objects.get()
    result = take("AAL\tWME\nhe be\the often is\n", into=corpus)
    assert (result.n_texts, result.n_pairs) == (1, 1)
    with pytest.raises(BadRowsError) as caught:
        take("AAL\tWME\nhe\u200b be\the is\n", into=corpus)
    assert "the same pair stands in the corpus already" in str(caught.value.problems[0])


@pytest.mark.parametrize("name", ["counterpart", "target", "Target"])
def test_a_source_beside_one_other_text_is_the_text(name: str) -> None:
    found, notices = read(f"source,{name}\nHe be late.,He is often late.\n", "a.csv")
    assert found == [("He be late.", "He is often late.")]
    assert notices == f"“source” was read as the text, since only “{name}” is beside it."


def test_a_source_beside_two_texts_says_where_they_are_from() -> None:
    rows = "AAL,counterpart,source\nHe be late.,He is often late.,blogs\n"
    varieties = Varieties("AAL", "WME")
    (row,) = parse_corpus_file(rows.encode(), "a.csv", varieties).rows
    assert (row.text.body, row.source) == ("He be late.", "blogs")


NESTED = [{"id": f"p{n}", "AAL": {"text": s}, "WME": {"text": t}} for n, (s, t) in enumerate(ROWS)]
LISTED = [
    {"texts": [{"variety": "AAL", "text": s}, {"variety": "WME", "text": t}]} for s, t in ROWS
]
BY_SPLIT = {"train": OBJECTS[:1], "test": OBJECTS[1:]}
QUALTRICS_OLD = "StartDate,ResponseId,AAL,WME\nStart Date,Response ID,How?,And how?\n" + "".join(
    f"2020-01-01,R_{n},{s},{t}\n" for n, (s, t) in enumerate(ROWS)
)


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (json.dumps(dict(ROWS)), "a.json", "first line was read as a pair"),
        (json.dumps({s: [t] for s, t in ROWS}), "a.json", "first line was read as a pair"),
        (json.dumps(NESTED), "a.json", ""),
        (json.dumps(LISTED), "a.json", ""),
        (json.dumps({"features": [{}], "rows": [{"row": one} for one in OBJECTS]}), "a.json", ""),
        (json.dumps({one.pop("id"): one for one in json.loads(json.dumps(NESTED))}), "a.json", ""),
        (json.dumps({"columns": ["AAL", "WME"], "data": ROWS}), "a.json", ""),
        ("\n".join(map(json.dumps, ROWS)), "a.jsonl", "first line was read as a pair"),
        (json.dumps(BY_SPLIT), "a.json", ""),
        (parquet([{"AAL": [s], "WME": [t]} for s, t in ROWS]), "a.parquet", ""),
        (lines([("Text (AAL)", "text.WME"), *ROWS]), "a.tsv", ""),
        (lines([("sentence1", "sentence2"), *ROWS]), "a.tsv", "“sentence1” was read as AAL"),
        (
            lines([("Nr", "Quelle", "Ziel"), *((str(n), *row) for n, row in enumerate(ROWS))]),
            "a.tsv",
            "“Ziel” as WME",
        ),
        (lines([NAMED[0], *((*row, "") for row in ROWS)], ","), "a.csv", ""),
        (lines([(*NAMED[0], ""), *ROWS], ","), "a.csv", "(without a name)"),
        (lines([*NAMED, NAMED[0]], ","), "a.csv", "The heading comes again in 1 further lines"),
        (QUALTRICS_OLD, "a.csv", "Lines up to 2 are Qualtrics"),
        (
            "text,rewrite\n" + "".join(f'{s},"[""{t}""]"\n' for s, t in ROWS),
            "a.csv",
            "The cells of “rewrite” hold JSON",
        ),
    ],
    ids=name_case,
)  # fmt: skip
def test_the_same_pairs_from_other_shapes(content, name: str, said: str) -> None:
    pairs, notices = read(content, name)
    assert pairs == ROWS
    assert said in notices
    assert said or not notices


def test_each_of_several_rewritings_is_a_pair():
    content = json.dumps(
        {"she been told me": ["she told me", "she told me long ago"], "a b": "c d"}
    )
    assert read(content, "a.json", Heading(False))[0] == [
        ("she been told me", "she told me"),
        ("she been told me", "she told me long ago"),
        ("a b", "c d"),
    ]


def texts_of(content: str, name: str):
    parsed = parse_corpus_file(content.encode(), name, VARIETIES)
    assert not parsed.problems
    return parsed.rows, " ".join(parsed.notices)


def test_turns_of_a_transcript_are_texts_without_its_pauses():
    content = (
        "Line\tSpkr\tStTime\tContent\tEnTime\n1\tint\t0.9\tYou got me on?\t1.9\n"
        "2\tse1\t2.1\t(pause 0.43)\t2.5\n3\tse1\t2.5\tI been here.\t3.5\n"
        "4\tint\t4\tI been here.\t5\n"
    )
    rows, notices = texts_of(content, "coraal.txt")
    assert [row.text.body for row in rows] == ["You got me on?", "I been here."]
    assert "2 turns of the transcript were left out: 1 without words, 1 that were said" in notices


@pytest.mark.parametrize("name", ["a.csv", "a.json"])
def test_passages_that_label_studio_marks_are_spans(name: str):
    marked = [{"start": 3, "end": 5, "text": "be", "labels": ["habitual"]}]
    quoted = json.dumps(marked).replace('"', '""')
    content = {
        "a.csv": f'text,word_labels\nhe be out,"{quoted}"\n',
        "a.json": json.dumps([{"text": "he be out", "word_labels": marked}]),
    }[name]
    rows, notices = texts_of(content, name)
    assert rows[0].text.spans == ({"start": 3, "end": 5, "kind": "habitual"},)
    assert "“word_labels” was read as spans" in notices


def test_stereotypes_are_sides_of_a_pair_by_their_labels():
    sentences = [
        {"id": n, "sentence": f"he is {n} tall", "gold_label": label, "labels": []}
        for n, label in enumerate(("stereotype", "anti-stereotype", "unrelated"))
    ]
    entry = {"id": "x1", "target": "A", "context": "He is.", "sentences": sentences}
    content = json.dumps({"version": "1", "data": {"intersentence": [entry], "intra": [entry]}})
    varieties = Varieties("stereotype", "anti-stereotype")
    parsed = parse_corpus_file(content.encode(), "dev.json", varieties)
    assert [(row.text.body, row.target.body) for row in parsed.rows if row.target] == [
        ("he is 0 tall", "he is 1 tall")
    ] * 2


@pytest.mark.parametrize("missing", ["NA", "nan", "NULL", "#N/A"])
def test_what_stands_for_a_missing_text_is_named(missing: str):
    content = f"AAL,WME\nshe been here,{missing}\n".encode()
    (problem,) = parse_corpus_file(content, "a.csv", VARIETIES).problems
    assert f"“WME” is “{missing}”, which stands for a missing text" in problem.message


def test_questions_with_answers_are_no_pairs():
    row = {"context": "I saw them here.", "question": "Who was late today?"}
    row |= {"ans0": "The old man", "ans1": "The young man", "ans2": "Not known here", "label": 2}
    with pytest.raises(TableFileError, match="fit neither pairs nor texts, expected"):
        parse_corpus_file(json.dumps([row]).encode(), "a.json", VARIETIES)
