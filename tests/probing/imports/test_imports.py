"""Imports of what was made elsewhere: by page, command and API; nothing half stored."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.common.table_file import TableFileError
from annotation.imports.import_kind import (
    BadImportError,
    ImportRequest,
    import_file,
    import_kinds,
)
from annotation.judgments.error_coding import Passage, load_codings
from annotation.models import ASPECTS, Corpus, Counterpart, Judgment, Study
from probing.models import LanguageModel, ModelKind, Run, RunOrigin, RunStatus, Score, TextScore
from tests.annotation.studies.people import make_user
from tests.evaluation.reports.corpora import make_pairs
from tests.tokens import header_for

pytestmark = pytest.mark.django_db

SCORES = (
    "group,trait,template,value,reason\n"
    "women,cold - warm,that-group-is-trait,1.5,\n"
    "women,cold - warm,my own,0.5,\n"
    "man,cold-warm,that-group-is-trait,-0.25,\n"
    "man,cold-warm,my own,,refused\n"
    "man,poor-wealthy,my own,,refused\n"
)
MADE = {"model": "gpt-4", "revision": "2023-06", "measure": "set", "obtained": "Their appendix."}
ADDRESS = "admin:probing_run_import"


def bring(kind: str, content: str, *, name: str = "file.csv", **options: str) -> Any:
    request = ImportRequest(content.encode(), name, options)
    return import_file(import_kinds()[kind], request)


@pytest.fixture
def corpus() -> Corpus:
    return make_pairs()


def nothing_is_stored() -> bool:
    models = (Run, Score, TextScore, Counterpart, LanguageModel, Study, Judgment)
    return not any(model.objects.exists() for model in models)


# --- what becomes of a file -----------------------------------------------------------------------


def test_scores_become_a_finished_run_with_means_over_templates() -> None:
    """Means by hand: of 1.5 and 0.5; of −0.25 alone; of nothing, with the reason."""
    _done, plan = bring("scores", SCORES, **MADE)
    run = Run.objects.get()
    assert (run.status, run.origin, run.obtained) == (
        RunStatus.FINISHED,
        RunOrigin.IMPORTED,
        "Their appendix.",
    )
    assert (run.model.name, run.model.kind, run.model_revision) == (
        "gpt-4",
        ModelKind.UNKNOWN,
        "2023-06",
    )
    means = {
        (score.group, score.trait): (score.value, score.n, score.reason)
        for score in run.scores.filter(template="")
    }
    assert means == {
        ("woman", "cold-warm"): (1.0, 2, ""),
        ("man", "cold-warm"): (-0.25, 1, ""),
        ("man", "poor-wealthy"): (None, 0, "refused"),
    }
    assert plan.counts["templates"] == 2
    texts = {entry["slug"]: entry["text"] for entry in run.stimuli["templates"]}
    assert texts == {
        "that-group-is-trait": "That {singular} is {trait}.",
        "my own": "my own",
    }


def test_the_page_of_an_imported_run_begins_with_its_file_and_shows_no_rate(
    admin_client: Client,
) -> None:
    bring("scores", SCORES, name="their.csv", **MADE)
    run = Run.objects.get()
    page = admin_client.get(reverse("admin:probing_run_change", args=[run.pk])).content.decode()
    at = f"{run.finished_at:%b %Y %H:%M}"
    said = page.index("The values of this run were imported.")
    assert "imported from their.csv" in page[said : said + 400]
    assert at in page[said : said + 400]
    assert "Their appendix." in page[said : said + 600]
    assert said < page.index("What this run computes")
    assert "Nothing was stored" not in page
    assert "Shards a minute" not in page


def test_json_lines_and_a_producer_in_columns_are_read() -> None:
    row = {"group": "woman", "trait": "cold-warm", "value": 0.1, "model": "gpt-4", "measure": "set"}
    bring("scores", json.dumps(row), name="scores.jsonl", obtained="Their files.")
    (score,) = Score.objects.all()
    assert (score.value, score.template, score.run.model.name) == (0.1, "", "gpt-4")


def test_scores_keep_how_they_were_obtained_and_means_do_not_mix_it() -> None:
    bring(
        "scores",
        "group,trait,template,value,access\n"
        "women,cold - warm,a,1,full\nwomen,cold - warm,b,2,full\n"
        "man,cold-warm,a,1,full\nman,cold-warm,b,2,sampled\n",
        **MADE,
    )
    means = Score.objects.filter(template="").order_by("-group")
    assert [(row.group, row.value, row.access) for row in means] == [
        ("woman", 1.5, "full"),
        ("man", None, ""),
    ]
    assert "never averaged" in means[1].reason


def test_spans_and_counterparts_are_about_the_pairs_of_a_corpus(corpus: Corpus) -> None:
    about = {**MADE, "corpus": corpus.public_id, "measure": ""}
    spans = "pair,variety,value,n\np0,AAL,12.5,3\np0,WME,10,3\n"
    bring("spans", spans, **about)
    assert set(TextScore.objects.values_list("name", "condition", "trial", "value")) == {
        ("span_perplexity", "random", 0, 12.5),
        ("span_perplexity", "random", 0, 10.0),
    }
    bring("counterparts", "pair,variety,counterpart\np0,WME,He is late\np1,WME,\n", **about)
    found = Counterpart.objects.order_by("pk").values_list("body", "reason", "model")
    assert list(found) == [
        ("He is late", "", "gpt-4@2023-06"),
        ("", "empty in the file that was imported", "gpt-4@2023-06"),
    ]


def test_judgments_of_counterparts_that_stand_in_the_file(corpus: Corpus) -> None:
    content = (
        "pair,variety,producer,annotator,human_likeness,linguistic_match,meaning_preservation,"
        "tone_preservation,counterpart\n"
        "p0,WME,human,1,5,5,5,4,\n"
        "p0,WME,gpt-4,1,3,4,5,2,He is late\n"
        "p0,WME,gpt-4,2,2,4,5,2,He is late\n"
    )
    options = {"corpus": corpus.name, "obtained": "By us, on paper.", "title": "On paper"}
    bring("judgments", content, **options)
    study = Study.objects.get()
    assert (study.status, study.judgment_items.count()) == ("closed", 2)
    assert study.judging.overlap_percent == 50
    assert Judgment.objects.count() == 3
    with pytest.raises(BadImportError) as caught:
        bring("judgments", content.replace("He is late", ""), **options)
    assert "Import the counterparts first" in str(caught.value.plan.problems[0])


CODED = (
    "pair,variety,producer,annotator,human_likeness,linguistic_match,meaning_preservation,"
    "tone_preservation,counterpart,errors\n"
    "p0,WME,gpt-4,1,3,4,5,2,He is late,{}\n"
    "p0,WME,gpt-4,2,2,4,5,2,He is late,\n"
)


def test_judgments_come_with_the_errors_that_judges_marked(corpus: Corpus) -> None:
    """“He is late” has ten characters: “is” is 3 to 5, “late” 6 to 10."""
    options = {"corpus": corpus.name, "obtained": "By us, on paper.", "title": "On paper"}
    bring("judgments", CODED.format("misread 6-10; invented 3-5"), **options)
    study = Study.objects.get()
    assert [category["slug"] for category in study.judging.error_scheme] == [
        "neutralized",
        "misread",
        "invented",
    ]
    marked = [(row.annotator, row.passages) for row in load_codings(study)]
    assert marked == [(1, (Passage("invented", 3, 5), Passage("misread", 6, 10))), (2, ())]
    bring("judgments", CODED.format("too-tame 0-2"), **options)
    assert Study.objects.latest("pk").judging.error_scheme == [
        {"slug": "too-tame", "name": "too-tame", "meaning": ""}
    ]


@pytest.mark.parametrize(
    ("cell", "scheme", "told"),
    [
        ("late", "", "“errors” has “late”, expected passages such as “misread 5-12”"),
        ("misread 6-11", "", "expected characters of the 10 of the counterpart"),
        ("misread 6-6", "", "expected characters of the 10 of the counterpart"),
        ("misread 0-5; misread 4-8", "", "passages of “misread” that overlap"),
        ("misread 0-5", "Missed: the point", "the category “misread”, expected one of: missed"),
    ],
)
def test_errors_that_cannot_be_read_are_named(
    corpus: Corpus, cell: str, scheme: str, told: str
) -> None:
    options = {"corpus": corpus.name, "obtained": "By us.", "title": "On paper", "scheme": scheme}
    with pytest.raises(BadImportError) as caught:
        bring("judgments", CODED.format(cell), **options)
    assert told in str(caught.value.plan.problems[0])
    assert not Study.objects.exists()


def test_categories_without_a_column_of_errors_are_refused(corpus: Corpus) -> None:
    options = {"corpus": corpus.name, "obtained": "By us.", "title": "T", "scheme": "Misread"}
    without = "\n".join(line.rpartition(",")[0] for line in CODED.format("").splitlines())
    with pytest.raises(ValidationError, match="no column “errors”"):
        bring("judgments", without, **options)


@pytest.mark.parametrize(
    ("kind", "content", "told"),
    [
        ("scores", "group,trait,value\nMartians,cold-warm,1\n", "which the library does not have"),
        ("scores", "group,trait,value\nwoman,warm - cold,1\n", "has its poles exchanged"),
        ("scores", "group,trait,value\nwoman,cold-warm,much\n", "expected a number"),
        ("scores", "group,trait,value,access\nwoman,cold-warm,1,all\n", "expected full, top_k"),
        ("scores", "group,trait,value\nwoman,cold-warm,nan\n", "expected a number"),
        ("scores", "group;trait;value\nwoman;cold-warm;1,234\n", "number with a decimal point"),
        (
            "scores",
            "group,trait,value\nwoman,cold-warm,1\nman,cold-warm,-9999\n",
            "Line 3: “value” is “-9999”, which stands for a missing number: the others are 1",
        ),
        (
            "scores",
            "group,trait,value\nwoman,cold-warm,0\nman,cold-warm,999.0\n",
            "Line 3: “value” is “999.0”",
        ),
        (
            "scores",
            "group,trait,value\nwoman,cold-warm,1\nwomen,cold-warm,1\n",
            "stands on line 2",
        ),
        ("spans", "pair,variety,value\np0,AAL,1\nnone,AAL,1\n", "“pair” is “none”"),
        ("spans", "pair,variety,value\np0,AAL,1\np0,XYZ,1\n", "expected AAL or WME"),
        (
            "counterparts",
            "pair,variety,counterpart,original\np0,WME,a,b\np1,WME,c,\n",
            "is not the text of “p0”",
        ),
    ],
)
def test_bad_rows_are_named_and_nothing_is_stored(
    corpus: Corpus, kind: str, content: str, told: str
) -> None:
    options = MADE if kind == "scores" else {**MADE, "measure": "", "corpus": corpus.public_id}
    with pytest.raises((BadImportError, TableFileError)) as caught:
        bring(kind, content, **options)
    if isinstance(caught.value, BadImportError):
        assert told in " ".join(map(str, caught.value.plan.problems))
    assert nothing_is_stored()


def test_a_score_of_99_among_its_like_is_a_score() -> None:
    bring("scores", "group,trait,value\nwoman,cold-warm,99\nman,cold-warm,52\n", **MADE)
    assert sorted(Score.objects.filter(template="").values_list("value", flat=True)) == [52, 99]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({**MADE, "obtained": ""}, "needed"),
        ({**MADE, "model": ""}, "Name the model"),
        ({**MADE, "measure": "magic"}, "expected"),
        ({**MADE, "parameters": "{"}, "cannot be read"),
        ({**MADE, "parameters": '{"color": "red"}'}, "cannot be read"),
        ({**MADE, "color": "red"}, "no option"),
        ({**MADE, "model": "x" * 161}, "160 at most"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, str], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        bring("scores", SCORES, **options)
    assert nothing_is_stored()


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        ("", "a.csv", "empty"),
        (SCORES, "a.pdf", "ends in .csv or .tsv"),
        ("model,group,trait,value\na,woman,cold-warm,1\nb,man,cold-warm,1\n", "a.csv", "one model"),
    ],
)
def test_files_that_cannot_be_read_are_refused(content: str, name: str, told: str) -> None:
    options = {name: value for name, value in MADE.items() if name != "model"}
    with pytest.raises((TableFileError, ValidationError), match=told):
        bring("scores", content, name=name, **options)
    assert nothing_is_stored()


# --- by page, command and API ---------------------------------------------------------------------


@pytest.fixture
def alice() -> Client:
    user = make_user("alice")
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="probing"))
    client = Client()
    client.force_login(user)
    return client


def fields(page: str) -> dict[str, str]:
    """Return the hidden fields that carry a file through its preview."""
    import re

    found = re.findall(r'<input type="hidden" name="(content|file_name)" value="([^"]*)"', page)
    return dict(found)


def test_the_page_shows_every_row_before_anything_is_stored(alice: Client) -> None:
    address = f"{reverse(ADDRESS)}?kind=scores"
    assert "template_text" in alice.get(address).content.decode()
    file = SimpleUploadedFile("scores.csv", SCORES.encode())
    page = alice.post(address, {**MADE, "file": file, "import": ""}).content.decode()
    assert "The file can be imported" in page
    assert nothing_is_stored()  # a new file is looked at first, whichever button was pressed
    answer = alice.post(address, {**MADE, **fields(page), "import": ""}, follow=True)
    assert answer.redirect_chain
    text = answer.content.decode()
    assert "Run" in text
    assert "Imported: Run" in text
    assert "Their appendix." in text
    listed = alice.get(reverse("admin:probing_run_changelist")).content.decode()
    assert "Imported" in listed
    assert "3 groups" not in listed
    again = alice.post(
        address,
        {**MADE, "file": SimpleUploadedFile("a.csv", b"group,trait,value\nx,y,1\n"), "preview": ""},
    )
    assert "which the library does not have" in again.content.decode()
    assert Run.objects.count() == 1


def test_others_do_not_reach_the_page() -> None:
    client = Client()
    user = User.objects.create_user("eve", is_staff=True)
    client.force_login(user)
    assert client.get(reverse(ADDRESS)).status_code == 403
    user.user_permissions.add(Permission.objects.get(codename="add_study"))
    page = client.get(f"{reverse(ADDRESS)}?kind=scores").content.decode()
    assert "?kind=ratings" in page
    assert "?kind=scores" not in page


RATINGS = {
    f"annotator{number}": {
        "women": {
            "cold - warm": number * 7,
            "poor - wealthy": number * 7,
            "powerless - powerful": (number * 31) % 100,
        }
    }
    for number in range(6)
}


def test_lists_lead_to_the_import_and_imported_judgments_say_so(
    alice: Client, corpus: Corpus
) -> None:
    user = User.objects.get(username="alice")
    user.user_permissions.add(
        *Permission.objects.filter(codename__in=("add_study", "add_judgmentstudy"))
    )
    for name, kind in (("study", "ratings"), ("judgmentstudy", "judgments")):
        page = alice.get(reverse(f"admin:annotation_{name}_changelist")).content.decode()
        assert f"/import/?kind={kind}" in page
    head = "pair,variety,producer,annotator," + ",".join(ASPECTS)
    request = ImportRequest(
        f"{head}\np0,WME,human,1,5,5,5,4\n".encode(),
        "a.csv",
        {"corpus": corpus.name, "obtained": "By us, on paper.", "title": "On paper"},
        User.objects.create_superuser("boss"),
    )
    done, _plan = import_file(import_kinds()["judgments"], request)
    alice.force_login(User.objects.get(username="boss"))
    page = alice.get(done.address).content.decode()
    assert "Imported" in page
    assert "By us, on paper." in page


def test_a_warning_is_confirmed_on_the_page_before_ratings_are_stored(alice: Client) -> None:
    user = User.objects.get(username="alice")
    user.user_permissions.add(Permission.objects.get(codename="add_study"))
    address = f"{reverse(ADDRESS)}?kind=ratings"
    file = SimpleUploadedFile("ratings.json", json.dumps(RATINGS).encode())
    page = alice.post(address, {"file": file, "preview": ""}).content.decode()
    assert "“cold - warm” and “poor - wealthy” hold identical ratings from all 6 people" in page
    assert "Import in spite of the warning" in page
    assert nothing_is_stored()
    answer = alice.post(address, {**fields(page), "import": "", "title": "Ours"}, follow=True)
    assert "hold identical ratings" in answer.content.decode()
    assert Study.objects.get().title == "Ours"


def test_the_command_prints_warnings_and_imports(tmp_path: Path) -> None:
    file = tmp_path / "ratings.json"
    file.write_text(json.dumps(RATINGS))
    out, err = io.StringIO(), io.StringIO()
    call_command("import_results", "ratings", file, "--dry-run", stdout=out, stderr=err)
    assert "18 ratings. Nothing was stored" in out.getvalue()
    assert "Warning: women: “cold - warm” and" in err.getvalue()
    assert nothing_is_stored()
    call_command("import_results", "ratings", file, stdout=out, stderr=err)
    assert Study.objects.exists()
    with pytest.raises(CommandError, match="imported before"):
        call_command("import_results", "ratings", file, stdout=out, stderr=err)


def test_the_command_names_bad_rows_and_leaves_them_out_on_demand(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(SCORES + "Martians,cold-warm,,1,\n")
    arguments = [f"--{name}={value}" for name, value in MADE.items()]
    out, err = io.StringIO(), io.StringIO()
    with pytest.raises(CommandError, match="1 place is bad"):
        call_command("import_results", "scores", file, *arguments, stdout=out, stderr=err)
    assert "Bad: Line 7: “group” is “Martians”" in err.getvalue()
    with pytest.raises(CommandError, match="1 place is bad"):
        call_command("import_results", "scores", file, *arguments, "--dry-run", stderr=err)
    assert nothing_is_stored()
    known = {"stdout": out, "stderr": err}
    call_command("import_results", "scores", file, *arguments, "--skip-bad-rows", **known)
    assert "8 scores, 2 groups, 2 trait pairs, 2 templates imported" in out.getvalue()


def test_the_api_imports_for_those_with_the_right() -> None:
    user = make_user("alice")
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=header_for(user))
    kinds = {kind["name"] for kind in client.get("/api/v1/imports/").json()}
    assert kinds >= {"ratings", "judgments", "norms", "scores", "spans", "counterparts"}
    assert kinds >= {"predictions", "labeled-templates", "lexicon", "labeled-texts", "text-pairs"}
    asked = {"kind": "scores", "file_name": "a.csv", "content": SCORES, "options": MADE}
    user.user_permissions.clear()
    assert client.post("/api/v1/imports/", asked, format="json").status_code == 403
    user.user_permissions.add(Permission.objects.get(codename="add_run"))
    tried = client.post("/api/v1/imports/", {**asked, "dry_run": True}, format="json")
    assert (tried.status_code, tried.json()["stored"]) == (200, False)
    assert nothing_is_stored()
    bad = client.post("/api/v1/imports/", {**asked, "content": "group\nx\n"}, format="json")
    assert bad.status_code == 400
    done = client.post("/api/v1/imports/", asked, format="json")
    assert done.status_code == 201
    run = client.get(f"/api/v1/runs/{done.json()['public_id']}/")
    if run.status_code == 200:
        assert run.json()["origin"] == "imported"
    assert Run.objects.get().created_by == user
