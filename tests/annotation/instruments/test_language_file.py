"""A language as a file: out, filled in, and back. What is wrong is named, nothing half stored."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.translation import get_language, gettext, ngettext

from annotation.instruments.languages.language_file import (
    LanguageFileError,
    import_language,
    stream_language,
)
from annotation.instruments.languages.language_service import add_known_language, remove_language
from annotation.instruments.languages.texts import PLACEHOLDER, find_missing, list_texts
from annotation.instruments.languages.ui_translation import speaking
from annotation.instruments.versions import create_version
from annotation.models import Instrument, MembershipRole, Study, StudyMembership, Submission
from annotation.studies.lifecycle import find_launch_problems, launch_study
from annotation.studies.pilot import start_pilot
from annotation.studies.readiness import Place, examine_study
from tests.annotation.survey.flows import choice, free_text, practice

pytestmark = pytest.mark.django_db

Rows = list[dict[str, str]]


@pytest.fixture
def study(make_study) -> Study:  # type: ignore[no-untyped-def]
    own = {"en": "- Where?"}
    flow = ["consent", practice(), "rating", choice(question=own), free_text(), "demographics"]
    return make_study(launched=False, flow=flow, groups=("elderly", "veteran"))


@pytest.fixture
def draft(study: Study) -> Instrument:
    return study.instruments.get()


def export(instrument: Instrument, language: str) -> Rows:
    text = b"".join(stream_language(instrument, language)).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def write(rows: Rows, *, columns: tuple[str, ...] = ("key", "source", "translation")) -> bytes:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue().encode()


def translate(rows: Rows) -> Rows:
    """Fill in every row: what is in brackets can only come from the file."""
    return [
        {**row, "translation": " ".join([f"[{row['key']}]", *PLACEHOLDER.findall(row["source"])])}
        for row in rows
    ]


def bring(instrument: Instrument, content: bytes, language: str = "fr") -> None:
    import_language(instrument=instrument, language=language, content=content, file_name="file.csv")


def test_file_holds_everything_that_participants_read(draft: Instrument) -> None:
    rows = {row["key"]: row["source"] for row in export(draft, "es")}
    assert rows["study.title"] == "How groups are seen"
    assert rows["question"] == "How do people in America view {group}?"
    assert rows["group.elderly.plural"] == "elderly people"
    assert rows["scale.cold-warm.low"] == "cold"
    assert rows["step.2.lines.1.left"] == "cold"
    assert rows["step.heard.options.2.text"] == "panel"
    # A spreadsheet would run a cell that begins with a minus.
    assert rows["step.heard.question"] == "'- Where?"
    assert any(key.startswith("question.state.option.new-york-") for key in rows)
    # The platform speaks Spanish itself; for French its own texts are in the file.
    assert not any(key.startswith("chrome.") for key in rows)
    french = {row["key"]: row["source"] for row in export(draft, "fr")}
    assert "Continue" in french.values()
    assert set(rows) < set(french)


def test_round_trip_adds_a_whole_language(study: Study, draft: Instrument, client: Client) -> None:
    bring(draft, write(translate(export(draft, "fr"))))
    draft.refresh_from_db()
    assert find_missing(list_texts(draft, "fr")) == []
    again = export(draft, "fr")
    assert [row["translation"] for row in again] == [
        row["translation"] for row in translate(export(draft, "fr"))
    ]
    assert draft.flow[3]["question"] == {"en": "- Where?", "fr": "[step.heard.question]"}
    assert find_launch_problems(study) == []
    launch_study(study=study)
    html = client.get(study.get_absolute_url(), HTTP_ACCEPT_LANGUAGE="fr").content.decode()
    assert '<html lang="fr" dir="ltr">' in html
    assert "[study.title]" in html
    assert "[chrome.start-" in html


def test_plural_forms_of_a_brought_language_count(draft: Instrument) -> None:
    bring(draft, write(translate(export(draft, "fr"))))
    words = dict(draft.wordings.filter(language="fr").values_list("key", "text"))
    forms = "About %(minutes)s minute", "About %(minutes)s minutes"
    with speaking("fr", words):
        assert ".one]" in ngettext(*forms, 1)
        assert ".other]" in ngettext(*forms, 7)
        assert gettext("Continue").startswith("[chrome.continue-")
        assert get_language() == "fr"
    assert gettext("Continue") == "Continue"


def test_apostrophe_against_formulas_does_not_come_back(draft: Instrument) -> None:
    rows = translate(export(draft, "es"))
    for row in rows:
        if row["key"] == "step.heard.question":
            row["translation"] = "'- ¿Dónde?"
        if row["key"] == "consent_title":
            row["translation"] = "'Antes'"
    bring(draft, write(rows), "es")
    draft.refresh_from_db()
    assert draft.flow[3]["question"]["es"] == "- ¿Dónde?"
    assert draft.wordings.get(language="es", key="consent_title").text == "'Antes'"


def change(key: str, **values: str) -> Callable[[Rows], Rows]:
    return lambda rows: [{**row, **values} if row["key"] == key else row for row in rows]


BAD_FILES: dict[str, tuple[Callable[[Rows], Rows], str]] = {
    "missing-row": (
        lambda rows: [row for row in rows if row["key"] != "group.elderly.plural"],
        "“group.elderly.plural” is missing: “elderly people”.",
    ),
    "empty": (change("scale.cold-warm.low", translation="  "), "has no translation of “cold”"),
    "unknown-key": (
        lambda rows: [*rows, {"key": "group.martian.plural", "source": "", "translation": "x"}],
        "“group.martian.plural” is no text of this version.",
    ),
    "twice": (lambda rows: [*rows, rows[0]], "“study.title” stands there twice."),
    "placeholder-lost": (change("question", translation="¿Y ellos?"), "It lacks “{group}”"),
    "placeholder-added": (
        change("consent_title", translation="{name}, %(n)s"),
        "It has “%(n)s”, “{name}”, which the source has not.",
    ),
    "source-changed": (
        change("group.elderly.plural", source="old people"),
        "translates another text, the source is “elderly people” by now",
    ),
    "null-character": (change("consent_title", translation="a\x00b"), "cannot be stored"),
    "too-long": (change("consent_title", translation="x" * 5001), "expected at most 5000"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_file_is_named_and_nothing_is_stored(draft: Instrument, name: str) -> None:
    spoil, told = BAD_FILES[name]
    add_known_language(instrument=draft, language="es")
    draft.refresh_from_db()
    before = list(draft.wordings.order_by("pk").values_list()), draft.flow
    with pytest.raises(LanguageFileError) as refusal:
        bring(draft, write(spoil(translate(export(draft, "es")))), "es")
    assert told in str(refusal.value)
    assert len(refusal.value.problems) == 1
    draft.refresh_from_db()
    assert (list(draft.wordings.order_by("pk").values_list()), draft.flow) == before


def test_every_problem_of_a_file_is_told_at_once(draft: Instrument) -> None:
    rows = export(draft, "es")
    with pytest.raises(LanguageFileError) as refusal:
        bring(draft, write(rows), "es")
    assert len(refusal.value.problems) == len(rows)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "The file is empty"),
        (b"key,text\na,b\n", "has no column “translation”"),
        (b"key,translation\n", "holds no row"),
        (b"\xff\xfek", "UTF-16"),
        (b'key,translation\n"a,b\n', "breaks off"),
    ],
    ids=["empty", "columns", "rows", "utf-16", "quotes"],
)  # fmt: skip
def test_file_that_cannot_be_read_says_why(draft: Instrument, content: bytes, told: str) -> None:
    with pytest.raises(LanguageFileError, match=told):
        bring(draft, content)


@pytest.mark.parametrize(("language", "told"), [("en", "own language"), ("e!", "no language code")])
def test_language_that_cannot_be_added_says_why(
    draft: Instrument, language: str, told: str
) -> None:
    with pytest.raises(LanguageFileError, match=told):
        bring(draft, write(translate(export(draft, "fr"))), language)


def test_frozen_version_takes_no_language_and_its_next_version_keeps_it(
    study: Study, draft: Instrument
) -> None:
    content = write(translate(export(draft, "fr")))
    bring(draft, content)
    launch_study(study=study)
    with pytest.raises(LanguageFileError, match="is frozen"):
        bring(Instrument.objects.get(pk=draft.pk), content)
    assert find_missing(list_texts(create_version(study=study), "fr")) == []


def test_removed_language_leaves_no_trace(study: Study, draft: Instrument) -> None:
    flow = draft.flow
    bring(draft, write(translate(export(draft, "fr"))))
    remove_language(instrument=draft, language="fr")
    draft.refresh_from_db()
    assert draft.flow == flow
    assert set(draft.wordings.values_list("language", flat=True)) == {"en"}


def test_reworded_option_is_missing_again(study: Study, draft: Instrument) -> None:
    bring(draft, write(translate(export(draft, "fr"))))
    question = draft.questions.get(slug="gender")
    question.options = ["Man", "Woman, or girl", "Non-binary", "I describe myself:"]
    question.save()
    draft = Instrument.objects.get(pk=draft.pk)
    assert [key.rsplit("-", 1)[0] for key in find_missing(list_texts(draft, "fr"))] == [
        "question.gender.option.woman-or-girl"
    ]
    assert "Français: “Woman, or girl”." in "".join(find_launch_problems(study))


def stale_keys(draft: Instrument, language: str = "fr") -> list[str]:
    newest = Instrument.objects.get(pk=draft.pk)
    return [text.key for text in list_texts(newest, language) if text.is_stale]


def reword(draft: Instrument) -> None:
    """Change two texts, one of them in a step, and the white space of a third."""
    draft.wordings.filter(language="en", key="consent_title").update(text="Before you begin")
    body = draft.wordings.get(language="en", key="consent_body")
    body.text = body.text.replace(" ", "  ")
    body.save()
    draft.refresh_from_db()
    draft.flow[3]["question"]["en"] = "Where from?"
    draft.save()


REWORDED = ["consent_title", "step.heard.question"]


def test_translation_that_fell_behind_is_told_before_the_launch(
    study: Study, draft: Instrument, admin_client: Client
) -> None:
    bring(draft, write(translate(export(draft, "fr"))))
    assert stale_keys(draft) == []
    reword(draft)
    assert stale_keys(draft) == REWORDED
    found = [one for one in examine_study(study, draft) if one.place == Place.LANGUAGES]
    assert [(one.text, one.blocks) for one in found] == [
        (
            "Reworded since they were translated into Français: Consent: Title, “Where from?”. "
            "Until they are translated again, the survey is not offered in that language.",
            False,
        )
    ]
    languages = reverse("admin:annotation_instrument_languages", args=[draft.pk])
    overview = admin_client.get(reverse("admin:annotation_study_overview", args=[study.pk]))
    assert f'<a href="{languages}">Change it</a>' in overview.content.decode()
    page = admin_client.get(languages).content.decode()
    assert "2 of" in page
    assert "Before you begin" in page
    # Nobody has looked at them on the way into the next version.
    launch_study(study=study)
    assert stale_keys(create_version(study=study)) == REWORDED


def test_translation_fits_again_once_it_is_renewed_or_looked_at(
    study: Study, draft: Instrument, admin_client: Client
) -> None:
    bring(draft, write(translate(export(draft, "fr"))))
    reword(draft)
    # By hand, in the editor of the flow.
    draft.flow[3]["question"]["fr"] = "D’où ?"
    draft.save()
    assert stale_keys(draft) == ["consent_title"]
    confirm = reverse("admin:annotation_instrument_language_action", args=[draft.pk, "confirm"])
    assert admin_client.get(confirm).status_code == 405
    admin_client.post(confirm, {"language": "fr"})
    assert stale_keys(draft) == []
    reword(draft)
    draft.wordings.filter(language="en", key="consent_title").update(text="Hello")
    assert stale_keys(draft) == ["consent_title"]
    bring(draft, write(translate(export(Instrument.objects.get(pk=draft.pk), "fr"))))
    assert stale_keys(draft) == []


def test_adding_the_platforms_texts_does_not_hide_what_fell_behind(draft: Instrument) -> None:
    add_known_language(instrument=draft, language="es")
    reword(draft)
    assert stale_keys(draft, "es") == ["consent_title"]  # the step's question was never translated
    add_known_language(instrument=Instrument.objects.get(pk=draft.pk), language="es")
    assert stale_keys(draft, "es") == ["consent_title"]
    remove_language(instrument=draft, language="es")
    assert Instrument.objects.get(pk=draft.pk).translated_from == {}


def test_only_who_may_change_the_study_takes_translations_as_right(
    study: Study, draft: Instrument, client: Client
) -> None:
    bring(draft, write(translate(export(draft, "fr"))))
    reword(draft)
    viewer = User.objects.create_user("vera", password="x", is_staff=True)
    StudyMembership.objects.create(study=study, user=viewer, role=MembershipRole.VIEWER)
    client.force_login(viewer)
    confirm = reverse("admin:annotation_instrument_language_action", args=[draft.pk, "confirm"])
    assert client.post(confirm, {"language": "fr"}).status_code == 403
    assert stale_keys(draft) == REWORDED


def test_known_language_leaves_open_what_the_author_wrote(draft: Instrument) -> None:
    draft.wordings.filter(key="consent_title").update(text="Hello")
    add_known_language(instrument=draft, language="es-MX")
    missing = find_missing(list_texts(Instrument.objects.get(pk=draft.pk), "es-MX"))
    assert "consent_title" in missing
    assert "consent_body" not in missing
    assert "group.veteran.plural" not in missing


def test_command_writes_and_reads_files(
    study: Study, draft: Instrument, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "fr.csv"
    call_command("instrument_language", "export", study.public_id, "fr", str(file))
    with pytest.raises(CommandError, match="has no translation"):
        call_command("instrument_language", "import", study.public_id, "fr", str(file))
    rows = list(csv.DictReader(io.StringIO(file.read_text(encoding="utf-8-sig"))))
    file.write_bytes(write(translate(rows)))
    call_command("instrument_language", "import", study.public_id, "fr", str(file))
    assert f"{len(rows)} texts in “fr”" in capsys.readouterr().out
    call_command("instrument_language", "add", study.public_id, "es")
    for arguments, told in (
        (("export", "nothing", "fr", "x"), "No study"),
        (("export", study.public_id, "!", "x"), "no language code"),
        (("import", study.public_id, "fr"), "No file is named"),
        (("import", study.public_id, "fr", str(tmp_path / "no.csv")), "cannot be read"),
        (("add", study.public_id, "fr"), "no texts in “fr”"),
    ):
        with pytest.raises(CommandError, match=told):
            call_command("instrument_language", *arguments)


def test_page_adds_and_removes_languages(
    admin_client: Client, study: Study, draft: Instrument
) -> None:
    def address(name: str, *action: str) -> str:
        return reverse(f"admin:annotation_instrument_{name}", args=[draft.pk, *action])

    page, add = address("languages"), address("language_action", "add")
    assert "Add Español" in admin_client.get(page).content.decode()
    assert admin_client.post(add, {"language": "es"}).status_code == 302
    html = admin_client.get(page).content.decode()
    assert "Add Español" not in html
    assert "missing" in html  # the title and the author's own steps
    answer = admin_client.get(address("language_file"), {"language": "ar"})
    rows = list(
        csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig")))  # type: ignore[attr-defined]
    )
    assert f"-{study.public_id}-v1-ar.csv" in answer["Content-Disposition"]
    bad = io.BytesIO(write(rows))
    bad.name = "ar.csv"
    refused = admin_client.post(page, {"language": "ar", "file": bad})
    assert refused.status_code == 422
    assert f"{len(rows)} things are wrong with this file." in refused.content.decode()
    good = io.BytesIO(write(translate(rows)))
    good.name = "ar.csv"
    assert admin_client.post(page, {"language": "ar", "file": good}).status_code == 302
    html = admin_client.get(page).content.decode()
    assert "right to left" in html
    assert f"all {len(rows)}" in html
    asked = admin_client.post(address("language_action", "remove"), {"language": "ar"})
    assert "Download the file to keep them." in asked.content.decode()
    assert draft.wordings.filter(language="ar").exists()
    admin_client.post(address("language_action", "remove"), {"language": "ar", "confirmed": "yes"})
    assert not draft.wordings.filter(language="ar").exists()
    assert admin_client.post(page, {"language": "<b>", "file": good}).status_code == 422
    launch = study.instruments.get()
    launch.frozen_at, launch.content_hash = "2026-01-01T00:00Z", "x"
    launch.save()
    assert admin_client.post(page, {"language": "ar", "file": good}).status_code == 403
    assert admin_client.post(add, {"language": "es"}).status_code == 403


def test_outsider_sees_no_languages(client: Client, study: Study, draft: Instrument) -> None:
    page = reverse("admin:annotation_instrument_languages", args=[draft.pk])
    assert client.get(page).status_code == 302  # to the log-in
    charlie = User.objects.create_user("charlie", password="a-long-one-1", is_staff=True)
    client.force_login(charlie)
    assert client.get(page).status_code == 404


def test_survey_is_not_offered_in_a_language_that_fell_behind(
    study: Study, draft: Instrument, client: Client
) -> None:
    bring(draft, write(translate(export(draft, "fr"))))
    draft.refresh_from_db()
    reword(draft)
    draft = Instrument.objects.get(pk=draft.pk)
    bring(draft, write(translate(export(draft, "de"))), language="de")
    start_pilot(study=study)
    landing = client.get(study.get_absolute_url(), HTTP_ACCEPT_LANGUAGE="fr")
    page = landing.content.decode()
    assert 'lang="en"' in page
    assert "language=de" in page
    assert "Français" not in page
    started = client.post(study.get_absolute_url(), {"language": "fr"})
    assert Submission.objects.get().language == "en"
    client.post(started.headers["Location"], {"language": "fr"})
    assert Submission.objects.get().language == "en"
