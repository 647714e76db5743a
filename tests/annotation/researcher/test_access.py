"""Who reaches which page of a study, and who changes it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from annotation.models import DataDecision, Panel, Review, Study, Submission
from tests.annotation.researcher.conftest import log_in
from tests.annotation.studies.people import make_study, make_submission

EXPORTS = (
    "ratings.zip",
    "ratings.csv",
    "ratings-codebook.csv",
    "submissions.zip",
    "submissions.csv",
    "submissions-codebook.csv",
)
FIGURES = ("funnel", "times", "quotas", "checks", "leaving", "targets", "states")


def study_pages(study: Study) -> list[str]:
    submission = study.submissions.first()
    assert submission is not None
    return [
        reverse("admin:annotation_study_overview", args=[study.pk]),
        reverse("admin:annotation_study_live", args=[study.pk]),
        reverse("admin:annotation_study_change", args=[study.pk]),
        reverse("admin:annotation_study_history", args=[study.pk]),
        reverse("admin:annotation_instrument_change", args=[study.instruments.get().pk]),
        reverse("admin:annotation_submission_review", args=[submission.pk]),
        *(reverse("admin:annotation_study_export", args=[study.pk, name]) for name in EXPORTS),
        *(reverse("admin:annotation_study_figure", args=[study.pk, name]) for name in FIGURES),
    ]


def test_selectors_know_owner_member_and_outsider(
    study: Study, alice: User, bob: User, ed: User, charlie: User
) -> None:
    make_submission(study)
    people = (alice, ed, bob, charlie)
    assert [Study.objects.visible_to(user).count() for user in people] == [1, 1, 1, 0]
    assert [Study.objects.changeable_by(user).count() for user in people] == [1, 1, 0, 0]
    assert [Submission.objects.visible_to(user).count() for user in people] == [1, 1, 1, 0]


def test_superusers_see_all_and_people_who_are_no_staff_see_nothing(study: Study) -> None:
    root = User.objects.create_superuser("root")
    guest = User.objects.create_user("guest")
    gone = User.objects.create_superuser("gone", is_active=False)
    assert [Study.objects.visible_to(user).count() for user in (root, guest, gone)] == [1, 0, 0]
    assert [Study.objects.changeable_by(user).count() for user in (root, guest, gone)] == [1, 0, 0]


def test_an_owner_who_is_no_longer_staff_sees_nothing(study: Study, alice: User) -> None:
    alice.is_staff = False
    assert not Study.objects.visible_to(alice).exists()


def test_owner_editor_and_viewer_open_every_page(
    study: Study, alice: User, bob: User, ed: User
) -> None:
    make_submission(study)
    for user in (alice, ed, bob):
        client = log_in(user)
        for page in study_pages(study):
            assert client.get(page).status_code == 200, (user.username, page)


def test_outsider_opens_no_page(study: Study, charlie: User) -> None:
    make_submission(study)
    client = log_in(charlie)
    for page in study_pages(study):
        response = client.get(page)
        # The theme's own views send away from what they do not find; ours answer 404.
        assert response.status_code in {302, 403, 404}, page
        if response.status_code == 302:
            assert response["Location"] == reverse("admin:index"), page


def test_who_is_not_logged_in_is_sent_to_the_log_in(study: Study, client) -> None:
    make_submission(study)
    for page in study_pages(study):
        response = client.get(page)
        assert response.status_code == 302, page
        assert response["Location"].startswith(reverse("admin:login")), page


def test_lists_show_only_what_one_may_see(study: Study, alice: User, charlie: User) -> None:
    submission = make_submission(study)
    for page, text in (
        (reverse("admin:annotation_study_changelist"), study.title),
        (reverse("admin:annotation_submission_changelist"), str(submission)),
    ):
        assert text in log_in(alice).get(page).content.decode()
        assert text not in log_in(charlie).get(page).content.decode()


@pytest.mark.parametrize("action", ["pause", "close", "new-version"])
def test_viewer_and_outsider_cannot_act(
    study: Study, bob: User, charlie: User, action: str
) -> None:
    address = reverse("admin:annotation_study_action", args=[study.pk, action])
    assert log_in(bob).post(address).status_code == 403
    assert log_in(charlie).post(address).status_code == 404
    study.refresh_from_db()
    assert study.status == "live"
    assert study.instruments.count() == 1


def test_viewer_cannot_review(study: Study, bob: User) -> None:
    submission = make_submission(study)
    address = reverse("admin:annotation_submission_review", args=[submission.pk])
    client = log_in(bob)
    assert client.post(address, {"decision": "accept"}).status_code == 403
    assert "Accept data" not in client.get(address).content.decode()
    client.post(
        reverse("admin:annotation_submission_changelist"),
        {"action": "accept_selected", "_selected_action": [submission.pk]},
    )
    assert not Review.objects.exists()
    submission.refresh_from_db()
    assert submission.data_decision == DataDecision.WAITING


def test_viewer_cannot_change_settings(study: Study, bob: User) -> None:
    address = reverse("admin:annotation_study_change", args=[study.pk])
    assert log_in(bob).post(address, {"title": "Mine"}).status_code == 403
    study.refresh_from_db()
    assert study.title == "Group ratings, spring"


def test_viewer_does_not_see_the_completion_codes(study: Study, alice: User, bob: User) -> None:
    address = reverse("admin:annotation_study_change", args=[study.pk])
    code = study.completion_codes["completed"]
    assert code in log_in(alice).get(address).content.decode()
    assert code not in log_in(bob).get(address).content.decode()


def test_outsider_cannot_review_or_bulk_review(study: Study, charlie: User) -> None:
    submission = make_submission(study)
    client = log_in(charlie)
    address = reverse("admin:annotation_submission_review", args=[submission.pk])
    assert client.post(address, {"decision": "accept"}).status_code == 404
    client.post(
        reverse("admin:annotation_submission_changelist"),
        {"action": "accept_selected", "_selected_action": [submission.pk]},
    )
    assert not Review.objects.exists()


def test_payments_need_the_permission_and_the_right_to_change(
    study: Study, alice: User, bob: User, charlie: User
) -> None:
    Study.objects.update(panel=Panel.PROLIFIC)
    make_submission(study, external_id="5f8a1c2b9e")
    address = reverse("admin:annotation_study_export", args=[study.pk, "payments.csv"])
    overview = reverse("admin:annotation_study_overview", args=[study.pk])
    assert log_in(alice).get(address).status_code == 403
    assert "payments.csv" not in log_in(alice).get(overview).content.decode()
    permission = Permission.objects.get(codename="export_payments")
    for user in (alice, bob, charlie):
        user.user_permissions.add(permission)
    response = log_in(User.objects.get(pk=alice.pk)).get(address)
    assert response.status_code == 200
    assert b"5f8a1c2b9e" in b"".join(response.streaming_content)
    assert log_in(User.objects.get(pk=bob.pk)).get(address).status_code == 403
    assert log_in(User.objects.get(pk=charlie.pk)).get(address).status_code == 404


def test_no_page_but_the_payment_export_holds_an_external_id(study: Study, alice: User) -> None:
    Study.objects.update(panel=Panel.PROLIFIC)
    submission = make_submission(study, external_id="5f8a1c2b9e")
    client = log_in(alice)
    lists = [
        reverse("admin:annotation_study_changelist"),
        reverse("admin:annotation_submission_changelist") + "?show=all",
    ]
    for page in [*study_pages(study), *lists]:
        response = client.get(page)
        content = b"".join(response.streaming_content) if response.streaming else response.content
        assert b"5f8a1c2b9e" not in content, page
        assert submission.token.encode() not in content, page


def test_staff_read_the_library_but_do_not_edit_it(alice: User) -> None:
    client = log_in(alice)
    for name in ("socialgroup", "groupset", "traitpair"):
        page = client.get(reverse(f"admin:annotation_{name}_changelist"))
        assert page.status_code == 200
        assert client.get(reverse(f"admin:annotation_{name}_add")).status_code == 403


def test_another_study_of_ones_own_gives_no_way_into_this_one(study: Study, charlie: User) -> None:
    make_study(owner=charlie, title="Mine")
    submission = make_submission(study)
    address = reverse("admin:annotation_submission_changelist")
    page = log_in(charlie).get(f"{address}?show=all&study__id__exact={study.pk}")
    assert str(submission) not in page.content.decode()
