"""The first page after the log-in. alice owns the study, bob views it, charlie is an outsider."""

from __future__ import annotations

from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.audit.record import record
from annotation.models import (
    ActionKind,
    ActionState,
    AuditAction,
    DataDecision,
    MembershipRole,
    PanelAction,
    PayDecision,
    Study,
    StudyMembership,
    Submission,
)
from evaluation.models import Report, ReportStatus
from probing.models import LanguageModel, ModelKind, Run, RunStatus
from stereoscope.demo.names import (
    MODEL_REPORT,
    PEOPLE_ID,
    SPEAKERS_PEOPLE_ID,
    SPEAKERS_SURVEY_ID,
)
from stereoscope.demo.seeding import ensure_survey
from tests.annotation.studies.people import make_creator, make_study, make_submission

pytestmark = pytest.mark.django_db
INDEX = "admin:index"


@pytest.fixture
def alice() -> User:
    return make_creator("alice")  # type: ignore[return-value]


def log_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def open_page(client: Client) -> Any:
    answer = client.get(reverse(INDEX))
    assert answer.status_code == 200
    return answer


def allow(user: User, *names: str) -> User:
    user.user_permissions.add(*Permission.objects.filter(codename__in=names))
    return User.objects.get(pk=user.pk)


def make_run(owner: User, **options: Any) -> Run:
    model, _made = LanguageModel.objects.get_or_create(
        name="Example", location="/nowhere", kind=ModelKind.CAUSAL
    )
    values: dict[str, Any] = {
        "measure": "set",
        "parameters": {},
        "stimuli": {},
        "stimuli_hash": "0" * 64,
        "code_version": "1",
        "shard_count": 700,
        "created_by": owner,
    }
    return Run.objects.create(model=model, **{**values, **options})


def make_report(owner: User, study: Study, **options: Any) -> Report:
    now = timezone.now()
    values: dict[str, Any] = {
        "title": "Do raters agree?",
        "status": ReportStatus.FINAL,
        "result": {},
        "built_at": now,
    }
    return Report.objects.create(
        kind="rating_agreement",
        study=study,
        created_by=owner,
        started_at=now - timedelta(seconds=3),
        **{**values, **options},
    )


def test_empty_platform_says_what_to_do_next() -> None:
    page = unescape(open_page(log_in(User.objects.create_superuser("boss"))).content.decode())
    for text in ("No study yet", "No run yet", "No report yet", "import_abc_ratings"):
        assert text in page
    assert "Nothing needs you." in page
    assert page.count("New study") == 1


def test_owner_sees_the_study_and_outsider_does_not(alice: User) -> None:
    make_study(owner=alice, title="Group ratings, spring")
    charlie = User.objects.create_user("charlie", is_staff=True)
    assert "Group ratings, spring" in open_page(log_in(alice)).content.decode()
    assert "Group ratings, spring" not in open_page(log_in(charlie)).content.decode()


def test_what_needs_somebody_is_said_to_those_who_can_do_it(alice: User) -> None:
    study = make_study(owner=alice, title="Spring", reward_cents=300, quota_per_group=1)
    bob = User.objects.create_user("bob", is_staff=True)
    StudyMembership.objects.create(study=study, user=bob, role=MembershipRole.VIEWER)
    for place in range(6):  # all but the last of 25 groups are taken
        make_submission(study, first_group=4 * place, minutes=60 * 26 if place == 0 else 11)
    accepted = Submission.objects.latest("pk")
    Submission.objects.filter(pk=accepted.pk).update(
        data_decision=DataDecision.ACCEPTED, pay_decision=PayDecision.APPROVED
    )
    Submission.objects.filter(pk=Submission.objects.earliest("pk").pk).update(
        finished_at=timezone.now() - timedelta(hours=26)
    )
    Study.objects.filter(pk=study.pk).update(quota_per_group=3)
    PanelAction.objects.create(
        study=study,
        submission=accepted,
        kind=ActionKind.APPROVE,
        amount_minor=300,
        currency="USD",
        state=ActionState.FAILED,
        try_at=timezone.now(),
    )
    make_run(alice, status=RunStatus.FAILED, finished_at=timezone.now())
    make_run(alice, status=RunStatus.FAILED, finished_at=timezone.now() - timedelta(days=30))
    make_run(bob, status=RunStatus.FAILED, finished_at=timezone.now())
    make_report(alice, study)
    make_report(alice, study, status=ReportStatus.FAILED, result=None, built_at=None)

    first = open_page(log_in(alice))
    titles = [need.title for need in first.context["needs"]]
    assert titles == [
        "5 submissions wait for review",
        "A report is ready",
        "A report could not be built",
    ]
    assert "waited 26 hours" in first.context["needs"][0].detail
    (line,) = first.context["study_lines"]
    assert (line.progress.accepted, line.progress.wanted, line.waiting) == (4, 75, 5)
    assert (line.spent, line.next_label) == ("$3.00", "Review 5")

    client = log_in(allow(alice, "view_run", "export_payments"))
    titles = [need.title for need in open_page(client).context["needs"]]
    assert titles[1] == "Run 1 has failed"
    assert titles[-1] == "1 payment needs a decision"
    assert "Run 3 has failed" not in titles

    seen = log_in(bob)
    assert open_page(seen).context["needs"] == []
    assert open_page(seen).context["study_lines"][0].next_label == ""
    assert open_page(log_in(User.objects.create_user("c", is_staff=True))).context["needs"] == []


def test_a_report_is_news_until_it_is_opened(alice: User) -> None:
    study = make_study(owner=alice)
    report = make_report(alice, study)
    client = log_in(allow(alice, "view_report"))
    assert [need.button for need in open_page(client).context["needs"]] == ["Read the report"]
    assert "New" in open_page(client).context["report_lines"][0].badge
    record(AuditAction.VIEWED, f"report {report.public_id}", actor=alice, study=study)
    assert open_page(client).context["needs"] == []
    # Built anew, it is news again.
    Report.objects.update(built_at=timezone.now() + timedelta(seconds=1))
    assert len(open_page(client).context["needs"]) == 1


def test_groups_that_fill_slowly_are_named_with_where_they_stand(alice: User) -> None:
    study = make_study(owner=alice, title="Spring", quota_per_group=3)
    for _ in range(3):
        for place in range(6):
            make_submission(study, first_group=4 * place)
    Submission.objects.update(data_decision=DataDecision.ACCEPTED)
    (need,) = open_page(log_in(alice)).context["needs"]
    last = study.instruments.get().groups.order_by("position").last()
    assert last is not None
    assert need.title == "1 group fills slowly"
    assert need.detail == f"Spring. {last.plural}: 0 of 3."
    assert need.address.endswith("#quotas")


def test_first_steps_follow_what_is_done_and_can_be_hidden(alice: User) -> None:
    ensure_survey(owner=alice)
    client = log_in(alice)

    def steps() -> list[tuple[str, bool, bool]]:
        found = open_page(client).context["first_steps"]
        return [(step.title, step.is_done, step.is_next) for step in found]

    assert steps() == [
        ("Answer the demo study yourself", False, True),
        ("Make a study", False, False),
        ("Pilot it with 5 people", False, False),
    ]
    make_submission(Study.objects.get())
    study = make_study(owner=alice)
    assert [step[1:] for step in steps()] == [(True, False), (True, False), (False, True)]
    client.force_login(allow(alice, "add_languagemodel", "add_run", "add_report", "view_run"))
    assert [title for title, _done, _next in steps()][3:] == [
        "Add a language model",
        "Start a run",
        "Build a report of your own",
        "Download its figures or tables",
    ]
    make_run(alice)
    LanguageModel.history.update(history_user=alice)
    make_report(alice, study)
    assert [done for _title, done, _next in steps()] == [True, True, False, True, True, True, False]

    hide = reverse("overview-first-steps")
    assert client.get(hide).status_code == 405
    client.post(hide, {"do": "hide"})
    assert steps() == []
    client.post(hide, {"do": "show"})
    assert len(steps()) == 7
    stranger = Client()
    stranger.force_login(User.objects.create_user("pat"))
    assert stranger.post(hide, {"do": "hide"}).status_code == 302
    assert "first_steps" not in stranger.cookies


def test_what_the_demo_brings_along_is_no_step_done(alice: User) -> None:
    """Seeded in the name of whoever starts the platform, also beside a model of the hub."""
    alice = allow(alice, "add_languagemodel", "add_run", "add_report", "view_run")
    make_study(owner=alice, public_id=SPEAKERS_SURVEY_ID)
    people = make_study(owner=alice, public_id=PEOPLE_ID, origin="simulated")
    rated = make_study(owner=alice, public_id=SPEAKERS_PEOPLE_ID, origin="simulated")
    report = make_report(alice, people, title=f"{MODEL_REPORT}Example")
    report.runs.add(make_run(alice))
    make_report(alice, rated)
    record(AuditAction.EXPORTED, f"report {report.public_id}", actor=alice)
    steps = open_page(log_in(alice)).context["first_steps"]
    assert [(step.title, step.is_done) for step in steps] == [
        ("Make a study", False),
        ("Pilot it with 5 people", False),
        ("Add a language model", False),
        ("Start a run", False),
        ("Build a report of your own", False),
        ("Download its figures or tables", False),
    ]


def test_side_bar_leads_to_what_one_may_open(alice: User) -> None:
    def entries(user: User, address: str) -> dict[str, bool]:
        groups = log_in(user).get(address).context["sidebar_navigation"]
        return {
            str(item["title"]): item["active"]
            for group in groups
            for item in group["items"]
            if item["has_permission"]
        }

    seen = entries(alice, reverse("admin:annotation_judgmentstudy_changelist"))
    assert seen["Studies"]
    assert not seen["Overview"]
    assert "Runs" not in seen
    root = User.objects.create_superuser("root")
    whole = entries(root, reverse(INDEX))
    assert whole["Overview"]
    assert set(whole) - set(seen) == {
        *("Language models", "Prompts and word lists", "Runs", "Reports", "Norms", "Accounts"),
        "Reproductions",
        "Health",
    }


def test_queries_do_not_grow_with_the_number_of_studies(
    django_assert_max_num_queries: Any,
) -> None:
    root = User.objects.create_superuser("root")
    client = log_in(root)
    for place in range(9):
        study = make_study(owner=root, launched=place % 2 == 0)
        if place % 2 == 0:
            make_submission(study)
            make_report(root, study)
            make_run(root, status=RunStatus.FAILED, finished_at=timezone.now())
    ensure_survey(owner=root)
    client.get(reverse(INDEX))
    # Session and user; nine of the first steps, six of the studies' progress, eleven of what needs
    # somebody and of the lists.
    with django_assert_max_num_queries(29):
        open_page(client)
