"""What researchers record of annotators, and where it shows: alice owns the study."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from annotation.annotators.statement import find_statement, record_statement
from annotation.models import Study, StudyKind
from annotation.studies.lifecycle import close_study
from evaluation.reports.parts.data_statement import load_statement
from tests.annotation.annotators.people import make_annotated_study
from tests.annotation.counterparts.studies import make_writing_study, tasks_of, write
from tests.annotation.judgments.corpora import launch, make_corpus, make_study
from tests.annotation.studies.people import make_user

pytestmark = pytest.mark.django_db

MEMBERS = {"memberships-TOTAL_FORMS": "0", "memberships-INITIAL_FORMS": "0"}


def section(study: Study, heading: str) -> str:
    """Return a section of the data statement of the study's corpus."""
    design = "writing" if study.kind == StudyKind.COUNTERPART_WRITING else "judging"
    parts = {
        part["heading"]: "\n".join(part["paragraphs"])
        for part in load_statement(getattr(study, design).corpus)
    }
    return parts[heading]


def test_parts_are_recorded_one_by_one_and_their_history_stays():
    study = make_annotated_study()
    assert find_statement(study).pk is None
    record_statement(study=study, pay="USD 25 an hour", training="Two hours\r\nof practice ")
    record_statement(study=study, background="Three native speakers")
    record_statement(study=study, background="Three native speakers")
    statement = find_statement(study)
    assert (statement.pay, statement.training, statement.background, statement.recruitment) == (
        "USD 25 an hour",
        "Two hours\nof practice",
        "Three native speakers",
        "",
    )
    assert statement.history.count() == 2
    with pytest.raises(ValidationError, match="3,001 characters, expected at most 3,000"):
        record_statement(study=study, pay="a" * 3001)
    with pytest.raises(ValueError, match="no part names"):
        record_statement(study=study, names="Ann and Ben")


def test_the_statement_says_what_is_recorded_and_what_is_not():
    study = make_writing_study("ann")
    write(tasks_of(study, "ann")[0], "He is about to leave")
    came = "How the counterparts came about"
    assert "Recruitment: not recorded. Training: not recorded. Pay: not recorded." in section(
        study, came
    )
    who = "Annotator demographics"
    assert section(study, who) == "Annotators of “Counterparts, spring”: not recorded."
    record_statement(study=study, pay="USD 25 an hour", background="One native speaker of AAL.")
    assert "Training: not recorded. Pay: USD 25 an hour." in section(study, came)
    assert section(study, who).endswith(": One native speaker of AAL.")


def test_a_study_without_work_adds_nothing_to_the_statement():
    study = make_writing_study("ann")
    record_statement(study=study, pay="USD 25 an hour")
    assert section(study, "Annotator demographics") == "Not stated."
    assert section(study, "How the counterparts came about") == "Not stated."


@pytest.mark.parametrize("kind", ["writing", "judgment"])
def test_the_researcher_records_it_in_the_settings_even_after_the_end(kind: str):
    alice = make_user("alice")
    if kind == "writing":
        study = make_writing_study("ann", owner=alice)
    else:
        study = launch(make_study(make_corpus(2), owner=alice), "ann", "ben")
    close_study(study=study)
    client = Client()
    client.force_login(alice)
    change = reverse(f"admin:annotation_{kind}study_change", args=[study.pk])
    assert "For the data statement" in client.get(change).content.decode()
    sent = {
        "title": study.title,
        "contact_email": study.contact_email,
        "recruitment": "Students of linguistics, asked by e-mail",
        "pay": "a" * 3001,
        **MEMBERS,
    }
    refused = client.post(change, sent).content.decode()
    assert "at most 3000 characters (it has 3001)" in refused
    assert find_statement(study).pk is None
    answer = client.post(change, sent | {"pay": "<b>USD 25</b> an hour"})
    assert answer.status_code == 302
    overview = reverse(f"admin:annotation_{kind}study_overview", args=[study.pk])
    page = client.get(overview).content.decode()
    assert "Students of linguistics, asked by e-mail" in page
    assert "&lt;b&gt;USD 25&lt;/b&gt; an hour" in page
    assert page.count("not recorded") == 2
