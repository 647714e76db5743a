"""Dataset reports: counts and ratios by hand, formats, and who may read them."""

from __future__ import annotations

import csv
import io
import json

import openpyxl
import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from evaluation.models import Report, ReportStatus
from evaluation.reports import rendering
from evaluation.reports.building import build_report, find_differences
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from evaluation.reports.registry import get_kind
from evaluation.reports.rendering import render_files
from evaluation.reports.requesting import request_report
from probing.models import WordList
from tests.evaluation.reports.computing import compute, rows_of
from tests.evaluation.reports.corpora import make_pairs

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


def build(corpus, **parameters) -> Report:
    asked = request_report(
        kind="dataset", corpus=corpus, parameters={"resamples": 100, **parameters}
    )
    built = build_report(report_id=asked.pk)
    assert built is not None
    assert built.status == ReportStatus.FINAL, built.error
    return built


def read(report: Report, name: str) -> bytes:
    return bytes(report.files.get(name=name).content)


@pytest.fixture
def words(db) -> WordList:
    return WordList.objects.create(slug="few", title="Few words", words=["damn"], license="MIT")


def test_lengths_ratios_and_hits_are_those_counted_by_hand(words):
    """Words of the four pairs: 4, 4, 3, 5 in AAL and 5, 4, 4, 5 in WME; “damn” in the third."""
    report = build(make_pairs(), word_list="few")
    rows = {
        row["source"]: row
        for row in csv.DictReader(io.StringIO(read(report, "sources.csv").decode()))
    }
    assert set(rows) == {"lyrics", "posts", "All"}
    assert float(rows["All"]["source_length"]) == 16 / 4
    assert float(rows["All"]["target_length"]) == 18 / 4
    assert float(rows["lyrics"]["source_toxicity"]) == 1 / 2
    assert float(rows["posts"]["target_toxicity"]) == 0
    # Different words of the AAL side: 16 less a second "he"? none is used twice.
    types = list(csv.DictReader(io.StringIO(read(report, "types.csv").decode())))
    assert [(row["variety"], row["n_tokens"], row["n_types"]) for row in types] == [
        ("AAL", "16", "16"),
        ("WME", "18", "18"),
    ]
    # Differences −1, 0, −1, 0: mean −1/2; of the four signs of −1 and −1, two give a sum of ±2.
    (length,) = csv.DictReader(io.StringIO(read(report, "length_difference.csv").decode()))
    found = float(length["difference"]), length["df"], length["n"], float(length["p_value"])
    assert found == (-0.5, "", "4", 0.5)
    assert find_differences(report=report) == []


def test_features_are_counted_in_both_varieties():
    chosen = Chosen(study=None, corpus=make_pairs(), runs=())
    _report, document = compute("dataset", chosen, resamples=100)
    rows = {row["name"]: row for row in rows_of(document, "features")}
    # “He be working”: habitual be; “ain't”: once; neither is in a counterpart.
    for name in ("habitual_be", "aint"):
        assert (rows[name]["source_uses"], rows[name]["target_uses"]) == ("1", "0")


def test_a_tagger_decides_what_governs_a_form(tmp_path):
    """“like” is a preposition in the closed lists, so that “be” is governed; here it is a verb."""
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("attribute_ruler")
    ruler.add([[{"TEXT": {"REGEX": ".+"}}]], {"POS": "NOUN"})
    ruler.add([[{"LOWER": "like"}]], {"POS": "VERB"})
    pipeline.to_disk(tmp_path / "tagger")
    spacy.blank("en").to_disk(tmp_path / "empty")
    corpus = make_pairs((("They like be done", "They like it to be done", "posts"),))
    chosen = Chosen(study=None, corpus=corpus, runs=())
    uses = {}
    for tagger in (None, str(tmp_path / "tagger")):
        _report, document = compute("dataset", chosen, resamples=100, tagger=tagger)
        rows = {row["name"]: row for row in rows_of(document, "features")}
        uses[tagger] = rows["habitual_be"]["source_uses"]
        said = "closed lists" if tagger is None else f"spaCy {spacy.__version__}"
        assert any(said in line for line in document.method)
    assert list(uses.values()) == ["0", "1"]
    with pytest.raises(ReportError, match="gives no parts of speech"):
        compute("dataset", chosen, resamples=100, tagger=str(tmp_path / "empty"))
    with pytest.raises(ReportError, match="no spaCy pipeline “nowhere”"):
        compute("dataset", chosen, resamples=100, tagger="nowhere")


def test_toxicity_without_a_list_is_absent_and_said_to_be(client):
    report = build(make_pairs())
    page = read(report, "report.html").decode()
    assert "no word list was given" in page
    assert "Hits" not in page


def test_statement_holds_what_the_corpus_says_and_what_it_does_not():
    report = build(make_pairs(curation_rationale="To study rewriting."))
    page = read(report, "report.html").decode()
    assert "To study rewriting." in page
    assert "Not stated." in page
    assert "4 pairs came with the corpus." in page


def test_workbook_has_a_sheet_for_every_table_with_numbers_as_numbers():
    corpus = make_pairs((("=1+1 ain't", "one and one", "=SUM(A1)"), ("a b", "a b", "x")))
    report = build(corpus)
    book = openpyxl.load_workbook(io.BytesIO(read(report, "report.xlsx")))
    assert book.sheetnames == [
        "Report",
        "sources",
        "types",
        "length_difference",
        "features",
    ]
    sheet = book["sources"]
    assert sheet.freeze_panes == "B2"
    found = {row[0].value: row for row in sheet.iter_rows(min_row=2)}
    assert isinstance(found["All"][1].value, int)
    assert isinstance(found["All"][2].value, float)
    assert "'=SUM(A1)" in found


def test_json_is_the_whole_record():
    report = build(make_pairs())
    content = json.loads(read(report, "report.json"))
    assert content["result"] == report.result
    assert content["inputs"]["hashes"] == report.inputs["hashes"]
    assert content["report"] == report.public_id


def test_pdf_is_a_pdf_and_every_file_is_made_alike_twice():
    report = build(make_pairs())
    assert read(report, "report.pdf").startswith(b"%PDF-")
    again = render_files(report, get_kind("dataset").document(report, {}))
    for file in again:
        assert file.content == read(report, file.name), file.name


def test_without_pango_everything_but_the_pdf_is_there(client, monkeypatch):
    def no_pango():
        raise rendering.PdfUnavailableError("WeasyPrint cannot load Pango (libpango-1.0-0).")

    # The libraries are installed where tests run, so their absence is put in by hand.
    monkeypatch.setattr(rendering, "import_weasyprint", no_pango)
    assert rendering.render_pdf is rendering.render_pdf
    report = build(make_pairs())
    names = set(report.files.values_list("name", flat=True))
    assert "report.pdf" not in names
    assert {"report.html", "report.xlsx", "report.json"} <= names
    client.force_login(User.objects.create_superuser("boss"))
    page = client.get(reverse("reports:page", args=[report.public_id])).content.decode()
    assert "lacks the Pango libraries" in page


def test_report_on_a_private_corpus_does_not_exist_for_others(client):
    alice = User.objects.create_user("alice", is_staff=True)
    report = build(make_pairs(is_shared=False, owner=alice))
    address = reverse("reports:page", args=[report.public_id])
    client.force_login(alice)
    assert client.get(address).status_code == 200
    client.force_login(User.objects.create_user("charlie", is_staff=True))
    assert client.get(address).status_code == 404


def test_corpus_without_pairs_is_refused():
    with pytest.raises(ReportError, match="has no pair to describe"):
        request_report(kind="dataset", corpus=make_pairs(()))


def test_unknown_word_list_is_named():
    with pytest.raises(ReportError, match="no word list “swearing”"):
        request_report(kind="dataset", corpus=make_pairs(), parameters={"word_list": "swearing"})


def test_missing_corpus_is_asked_for():
    with pytest.raises(ReportError, match="A corpus is missing"):
        request_report(kind="dataset")
