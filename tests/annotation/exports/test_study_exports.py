"""What the exports of a study hold and what they never hold."""

from __future__ import annotations

import csv
import io
import json
import re
import tracemalloc

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.common.tables import Table, stream_csv
from annotation.exports.downloads import build_download, build_payment_table
from annotation.exports.ratings import build_rating_table
from annotation.exports.study_tables import list_study_tables
from annotation.exports.submissions import build_submission_table
from annotation.imports.abc_ratings import import_abc_ratings
from annotation.models import (
    CheckKind,
    DemographicAnswer,
    DemographicQuestion,
    Panel,
    Rating,
    RejectionGround,
    StepAnswer,
    Study,
    StudyGroup,
    Submission,
    SubmissionState,
)
from annotation.studies.review_service import review_submission
from tests.annotation.studies.people import make_study, make_submission, make_user
from tests.annotation.survey.flows import choice, free_text

pytestmark = pytest.mark.django_db


def read(table: Table) -> list[dict[str, str]]:
    text = b"".join(stream_csv(table)).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_every_rating_is_one_row_in_the_scales_own_direction() -> None:
    study = make_study()
    submission = make_submission(study, value=73.25)
    rows = read(build_rating_table(study))
    # Four groups and the repeated one, 16 lines each.
    assert len(rows) == 5 * 16
    first = rows[0]
    rating = Rating.objects.get(
        assignment__submission=submission, assignment__position=1, scale__position=1
    )
    instrument = submission.instrument
    assert first == {
        "study": study.public_id,
        "origin": "collected",
        "submission": submission.public_id,
        "submission_state": "finished",
        "submission_origin": "live",
        "data_decision": "waiting",
        "checks_passed": "true",
        "group": rating.assignment.group.slug,
        "group_text": rating.assignment.group.plural,
        "group_position": "1",
        "is_repeat": "false",
        "scale": "powerless-powerful",
        "low": "powerless",
        "high": "powerful",
        "dimension": "agency",
        "value": "73.25",
        "scale_position": "1",
        "flipped": "false",
        "first_touch_ms": "901",
        "changes": "1",
        "means": "",
        "instrument_version": "1",
        "instrument_hash": instrument.content_hash,
        "arm": "",
        "missing": "",
    }
    assert {row["is_repeat"] for row in rows[-16:]} == {"true"}
    assert len(first["instrument_hash"]) == 64


def test_ratings_of_another_study_stay_out() -> None:
    study, other = make_study(), make_study(title="Another")
    make_submission(other)
    assert read(build_rating_table(study)) == []


def test_a_nasty_group_name_is_neutralized_and_its_rating_is_not() -> None:
    study = make_study()
    make_submission(study, groups=1, value=0.0)
    StudyGroup.objects.update(plural='=cmd|" /C calc"!A0')
    row = read(build_rating_table(study))[0]
    assert row["group_text"] == '\'=cmd|" /C calc"!A0'
    assert row["value"] == "0.0"


def test_rating_exports_cost_two_queries(django_assert_num_queries) -> None:
    study = make_study()
    for _ in range(3):
        make_submission(study)
    with django_assert_num_queries(2):
        read(build_rating_table(study))


def test_submissions_carry_times_checks_decisions_and_demographics() -> None:
    study = make_study()
    submission = make_submission(study, failed=[CheckKind.MARKED_TRAITS], minutes=9)
    questions = {question.slug: question for question in DemographicQuestion.objects.all()}
    for slug, value, declined in [
        ("age", 34, False),
        ("gender", ["Woman", "Non-binary"], False),
        ("state", "=Ohio", False),
        ("education", None, True),
    ]:
        DemographicAnswer.objects.create(
            submission=submission,
            question=questions[slug],
            value=value,
            declined=declined,
            own_words="=agender" if slug == "gender" else "",
        )
    rows = read(build_submission_table(study))
    assert len(rows) == 1
    row = rows[0]
    assert row["submission"] == submission.public_id
    assert (row["state"], row["outcome"]) == ("finished", "failed_check")
    assert (row["check_group_name"], row["check_marked_traits"]) == ("passed", "failed")
    assert row["checks_passed"] == "false"
    assert row["self_agreement"] == "0.875"
    assert float(row["seconds"]) == pytest.approx(540)
    assert row["demographic_age"] == "34"
    assert row["demographic_gender"] == "Woman; Non-binary"
    assert row["demographic_gender_own_words"] == "'=agender"
    assert row["demographic_race_own_words"] == ""
    assert "demographic_age_own_words" not in row
    assert row["demographic_state"] == "'=Ohio"
    assert row["demographic_education"] == "[declined]"
    assert row["demographic_area"] == ""
    assert row["demographic_years_in_state"] == ""
    # R and Stata take every name as it is.
    assert all(re.fullmatch(r"[a-z][a-z0-9_]{0,31}", name) for name in row)


def test_submissions_carry_their_flags_and_the_rule_of_their_self_agreement() -> None:
    study = make_study()
    straight = make_submission(study, minutes=9)
    make_submission(study, state=SubmissionState.IN_PROGRESS)
    undefined = make_submission(study, minutes=9)
    reason = "Kendall's tau is not defined: the first rating has all lines at one place."
    undefined.checks.filter(kind=CheckKind.REPEATED_GROUP).update(
        passed=None, reason=reason, expected={"rule": "kendall", "at_least": 0.5}
    )
    Submission.objects.filter(pk=undefined.pk).update(self_agreement=None)
    Rating.objects.filter(assignment__submission=undefined).update(changes=None)
    rows = {row["submission"]: row for row in read(build_submission_table(study))}
    row = rows[straight.public_id]
    assert (row["flag_straight_lining"], row["flag_few_touches"]) == ("true", "false")
    # Two people are too few to compare times with, and they came without ids.
    assert (row["flag_speeding"], row["flag_same_identity"]) == ("", "")
    assert (row["self_agreement_rule"], row["self_agreement_at_least"]) == ("same_side", "0.8")
    row = rows[undefined.public_id]
    assert row["check_repeated_group"] == "not defined"
    assert (row["self_agreement"], row["self_agreement_rule"]) == ("", "kendall")
    assert row["flag_few_touches"] == ""
    going_on = next(row for row in rows.values() if row["state"] == "in_progress")
    assert {value for name, value in going_on.items() if name.startswith("flag_")} == {""}


def test_a_check_that_could_not_be_asked_is_not_failed() -> None:
    study = make_study()
    submission = make_submission(study)
    submission.checks.filter(kind=CheckKind.MARKED_TRAITS).update(passed=None)
    assert read(build_submission_table(study))[0]["check_marked_traits"] == "not asked"


def test_imported_submissions_have_no_times() -> None:
    content = json.dumps({"a": {"women": {"cold - warm": "5"}}}).encode()
    study = import_abc_ratings(content=content, file_name="a.json").study
    row = read(build_submission_table(study))[0]
    assert (row["origin"], row["started_at"], row["finished_at"], row["seconds"]) == (
        "imported",
        "",
        "",
        "",
    )


def test_submission_exports_do_not_query_per_submission(django_assert_num_queries) -> None:
    study = make_study()
    for _ in range(4):
        make_submission(study)
    # Questions, flows, submissions with their instruments, checks, answers of both kinds; for the
    # flags: who has finished, times and flow, then pages, ratings, flow, and ids.
    with django_assert_num_queries(13):
        read(build_submission_table(study))


def test_data_exports_never_hold_an_external_id() -> None:
    study = make_study(panel=Panel.PROLIFIC)
    make_submission(study, external_id="5f8a1c2b9e")
    for name in (
        "ratings.csv",
        "ratings-codebook.csv",
        "submissions.csv",
        "submissions-codebook.csv",
    ):
        content = b"".join(build_download(study, name))
        assert b"5f8a1c2b9e" not in content, name
        token = Submission.objects.get().token.encode()
        assert token not in content, name


def test_payments_name_the_person_and_the_decision_but_not_the_submission() -> None:
    study = make_study(panel=Panel.PROLIFIC, reward_cents=240)
    paid = make_submission(study, external_id="bbb")
    rejected = make_submission(study, external_id="aaa")
    make_submission(study, external_id="ccc", state=SubmissionState.IN_PROGRESS)
    review_submission(
        submission=paid, reviewer=None, data_decision="accepted", pay_decision="approved"
    )
    review_submission(
        submission=rejected,
        reviewer=None,
        data_decision="excluded",
        pay_decision="rejected",
        reason="Every line at the left end.",
        on_ground=RejectionGround.LOW_EFFORT,
    )
    rows = read(build_payment_table(study))
    assert [row["external_id"] for row in rows] == ["aaa", "bbb", "ccc"]
    assert [row["pay_decision"] for row in rows] == ["rejected", "approved", "waiting"]
    assert (rows[0]["pay_ground"], rows[0]["reason"]) == (
        "low_effort",
        "Every line at the left end.",
    )
    assert (rows[1]["pay_ground"], rows[1]["reason"]) == ("", "")
    assert rows[1]["completion_code"] == study.completion_codes["completed"]
    assert rows[1]["reward_cents"] == "240"
    content = b"".join(stream_csv(build_payment_table(study)))
    assert paid.public_id.encode() not in content
    assert paid.participant.pseudonym.encode() not in content


def test_payments_stay_after_a_withdrawal() -> None:
    study = make_study(panel=Panel.PROLIFIC)
    make_submission(study, external_id="aaa", state=SubmissionState.WITHDRAWN)
    assert [row["state"] for row in read(build_payment_table(study))] == ["withdrawn"]


def test_payments_of_another_study_stay_out() -> None:
    study, other = make_study(panel=Panel.PROLIFIC), make_study(panel=Panel.PROLIFIC)
    make_submission(other, external_id="aaa")
    assert read(build_payment_table(study)) == []


@pytest.fixture
def large_study() -> Study:
    """200 annotators, 4 groups, 16 scales: 12,800 ratings."""
    pairs = [
        "powerless - powerful",
        "low status - high status",
        "dominated - dominant",
        "poor - wealthy",
        "unconfident - confident",
        "unassertive - competitive",
        "traditional - modern",
        "religious - science-oriented",
        "conventional - alternative",
        "conservative - liberal",
        "untrustworthy - trustworthy",
        "dishonest - sincere",
        "cold - warm",
        "threatening - benevolent",
        "repellent - likable",
        "egoistic - altruistic",
    ]
    data = {
        f"annotator{number}": {
            group: {pair: (number * 7 + place) % 101 for place, pair in enumerate(pairs)}
            for group in ("women", "men", "veterans", "teenagers")
        }
        for number in range(200)
    }
    return import_abc_ratings(content=json.dumps(data).encode(), file_name="large.json").study


def test_a_large_export_streams_with_bounded_memory(large_study: Study) -> None:
    response = build_download(large_study, "ratings.csv")
    assert response.streaming
    rows, size, most = -1, 0, 0
    tracemalloc.start()
    try:
        for chunk in response:
            rows += chunk.count(b"\r\n")
            size += len(chunk)
            most = max(most, len(chunk))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert rows == 12_800
    assert size > 2_500_000
    assert most < 250_000
    assert peak < 4_000_000


def test_answers_to_questions_of_the_flow_have_their_columns_and_codebook() -> None:
    study = make_study(flow=["rating", choice("heard", several=True), free_text("thoughts")])
    submission = make_submission(study)
    for index, (key, value) in enumerate(
        [("heard", ["friend", "other"]), ("thoughts", "=1+1 fun")], start=1
    ):
        StepAnswer.objects.create(submission=submission, step_index=index, key=key, value=value)
    make_submission(study)
    table = build_submission_table(study)
    rows = read(table)
    assert [(row["step_heard"], row["step_thoughts"]) for row in rows] == [
        ("friend; other", "'=1+1 fun"),
        ("", ""),
    ]
    described = {column.name: column for column in table.columns}
    assert described["step_heard"].values == (
        "friend: friend; panel: panel; other: other; empty: not answered"
    )
    assert described["step_heard"].meaning.startswith("Where did you hear of this study?")


def test_previews_and_pilots_are_exported_only_if_asked_for() -> None:
    study = make_study()
    for origin in ("live", "pilot", "preview"):
        submission = make_submission(study)
        Submission.objects.filter(pk=submission.pk).update(
            origin=origin, is_counted=origin == "live"
        )

    def origins(*include: str) -> set[str]:
        tables = (
            build_rating_table(study, include=include),
            build_submission_table(study, include=include),
        )
        found = [{row["submission_origin"] for row in read(table)} for table in tables]
        assert found[0] == found[1]
        return found[0]

    assert origins() == {"live"}
    assert origins("pilot") == {"live", "pilot"}
    assert origins("pilot", "preview") == {"live", "pilot", "preview"}
    with pytest.raises(ValueError, match="“draft” cannot be included"):
        build_rating_table(study, include=["draft"]).load()


def test_excluded_people_are_exported_only_if_asked_for(tmp_path, client) -> None:
    alice = make_user("alice")
    study = make_study(owner=alice)
    decided = {one: make_submission(study) for one in ("accepted", "waiting", "excluded")}
    for decision, submission in decided.items():
        Submission.objects.filter(pk=submission.pk).update(data_decision=decision)
        StepAnswer.objects.create(submission=submission, step_index=0, key="heard", value="x")
    counted = {decided[one].public_id for one in ("accepted", "waiting")}
    everyone = {submission.public_id for submission in decided.values()}

    def people(body: bytes) -> set[str]:
        return {json.loads(line)["submission"] for line in body.splitlines()}

    client.force_login(alice)
    for name, table in list_study_tables(study).items():
        for include, expected in (((), counted), (["excluded"], everyone)):
            place = [c.name for c in table.build(study, include).columns].index("submission")
            rows = table.build(study, include).load()
            assert {row[place] for row in rows} == expected, name
            query = "?" + "&".join(f"{extra}=1" for extra in include)
            for address in (
                reverse("admin:annotation_study_export", args=[study.pk, f"{name}.jsonl"]),
                f"/api/v1/studies/{study.public_id}/exports/{name}.jsonl/",
            ):
                answer = client.get(address + query)
                assert people(b"".join(answer.streaming_content)) == expected, address
            asked = ["--include", *include] if include else []
            options = ["--table", name, "--format", "jsonl", "--output", str(tmp_path)]
            call_command("export_study", study.public_id, *options, *asked, stdout=io.StringIO())
            (written,) = tmp_path.glob("*.jsonl")
            assert people(written.read_bytes()) == expected
            written.unlink()
    for name in ("ratings", "submissions"):
        answer = client.get(f"/api/v1/studies/{study.public_id}/{name}.csv/")
        text = b"".join(answer.streaming_content).decode()
        assert {row["submission"] for row in csv.DictReader(io.StringIO(text))} == counted
    rows = f"/api/v1/studies/{study.public_id}/ratings/"
    assert (
        client.get(rows).json()["count"]
        == 2 * client.get(f"{rows}?data_decision=excluded").json()["count"]
    )
    overview = reverse("admin:annotation_study_overview", args=[study.pk])
    for query, asked in (("", ""), ("?excluded=1", "?excluded=1")):
        page = client.get(overview + query).content.decode()
        assert "Exports hold the submissions that count, accepted or not reviewed yet." in page
        box = '<input type="checkbox" name="excluded" value="1"'
        assert f"{box}{' checked' if query else ''}> Excluded submissions" in page
        for name in (*list_study_tables(study), "ratings"):
            for end in ("csv", "sav"):
                assert f'{name}.{end}/{asked}"' in page, (name, end)


def test_file_and_codebook_say_whether_excluded_submissions_are_in(client) -> None:
    alice = make_user("alice")
    study = make_study(owner=alice)
    make_submission(study)
    client.force_login(alice)
    for name in list_study_tables(study):
        address = reverse("admin:annotation_study_export", args=[study.pk, f"{name}-codebook.csv"])
        data = address.replace("-codebook", "")
        for query, said, named in (
            ("", "excluded submissions are not in this file", f"{name}-2"),
            ("?excluded=1", "excluded submissions are in this file", f"{name}-with-excluded-2"),
        ):
            answer = client.get(address + query)
            codebook = b"".join(answer.streaming_content).decode()
            (line,) = (one for one in codebook.splitlines() if one.startswith("data_decision,"))
            assert said in line
            assert named in client.get(data + query)["Content-Disposition"]
