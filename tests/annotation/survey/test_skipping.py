"""Groups and lines that participants leave out: what is stored, asked, counted, and exported."""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections import Counter
from datetime import timedelta
from itertools import groupby
from pathlib import Path

import pyreadstat
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.common.table_formats import stream_spss
from annotation.common.tables import Table, stream_csv
from annotation.exports.ratings import build_page_table, build_rating_table
from annotation.exports.study_tables import build_participant_table
from annotation.instruments.versions import current_instrument
from annotation.models import (
    CheckKind,
    MissingRating,
    PageEvent,
    Rating,
    Skipping,
    Study,
    Submission,
)
from annotation.studies.creation import create_study
from annotation.studies.erasure import erase_answers
from annotation.studies.quality import FlagName, assess_submissions
from annotation.studies.quality.record_loader import load_usual
from annotation.studies.quotas import count_quotas
from annotation.studies.rejection_grounds import find_fast
from annotation.survey.own_answers import list_own_answers
from tests.annotation.survey.conftest import SCALES, PersonMaker, StudyMaker
from tests.annotation.survey.guises import make_guise_study
from tests.annotation.survey.participants import Person

pytestmark = pytest.mark.django_db

BY_LINE = {"skipping": Skipping.LINE}


def leave_out(person: Person, kind: str) -> None:
    """Leave out the group on the page, with one line answered before."""
    page = person.see().page
    line = SCALES[0]
    sent = {**page.fields, f"value-{line}": "70", f"touched-{line}": "1", "skip": kind}
    assert person.connection.post(page.action, sent).status == 302


def begin(study: Study, make_person: PersonMaker) -> Person:
    person = make_person()
    person.start(study.get_absolute_url())
    return person


def read(table: Table) -> list[dict[str, str]]:
    text = b"".join(stream_csv(table)).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_the_default_study_offers_it_once_for_each_group_and_the_printed_one_never() -> None:
    made = {"title": "A", "owner": None, "contact_email": "lab@example.org"}
    offered = {"": "group", "short-abc": "group", "cao-2022-as-printed": "never"}
    for preset, skipping in offered.items():
        instrument = current_instrument(create_study(preset=preset, **made))
        assert instrument is not None
        assert instrument.skipping == skipping


def test_checks_of_a_group_that_is_left_out_come_after_the_next_one_that_is_rated(
    make_study: StudyMaker, make_person: PersonMaker
) -> None:
    checks = ["group_name", "marked_traits"]
    study = make_study(flow=["rating", *checks, "rating", "rating", checks[0], "repeat"])
    person = begin(study, make_person)
    leave_out(person, "unknown")
    submission = study.submissions.get()
    # Neither check of the group comes; the next page is the second group.
    assert submission.step_index == 3
    assert not Rating.objects.exists()
    assert Counter(MissingRating.objects.values_list("kind", flat=True)) == {"unknown": len(SCALES)}
    assert [a.skipped for a in submission.assignments.filter(position=1)] == ["unknown"]
    seen = []
    while (shown := person.see()).page.fields.get("step"):
        seen.append(int(re.findall(r'max="7" value="(\d)" aria-label="Progress"', shown.html)[0]))
        assert person.send(shown.page).status == 302
    # The bar never goes back.
    assert seen == [3, 3, 3, 4, 5, 6]
    submission.refresh_from_db()
    assert submission.outcome == "completed"
    pages = submission.pages.order_by("pk").values_list("step_index", flat=True)
    assert list(pages) == [0, 3, 1, 2, 4, 5, 6]
    parts = [part for part, _rows in groupby(list_own_answers(submission), key=lambda a: a.part)]
    assert [part == "A short check" for part in parts] == [False, False, True, False, True, False]
    second, third = submission.assignments.filter(position__in=[2, 3])
    named = submission.checks.filter(kind=CheckKind.GROUP_NAME).order_by("step_index")
    assert [check.expected["group"] for check in named] == [second.group.slug, third.group.slug]
    # The repeated group is one that was rated; the last one is not, where there is another.
    assert submission.assignments.get(is_repeat=True).group == second.group
    assert submission.self_agreement == 1


def test_a_check_never_asks_twice_about_one_group(
    make_study: StudyMaker, make_person: PersonMaker
) -> None:
    study = make_study(flow=["rating", "group_name", "rating", "group_name", "rating"])
    person = begin(study, make_person)
    leave_out(person, "declined")
    person.go_on()
    submission = study.submissions.get()
    pages = submission.pages.order_by("pk").values_list("step_index", flat=True)
    assert list(pages) == [0, 2, 3, 4, 1]


def test_checks_that_could_not_be_shown_are_on_record_and_on_the_review_page(
    make_study: StudyMaker, make_person: PersonMaker, admin_client: Client
) -> None:
    study = make_study(flow=["rating", "group_name", "marked_traits", "rating", "repeat"])
    person = begin(study, make_person)
    leave_out(person, "unknown")
    leave_out(person, "declined")
    submission = study.submissions.get()
    assert submission.state == "finished"
    assert submission.checks_passed is None
    assert set(submission.checks.values_list("kind", "passed")) == {
        (CheckKind.GROUP_NAME, None),
        (CheckKind.MARKED_TRAITS, None),
        (CheckKind.REPEATED_GROUP, None),
    }
    assert "You rated 0 groups on 0 lines. You left out 2 groups." in person.see().page.text
    page = admin_client.get(reverse("admin:annotation_submission_review", args=[submission.pk]))
    told = page.content.decode()
    assert told.count("Not asked: the groups that it could ask about were left out") == 6
    assert told.count("Left out: ") == 2
    assert "Not defined" not in told
    [row] = read(build_participant_table(study))
    assert [row[f"check_{kind}"] for kind in ("group_name", "repeated_group")] == ["not asked"] * 2


def test_what_a_study_does_not_offer_is_refused(
    make_study: StudyMaker, make_person: PersonMaker
) -> None:
    for skipping, field, value in (
        (Skipping.NEVER, "skip", "declined"),
        (Skipping.GROUP, "skip", "bored"),
        (Skipping.GROUP, f"skip-{SCALES[0]}", "declined"),
        (Skipping.LINE, "skip-other", "declined"),
    ):
        study = make_study(flow=["rating"], instrument_options={"skipping": skipping})
        person = begin(study, make_person)
        page = person.see().page
        assert person.send(page, **{field: value}).status == 400
    assert not MissingRating.objects.exists()
    assert not Rating.objects.exists()


def test_single_lines_are_left_out_where_the_study_offers_it(
    make_study: StudyMaker, make_person: PersonMaker
) -> None:
    flow = ["rating", "marked_traits", "rating", "repeat"]
    study = make_study(flow=flow, instrument_options=BY_LINE)
    person = begin(study, make_person)
    page = person.see().page
    first, second, *others = SCALES
    refused = person.connection.post(page.action, {**page.fields, f"skip-{first}": "declined"})
    # The choice stays on the page while the open lines are named.
    assert refused.status == 422
    assert '<option value="declined" selected>' in refused.html
    assert "3 lines are not answered yet." in refused.page.text
    kinds = {first: "declined", second: "unknown"}
    sent = {f"skip-{line}": kind for line, kind in kinds.items()}
    assert person.send(page, **sent).status == 302
    assert dict(MissingRating.objects.values_list("scale__slug", "kind")) == kinds
    assert {*Rating.objects.values_list("scale__slug", flat=True)} == {*others}
    submission = study.submissions.get()
    assert not submission.assignments.exclude(skipped="").exists()
    person.go_on()
    # What was rated both times is compared: two of four lines.
    repeated = submission.checks.get(kind=CheckKind.REPEATED_GROUP)
    assert repeated.answer["scales"] == 2
    assert repeated.passed


def test_a_page_of_lines_all_left_out_counts_as_a_group_left_out(
    make_study: StudyMaker, make_person: PersonMaker
) -> None:
    study = make_study(flow=["rating"], instrument_options=BY_LINE)
    person = begin(study, make_person)
    sent = {f"skip-{line}": "unknown" for line in SCALES}
    assert person.send(person.see().page, **sent).status == 302
    assert study.submissions.get().assignments.get().skipped == "unknown"


def test_a_group_that_is_left_out_takes_no_place_and_costs_no_pay(
    make_study: StudyMaker, make_person: PersonMaker
) -> None:
    study = make_study(flow=["rating", "rating"])
    person = begin(study, make_person)
    leave_out(person, "declined")
    person.go_on()
    submission = study.submissions.get()
    instrument = current_instrument(study)
    assert instrument is not None
    assert sum(quota.taken for quota in count_quotas(study, instrument=instrument)) == 1
    # As fast as nobody can be: twelve others took a minute.
    for number in range(12):
        other = begin(study, make_person)
        other.go_on()
        newest = study.submissions.order_by("pk").last()
        assert newest is not None
        moment = newest.started_at + timedelta(seconds=60 + number % 2)
        Submission.objects.filter(pk=newest.pk).update(finished_at=moment)
    for finished in study.submissions.order_by("pk")[:2]:
        Submission.objects.filter(pk=finished.pk).update(finished_at=finished.started_at)
    left_out, rated = study.submissions.order_by("pk")[:2]
    assert not find_fast(left_out)
    assert submission == left_out
    # The page that was left out is compared with no other's time.
    assert not left_out.pages.get(step_index=0).client.keys() - {"skipped"}
    flags = assess_submissions([left_out, rated])
    assert flags[left_out.pk].find(FlagName.HURRIED_PAGE) is not None  # the other page
    assert "1 rating page" in flags[left_out.pk].find(FlagName.HURRIED_PAGE).why


WAYS_OUT = {
    "never": {"en": "", "es": ""},
    "group": {
        "en": "You cannot leave out one line alone, but you can leave out the whole group:",
        "es": "No puedes omitir una sola línea, pero sí todo el grupo:",
    },
    "line": {
        "en": "You can leave out a line with the list below it, or the whole group:",
        "es": "Puedes omitir una línea con la lista que está debajo, o todo el grupo:",
    },
}


@pytest.mark.parametrize("skipping", WAYS_OUT)
@pytest.mark.parametrize("language", ["en", "es"])
def test_a_refused_page_says_what_can_be_left_out(
    make_study: StudyMaker, make_person: PersonMaker, skipping: str, language: str
) -> None:
    study = make_study(flow=["rating"], instrument_options={"skipping": skipping})
    person = begin(study, make_person)
    Submission.objects.update(language=language)
    page = person.see().page
    refused = person.connection.post(page.action, {"step": page.fields["step"]})
    assert refused.status == 422
    said = WAYS_OUT[skipping][language]
    assert said in refused.page.text
    # The choice is unfolded, and two links lead there: from the summary, and from the first line.
    on_page = re.sub(r"<template.*?</template>", "", refused.html, flags=re.DOTALL)
    assert on_page.count('href="#leave-out"') == (2 if said else 0)
    assert ('<details class="again" open>' in on_page) == bool(said)
    assert ('<input type="radio" id="leave-out"' in on_page) == bool(said)


def test_a_refused_page_of_a_text_says_that_the_text_can_be_left_out(
    make_person: PersonMaker,
) -> None:
    person = begin(make_guise_study(flow=["rating"]), make_person)
    page = person.see().page
    refused = person.connection.post(page.action, {"step": page.fields["step"]})
    said = "You cannot leave out one line alone, but you can leave out the whole text:"
    assert said in refused.page.text


def test_lines_left_out_are_not_time_saved(
    make_study: StudyMaker, make_person: PersonMaker
) -> None:
    study = make_study(flow=["rating"] * 3, instrument_options=BY_LINE)
    half = {f"skip-{slug}": "declined" for slug in SCALES[: len(SCALES) // 2]}
    for number in range(12):
        person = begin(study, make_person)
        for _page in range(3):
            person.send(person.see().page, **(half if number < 6 else {}))
    # Sixty seconds a page, thirty for those who leave out half of the lines.
    for event in PageEvent.objects.select_related("submission"):
        seconds = 60 * event.client.get("answered", 1)
        event.submitted_at = event.opened_at + timedelta(seconds=seconds)
        event.save()
    everybody = list(study.submissions.order_by("pk"))
    assert set(load_usual(study).page_medians.values()) == {60}
    found = assess_submissions(everybody)
    assert not any(one.find(FlagName.SPEEDING) for one in found.values())
    # As fast as nobody can be: still no ground to refuse pay, as the consent page promises.
    hasty = everybody[0]
    Submission.objects.filter(pk=hasty.pk).update(finished_at=hasty.started_at)
    for number, one in enumerate(everybody[1:]):
        finished = one.started_at + timedelta(seconds=180 + number % 2)
        Submission.objects.filter(pk=one.pk).update(finished_at=finished)
    assert not find_fast(Submission.objects.get(pk=hasty.pk))


def test_left_out_lines_are_exported_as_their_own_kinds_of_missing(
    make_study: StudyMaker, make_person: PersonMaker
) -> None:
    study = make_study(flow=["rating", "rating"], instrument_options=BY_LINE)
    person = begin(study, make_person)
    leave_out(person, "declined")
    group = study.submissions.get().assignments.get(position=1).group.slug
    person.send(person.see().page, **{f"skip-{SCALES[0]}": "unknown"})
    rows = read(build_rating_table(study))
    assert len(rows) == 8
    assert Counter((row["missing"], bool(row["value"])) for row in rows) == {
        ("declined", False): 4,
        ("unknown", False): 1,
        ("", True): 3,
    }
    assert {row["group"] for row in rows if row["missing"] == "declined"} == {group}
    # In the order of the pages.
    assert [row["group_position"] for row in rows] == ["1"] * 4 + ["2"] * 4
    pages = read(build_page_table(study))
    assert [pages[0][name.replace("-", "_")] for name in SCALES] == ["[declined]"] * 4
    assert pages[1][SCALES[0].replace("-", "_")] == "[unknown]"
    wide = read(build_participant_table(study))[0]
    assert Counter(wide.values())["[declined]"] == 4
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "participants.sav"
        path.write_bytes(b"".join(stream_spss(build_participant_table(study))))
        frame, about = pyreadstat.read_sav(str(path), user_missing=True)
        numbers, _about = pyreadstat.read_sav(str(path))
    column = next(name for name, value in wide.items() if value == "[declined]")
    code = frame[column][0]
    assert about.variable_value_labels[column][code] == "Would rather not answer"
    # To SPSS it is no number.
    assert numbers[column].isna().all()


def test_participants_read_erase_and_keep_what_they_left_out(
    make_study: StudyMaker, make_person: PersonMaker
) -> None:
    study = make_study(flow=["rating", "rating"])
    person = begin(study, make_person)
    leave_out(person, "declined")
    person.go_on()
    submission = study.submissions.get()
    answers = [row.answer for row in list_own_answers(submission)]
    # One line for the whole group.
    assert answers[0] == "I’d rather not answer"
    assert len(answers) == 5
    assert all(answer.isdigit() for answer in answers[1:])
    assert "You rated 1 group on 4 lines. You left out 1 group." in person.see().page.text
    assert erase_answers(submission, why="a test")["left_out"] == 4
    assert not MissingRating.objects.exists()
    assert not submission.assignments.exclude(skipped="").exists()


def test_the_last_page_says_which_lines_were_of_a_second_time(
    make_study: StudyMaker, make_person: PersonMaker
) -> None:
    study = make_study(flow=["rating", "rating", "repeat"])
    person = begin(study, make_person)
    person.go_on()
    said = "You rated 2 groups on 8 lines. You rated one of them a second time."
    assert said in person.see().page.text


def test_pages_say_that_it_does_not_change_the_pay_only_where_there_is_pay(
    make_study: StudyMaker, make_person: PersonMaker
) -> None:
    said = "Your payment does not depend on it."
    for reward in (200, 0):
        study = make_study(flow=["rating"], reward_cents=reward)
        text = begin(study, make_person).see().page.text
        assert "I don’t know this group, or I’d rather not answer" in text
        assert (said in text) is bool(reward)


def test_a_late_return_loses_no_place_over_a_group_that_was_left_out(
    make_study: StudyMaker, make_person: PersonMaker
) -> None:
    groups = ("elderly", "teenager")
    study = make_study(flow=["rating", "rating"], groups=groups, quota_per_group=1)
    person = begin(study, make_person)
    leave_out(person, "unknown")
    submission = study.submissions.get()
    Submission.objects.update(reserved_until=timezone.now() - timedelta(minutes=1))
    begin(study, make_person)  # takes both places
    person.connection.post(person.path, {"return": "yes"})
    submission.refresh_from_db()
    # Nothing is left to rate, and the visit ends as one that was gone through.
    assert submission.outcome == "completed"
