"""The pages of a study: what they say, what their buttons do, what they refuse."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.imports.abc_ratings import import_abc_ratings
from annotation.instruments.documents.document import write_document
from annotation.instruments.versions import create_version
from annotation.models import (
    CheckKind,
    Panel,
    SocialGroup,
    Study,
    StudyMembership,
    StudyStatus,
    SubmissionState,
    TraitPair,
)
from annotation.researcher.studies.svg_charts import draw_slots
from annotation.studies.quotas import count_quotas
from annotation.studies.review_service import review_submission
from tests.annotation.researcher.conftest import log_in, save
from tests.annotation.studies.people import make_study, make_submission

pytestmark = pytest.mark.django_db


def overview(study: Study) -> str:
    return reverse("admin:annotation_study_overview", args=[study.pk])


def act(client: Client, study: Study, action: str) -> str:
    address = reverse("admin:annotation_study_action", args=[study.pk, action])
    sent = {"confirmed": "yes"} if action in {"launch", "launch-with-pilot", "close"} else {}
    return client.post(address, sent, follow=True).content.decode()


def text_of(page: str) -> str:
    """Return a page's words with single blanks, tags left out."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


# --- creating -------------------------------------------------------------------------------------


def new_study_values(**changes: object) -> dict[str, object]:
    values: dict[str, object] = {
        "title": "Spring",
        "contact_email": "lab@example.org",
        "ethics_reference": "",
        "quota_per_group": 12,
        "quota_rule": "hard",
        "reservation_minutes": 30,
        "pilot_places": 10,
        "panel": "prolific",
        "reward_cents": 250,
        "currency": "gbp",
        "estimated_minutes": 9,
        "withdraw_until": "",
        "single_groups": list(
            SocialGroup.objects.filter(
                slug__in=["woman", "man", "veteran", "teenager", "average"]
            ).values_list("pk", flat=True)
        ),
        "trait_pairs": list(
            TraitPair.objects.filter(dimension="agency").values_list("pk", flat=True)
        ),
        "scale_order": "fixed",
        "pole_sides": "fixed",
        "show_ticks": "on",
    }
    return values | changes


def test_a_new_study_is_a_draft_of_its_creator_with_the_chosen_content(alice: User) -> None:
    response = log_in(alice).post(reverse("admin:annotation_study_add"), new_study_values())
    study = Study.objects.get()
    assert response["Location"] == overview(study)
    assert (study.owner, study.status, study.currency) == (alice, "draft", "GBP")
    assert (study.quota_per_group, study.panel, study.reward_cents) == (12, "prolific", 250)
    instrument = study.instruments.get()
    assert {group.slug for group in instrument.groups.all()} == {
        "woman",
        "man",
        "veteran",
        "teenager",
        "average",
    }
    assert instrument.scales.count() == 6
    assert (instrument.scale_order, instrument.pole_sides) == ("fixed", "fixed")
    assert instrument.show_ticks


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"title": ""}, "This field is required."),
        ({"contact_email": "nobody"}, "Enter a valid email address."),
        ({"quota_per_group": 0}, "greater than or equal to 1"),
        ({"currency": "$"}, "Enter three letters such as USD, not “$”."),
        (
            {"single_groups": []},
            "Choose at least 4 groups, one for each rating page.",
        ),
        ({"trait_pairs": []}, "This field is required."),
        ({"single_groups": [999_999]}, "not one of the available choices"),
    ],
)
def test_a_wrong_study_is_refused_at_the_field_and_nothing_is_stored(
    alice: User, changes: dict[str, object], expected: str
) -> None:
    response = log_in(alice).post(
        reverse("admin:annotation_study_add"), new_study_values(**changes)
    )
    assert response.status_code == 200
    assert expected in response.content.decode().replace("&quot;", '"')
    assert not Study.objects.exists()


# --- the life cycle -------------------------------------------------------------------------------


def test_buttons_lead_a_study_through_its_life(alice: User) -> None:
    study = make_study(owner=alice, launched=False)
    client = log_in(alice)
    for action, status in [
        ("launch", StudyStatus.LIVE),
        ("pause", StudyStatus.PAUSED),
        ("launch", StudyStatus.LIVE),
        ("close", StudyStatus.CLOSED),
        ("archive", StudyStatus.ARCHIVED),
    ]:
        act(client, study, action)
        study.refresh_from_db()
        assert study.status == status, action
    assert study.instruments.get().is_frozen


def test_chosen_studies_are_archived_at_once_where_that_is_possible(
    alice: User, study: Study
) -> None:
    drafts = [make_study(owner=alice, launched=False) for _ in range(2)]
    foreign = make_study(launched=False, title="Somebody else's")
    StudyMembership.objects.create(study=foreign, user=alice, role="viewer")
    address = reverse("admin:annotation_study_changelist")
    assert 'name="action"' in log_in(alice).get(address).content.decode()
    chosen = [one.pk for one in (*drafts, study, foreign)]
    sent = {"action": "archive_selected", "_selected_action": chosen}
    words = text_of(log_in(alice).post(address, sent, follow=True).content.decode())
    assert "Archived: 2." in words
    assert "The study is live and cannot become archived." in words
    assert "1 study is not yours to change." in words
    assert set(Study.objects.filter(status="archived")) == set(drafts)
    assert Study.objects.get(pk=foreign.pk).status == "draft"


def test_launch_and_close_ask_first_and_say_what_freezes(alice: User) -> None:
    study = make_study(owner=alice, launched=False)
    client = log_in(alice)

    def press(action: str) -> tuple[str, str]:
        address = reverse("admin:annotation_study_action", args=[study.pk, action])
        words = text_of(client.post(address, follow=True).content.decode())
        study.refresh_from_db()
        return words, study.status

    words, status = press("launch")
    assert status == StudyStatus.DRAFT
    assert "The instrument is frozen" in words
    assert "It cannot be taken back." in words
    act(client, study, "launch")
    words, status = press("close")
    assert status == StudyStatus.LIVE
    assert "participants who have started can continue" in words
    assert "It cannot be taken back." not in words
    # To go on after a pause loses nothing, so nothing is asked.
    press("pause")
    assert press("launch")[1] == StudyStatus.LIVE


@pytest.mark.parametrize("launched", [True, False], ids=["closed", "draft"])
def test_a_study_comes_back_from_the_archive_as_it_was(alice: User, launched: bool) -> None:
    study = make_study(owner=alice, launched=launched)
    client = log_in(alice)
    before = StudyStatus.CLOSED if launched else StudyStatus.DRAFT
    if launched:
        act(client, study, "close")
    study.refresh_from_db()
    closed_at = study.closed_at
    assert (study.status, closed_at is not None) == (before, launched)
    assert "Take out of the archive" in act(client, study, "archive")
    act(client, study, "launch")
    study.refresh_from_db()
    assert study.status == StudyStatus.ARCHIVED
    act(client, study, "restore")
    study.refresh_from_db()
    assert (study.status, study.closed_at) == (before, closed_at)
    assert "expected an archived one" in text_of(act(client, study, "restore"))


def test_actions_take_a_post(study: Study, alice: User) -> None:
    address = reverse("admin:annotation_study_action", args=[study.pk, "close"])
    assert log_in(alice).get(address).status_code == 405
    study.refresh_from_db()
    assert study.status == "live"


def test_an_unknown_action_is_not_found(study: Study, alice: User) -> None:
    address = reverse("admin:annotation_study_action", args=[study.pk, "explode"])
    assert log_in(alice).post(address).status_code == 404


def test_what_the_state_forbids_is_said(study: Study, alice: User) -> None:
    page = act(log_in(alice), study, "archive")
    assert "The study is live and cannot become archived." in text_of(page)
    study.refresh_from_db()
    assert study.status == "live"


def test_launch_problems_are_listed_and_the_button_is_not_there(alice: User) -> None:
    study = make_study(owner=alice, launched=False)
    instrument = study.instruments.get()
    instrument.scales.all().delete()
    instrument.wordings.filter(key="debrief_title").update(text="")
    client = log_in(alice)
    page = client.get(overview(study)).content.decode()
    assert "The study cannot be launched yet." in page
    assert "The instrument has no trait scale, expected at least one." in page
    assert "Texts are missing in “en”: What the study was about: Title." in page
    assert "Launch study" not in page
    assert "no trait scale" in act(client, study, "launch")
    study.refresh_from_db()
    assert study.status == "draft"


# --- the main page --------------------------------------------------------------------------------


def test_the_main_page_shows_the_numbers(study: Study, alice: User) -> None:
    for minutes in (9, 11, 13):
        submission = make_submission(study, minutes=minutes)
        review_submission(
            submission=submission, reviewer=alice, data_decision="accepted", pay_decision="approved"
        )
    make_submission(study, minutes=12, failed=[CheckKind.GROUP_NAME])
    make_submission(study, state=SubmissionState.IN_PROGRESS)
    words = text_of(log_in(alice).get(overview(study)).content.decode())
    # 3 people with 4 groups each; 25 groups, 6 wanted each.
    assert "12 of 150 wanted" in words
    assert "3 people, one rating for each group that was rated. 138 ratings are missing." in words
    assert "Rating now 1 person" in words
    # 9, 11, 12, 13 minutes: median 11.5.
    assert "11 min 30 s" in words
    assert "Median of 4." in words
    # Three paid 2 dollars, one waits; 200 cents for 11.5 minutes make 10.43 dollars an hour.
    assert "$6.00" in words
    assert "$2.00 wait for a decision." in words
    assert "That pays $10.43 an hour." in words
    assert "Started 5 Gave consent 5 100 %" in words
    assert "Finished 4 80 % Reviewed 3 75 % Accepted 3 100 %" in words
    # 1 of 4, Wilson by hand: centre (0.25 + 0.4802) / 1.9604 = 0.3725, half width 0.3270.
    assert "Name the group just rated 4 1 0 25.0 % 4.6 to 69.9" in words
    assert "Named the group “senior citizens”" in words


def test_an_empty_study_says_what_to_do_next(study: Study, alice: User) -> None:
    page = log_in(alice).get(overview(study)).content.decode()
    assert "Nobody has started yet" in page
    assert "Give participants the link below." in page
    assert f"/s/{study.public_id}/" in page
    assert "histogram" not in page


def test_the_participants_link_of_prolific_has_its_placeholders(study: Study, alice: User) -> None:
    Study.objects.update(panel=Panel.PROLIFIC)
    page = log_in(alice).get(overview(study)).content.decode()
    assert "?PROLIFIC_PID={{%PROLIFIC_PID%}}&amp;STUDY_ID=" in page


def test_nasty_texts_are_escaped_everywhere(alice: User) -> None:
    nasty = "<script>alert(1)</script>"
    study = make_study(owner=alice, title=nasty)
    submission = make_submission(study, failed=[CheckKind.GROUP_NAME])
    submission.checks.filter(kind=CheckKind.GROUP_NAME).update(answer={"text": nasty})
    client = log_in(alice)
    for page in (
        overview(study),
        reverse("admin:annotation_study_changelist"),
        reverse("admin:annotation_study_change", args=[study.pk]),
        reverse("admin:annotation_instrument_change", args=[study.instruments.get().pk]),
        reverse("admin:annotation_submission_changelist"),
        reverse("admin:annotation_submission_review", args=[submission.pk]),
    ):
        content = client.get(page).content.decode()
        assert nasty not in content, page
        assert "&lt;script&gt;alert(1)" in content, page


def count_queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return len(queries)


@pytest.mark.parametrize("page", ["overview", "live"])
def test_the_main_pages_queries_do_not_grow_with_the_study(
    study: Study, alice: User, page: str
) -> None:
    client = log_in(alice)
    address = reverse(f"admin:annotation_study_{page}", args=[study.pk])
    for _ in range(6):
        make_submission(study, failed=[CheckKind.GROUP_NAME])
    make_submission(study, state=SubmissionState.IN_PROGRESS)
    few = count_queries(client, address)
    for first in range(14):
        make_submission(study, first_group=first, failed=[CheckKind.REPEATED_GROUP])
    assert count_queries(client, address) <= few  # less where this process knows finished visits
    assert few <= 36  # the session and the page's frame included


def test_the_lists_queries_do_not_grow(study: Study, alice: User) -> None:
    client = log_in(alice)
    studies = reverse("admin:annotation_study_changelist")
    queue = reverse("admin:annotation_submission_changelist")
    for _ in range(2):
        make_submission(study)
    before = count_queries(client, studies), count_queries(client, queue)
    for _ in range(8):
        make_submission(study)
    for number in range(5):
        make_study(owner=alice, title=f"Study {number}")
    assert (count_queries(client, studies), count_queries(client, queue)) == before


def test_the_list_counts_each_study_by_itself(study: Study, alice: User) -> None:
    """One query for submissions joined with the others' counts took minutes at 15,000 of them."""
    for first in (0, 5):
        review_submission(
            submission=make_submission(study, first_group=first),
            reviewer=alice,
            data_decision="accepted",
            pay_decision="approved",
        )
    make_study(owner=alice, title="Empty")
    with CaptureQueriesContext(connection) as queries:
        page = log_in(alice).get(reverse("admin:annotation_study_changelist")).content.decode()
    table = page.split('id="result_list"')[1]
    assert re.findall(r"(\d+) of (\d+)", table) == [("0", "500"), ("8", "150")]
    grouped = [query["sql"] for query in queries if "GROUP BY" in query["sql"]]
    assert all(sql.count("GROUP BY") == 1 for sql in grouped), grouped


def test_the_live_part_is_a_fragment_that_nobody_caches(study: Study, alice: User) -> None:
    response = log_in(alice).get(reverse("admin:annotation_study_live", args=[study.pk]))
    page = response.content.decode()
    assert "no-store" in response["Cache-Control"]
    assert "<html" not in page
    assert 'data-live-on="true"' in page
    act(log_in(alice), study, "close")
    page = log_in(alice).get(reverse("admin:annotation_study_live", args=[study.pk]))
    assert 'data-live-on="false"' in page.content.decode()


def test_an_imported_study_shows_its_source_and_asks_for_nothing(alice: User) -> None:
    content = b'{"a": {"women": {"cold - warm": "5"}, "men": {"cold - warm": "7"}}}'
    study = import_abc_ratings(content=content, file_name="ratings.json", owner=alice).study
    page = log_in(alice).get(overview(study)).content.decode()
    words = text_of(page)
    assert "Imported" in words
    assert "File: ratings.json" in words
    assert "SHA-256:" in words
    assert "Link for participants" not in page
    assert "Time to finish" not in page
    assert "Open study again" not in page


@pytest.mark.parametrize(
    ("kinds", "said", "unsaid"),
    [
        ([CheckKind.GROUP_NAME], "never costs pay", "not askable where"),
        ([CheckKind.MARKED_TRAITS], "not askable where the ratings", "ground to reject"),
        ([CheckKind.INSTRUCTED], "and be a ground to reject pay", "never costs pay"),
        (
            [CheckKind.REPEATED_GROUP, CheckKind.NONSENSICAL],
            "Only these may be a ground to reject pay where the panel allows it: A statement that "
            "nobody can affirm.",
            "never costs pay",
        ),
    ],
)
def test_the_caption_of_checks_follows_their_kinds(
    study: Study, alice: User, kinds: list[CheckKind], said: str, unsaid: str
) -> None:
    submission = make_submission(study)
    submission.checks.all().delete()
    for step, kind in enumerate(kinds):
        submission.checks.create(step_index=step, kind=kind, expected={}, answer={}, passed=True)
    words = text_of(log_in(alice).get(overview(study)).content.decode())
    assert said in words
    assert unsaid not in words


def test_who_waits_after_a_failed_check_is_in_review_and_not_open(alice: User) -> None:
    study = make_study(owner=alice, quota_per_group=2)
    make_submission(study, failed=[CheckKind.INSTRUCTED], groups=1)
    quota = count_quotas(study, instrument=study.instruments.get())[0]
    # Others may have the place, as before; what waits is told all the same.
    assert (quota.in_review, quota.doubtful, quota.waiting, quota.open) == (0, 1, 1, 2)
    assert [box.css for box in draw_slots(quota)] == ["mark-part", "mark-open"]
    address = reverse("admin:annotation_study_figure", args=[study.pk, "quotas"])
    csv = b"".join(log_in(alice).get(address).streaming_content).decode().splitlines()
    row = dict(zip(csv[0].split(","), csv[1].split(","), strict=True))
    assert (row["in_review"], row["open"]) == ("1", "2")


# --- downloads ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("funnel", "stage,count,share_of_stage_before\r\nstarted,2,\r\nconsented,2,1.0\r\n"),
        ("quotas", "group,group_text,wanted,accepted,in_review,in_progress,reserved,open\r\ncis,"),
        (
            "checks",
            "check,asked,failed,not_askable,share,wilson_low,wilson_high\r\ngroup_name,2,1,0,",
        ),
        ("times", "minutes_from,minutes_to,count\r\n"),
    ],
)
def test_figures_come_as_csv(study: Study, alice: User, name: str, start: str) -> None:
    make_submission(study, minutes=10)
    make_submission(study, minutes=12, failed=[CheckKind.GROUP_NAME])
    response = log_in(alice).get(reverse("admin:annotation_study_figure", args=[study.pk, name]))
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert f"-{name}.csv" in response["Content-Disposition"]
    assert b"".join(response.streaming_content).decode().startswith(start)


def test_exports_are_attachments_and_can_carry_a_byte_order_mark(study: Study, alice: User) -> None:
    make_submission(study)
    address = reverse("admin:annotation_study_export", args=[study.pk, "ratings.csv"])
    client = log_in(alice)
    plain, marked = client.get(address), client.get(f"{address}?bom=1")
    assert plain["Content-Disposition"].startswith(
        f'attachment; filename="stereoscope-{study.public_id}-ratings-'
    )
    assert "no-store" in plain["Cache-Control"]
    assert b"".join(marked.streaming_content) == b"\xef\xbb\xbf" + b"".join(plain.streaming_content)


@pytest.mark.parametrize("name", ["identities.csv", "ratings.exe"])
def test_unknown_exports_and_figures_are_not_found(study: Study, alice: User, name: str) -> None:
    client = log_in(alice)
    assert (
        client.get(reverse("admin:annotation_study_export", args=[study.pk, name])).status_code
        == 404
    )
    assert (
        client.get(reverse("admin:annotation_study_figure", args=[study.pk, "x"])).status_code
        == 404
    )


# --- settings -------------------------------------------------------------------------------------


def settings_values(study: Study, **changes: object) -> dict[str, object]:
    values: dict[str, object] = {
        "title": study.title,
        "contact_email": study.contact_email,
        "ethics_reference": "",
        "quota_per_group": 30,
        "quota_rule": "soft",
        "reservation_minutes": 20,
        "pilot_places": 10,
        "reward_cents": 300,
        "estimated_minutes": 8,
        "withdraw_until": "",
        "memberships-TOTAL_FORMS": 0,
        "memberships-INITIAL_FORMS": 0,
        **{f"code_{outcome}": code for outcome, code in study.completion_codes.items()},
    }
    return values | changes


def test_settings_can_be_changed_while_live_but_not_panel_and_currency(
    study: Study, alice: User
) -> None:
    address = reverse("admin:annotation_study_change", args=[study.pk])
    values = settings_values(study, panel="prolific", currency="EUR", code_completed="C1ABC")
    response = log_in(alice).post(address, values)
    assert response.status_code == 302, response.context["adminform"].form.errors
    study.refresh_from_db()
    assert (study.quota_per_group, study.quota_rule, study.reward_cents) == (30, "soft", 300)
    assert (study.panel, study.currency) == ("link", "USD")
    assert study.completion_codes["completed"] == "C1ABC"


def test_a_completion_code_that_no_panel_would_take_is_refused(study: Study, alice: User) -> None:
    before = dict(study.completion_codes)
    address = reverse("admin:annotation_study_change", args=[study.pk])
    response = log_in(alice).post(address, settings_values(study, code_completed="a b"))
    assert response.status_code == 200
    assert (
        "Enter 1 to 40 letters, digits, hyphens or underscores, not “a b”"
        in response.content.decode()
    )
    study.refresh_from_db()
    assert study.completion_codes == before


def test_only_an_empty_draft_can_be_deleted(alice: User) -> None:
    draft = make_study(owner=alice, launched=False)
    live = make_study(owner=alice)
    client = log_in(alice)
    for study in (draft, live):
        client.post(reverse("admin:annotation_study_delete", args=[study.pk]), {"post": "yes"})
    assert list(Study.objects.all()) == [live]


def test_edits_are_kept_in_the_history(study: Study, alice: User) -> None:
    client = log_in(alice)
    client.post(reverse("admin:annotation_study_change", args=[study.pk]), settings_values(study))
    newest = study.history.first()
    assert newest is not None
    assert (newest.history_user, newest.quota_per_group) == (alice, 30)
    page = client.get(reverse("admin:annotation_study_history", args=[study.pk]))
    assert "alice" in page.content.decode()


# --- the instrument -------------------------------------------------------------------------------


@pytest.fixture
def draft(alice: User) -> Study:
    return make_study(owner=alice, launched=False)


def test_a_frozen_instrument_is_shown_and_never_edited(study: Study, alice: User) -> None:
    instrument = study.instruments.get()
    page = log_in(alice).get(reverse("admin:annotation_instrument_change", args=[instrument.pk]))
    assert "This version is frozen." in page.content.decode()
    assert "Check: name the group just rated" in page.content.decode()
    assert "data-undo" not in page.content.decode()
    assert save(alice, instrument, flow=["rating"]).status_code == 403
    instrument.refresh_from_db()
    assert len(instrument.flow) == 10


def test_a_new_version_is_edited_and_put_in_force(study: Study, alice: User) -> None:
    client = log_in(alice)
    page = act(client, study, "new-version")
    assert "People still see version 1." in page
    draft = study.instruments.order_by("-version")[0]
    settings = write_document(draft)["settings"]
    assert save(alice, draft, settings=settings | {"show_ticks": True}).status_code == 200
    asked = act(client, study, "publish")
    assert "Put this version in force?" in asked
    assert not study.instruments.get(version=2).is_frozen
    address = reverse("admin:annotation_study_action", args=[study.pk, "publish"])
    done = client.post(address, {"confirmed": "yes"}, follow=True).content.decode()
    assert "In force" in done
    assert "Put this version in force" not in done
    newest = study.instruments.order_by("-version")[0]
    assert (newest.version, newest.is_frozen, newest.show_ticks) == (2, True, True)


def test_a_draft_version_is_discarded(study: Study, alice: User) -> None:
    create_version(study=study)
    client = log_in(alice)
    asked = act(client, study, "discard")
    assert "Discard this draft?" in asked
    assert study.instruments.count() == 2
    address = reverse("admin:annotation_study_action", args=[study.pk, "discard"])
    assert f'<form method="post" action="{address}"' in asked
    client.post(address, {"confirmed": "yes"})
    assert [instrument.version for instrument in study.instruments.all()] == [1]


def test_the_library_keeps_a_slug_and_the_history_of_edits() -> None:
    root = User.objects.create_superuser("root")
    group = SocialGroup.objects.get(slug="veteran")
    client = log_in(root)
    response = client.post(
        reverse("admin:annotation_socialgroup_change", args=[group.pk]),
        {
            "slug": "other",
            "singular": "veteran",
            "plural": "US veterans",
            "plural_capitalised": "US veterans",
            "domains": ["socioeconomic"],
            "component_links-TOTAL_FORMS": 0,
            "component_links-INITIAL_FORMS": 0,
        },
    )
    assert response.status_code == 302
    group.refresh_from_db()
    assert (group.slug, group.plural) == ("veteran", "US veterans")
    page = client.get(reverse("admin:annotation_socialgroup_history", args=[group.pk]))
    assert "root" in page.content.decode()
