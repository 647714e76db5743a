"""The pages of annotators' accounts, over HTTP."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth import get_user_model
from django.http import Http404
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.annotators.invitations import invite_annotator, remove_annotator
from annotation.annotators.queue import current_annotator
from annotation.models import Annotator, StudyKind, StudyStatus
from tests.annotation.annotators.people import (
    PASSWORD,
    make_account,
    make_annotated_study,
    make_annotator,
)
from tests.annotation.studies.people import make_user

WRITING = StudyKind.COUNTERPART_WRITING
pytestmark = pytest.mark.django_db


def join_address(place: Annotator) -> str:
    return reverse("annotators:join", args=[place.invitation_token])


def new_account(**changes: str) -> dict[str, str]:
    sent = {"account": "new", "username": "ann", "password": PASSWORD, "repeated": PASSWORD}
    return sent | changes


def test_an_invited_person_joins_with_a_new_account_and_sees_the_study(client: Client):
    place = invite_annotator(study=make_annotated_study(), email="ann@example.org")
    page = client.get(join_address(place))
    assert "Annotator 1" in page.content.decode()
    assert "ann@example.org" not in page.content.decode()
    home = client.post(join_address(place), new_account(), follow=True)
    assert home.status_code == 200
    assert "Counterparts, spring" in home.content.decode()
    user = get_user_model().objects.get(username="ann")
    assert not user.is_staff
    assert user.email == ""
    place.refresh_from_db()
    assert place.user == user
    assert place.accepted_at is not None


def test_a_link_works_once(client: Client):
    place = invite_annotator(study=make_annotated_study())
    client.post(join_address(place), new_account())
    other = Client()
    answer = other.post(join_address(place), new_account(username="eve"))
    assert answer.status_code == 410
    assert "has been used" in answer.content.decode()
    assert not get_user_model().objects.filter(username="eve").exists()
    # Its own person is led to the work.
    assert client.get(join_address(place)).url == reverse("annotators:home")


def test_expired_removed_and_unknown_links_say_so(client: Client):
    study = make_annotated_study()
    expired, removed = invite_annotator(study=study), invite_annotator(study=study)
    remove_annotator(annotator=removed)
    with time_machine.travel(timezone.now() + timedelta(days=31)):
        answer = client.get(join_address(expired))
    assert answer.status_code == 410
    assert "has expired" in answer.content.decode()
    assert "was withdrawn" in client.get(join_address(removed)).content.decode()
    assert client.get(reverse("annotators:join", args=["x" * 32])).status_code == 404
    study.status = StudyStatus.CLOSED
    study.save()
    assert "has ended" in client.get(join_address(expired)).content.decode()


def test_an_existing_account_takes_the_place(client: Client):
    place = invite_annotator(study=make_annotated_study())
    client.force_login(make_account("ann"))
    client.post(join_address(place), {"account": "mine"})
    assert (
        current_annotator(get_user_model().objects.get(), place.study.public_id, kind=WRITING)
        == place
    )


def test_one_account_has_one_place_in_a_study(client: Client):
    study = make_annotated_study()
    first = make_annotator(study, "ann")
    second = invite_annotator(study=study)
    client.force_login(first.user)
    answer = client.post(join_address(second), {"account": "mine"})
    assert answer.status_code == 422
    assert "has a place in the study already, as Annotator 1" in answer.content.decode()


def test_the_researcher_of_a_study_cannot_be_its_annotator(client: Client):
    alice = make_user("alice")
    place = invite_annotator(study=make_annotated_study(owner=alice))
    client.force_login(alice)
    answer = client.post(join_address(place), {"account": "mine"})
    assert answer.status_code == 422
    assert "manages the study" in answer.content.decode()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"username": "BEN"}, "“BEN” is taken"),
        ({"username": "ann smith"}, "Enter a valid username"),
        ({"repeated": "another phrase"}, "The two passwords differ"),
        ({"password": "12345678", "repeated": "12345678"}, "too common"),
    ],
)
def test_a_bad_account_is_refused_where_it_was_entered(client: Client, changes, problem):
    make_account("ben")
    place = invite_annotator(study=make_annotated_study())
    answer = client.post(join_address(place), new_account(**changes))
    assert answer.status_code == 422
    assert problem in answer.content.decode()
    place.refresh_from_db()
    assert place.user is None


def test_annotators_log_in_on_their_own_page(client: Client):
    make_annotator(make_annotated_study(), "ann")
    assert client.get(reverse("annotators:home")).url.startswith(reverse("annotators:login"))
    sent = {"username": "ann", "password": PASSWORD}
    assert client.post(reverse("annotators:login"), sent).url == reverse("annotators:home")
    assert client.get(reverse("annotators:home")).status_code == 200
    client.post(reverse("annotators:logout"))
    assert client.get(reverse("annotators:home")).status_code == 302


def test_log_ins_are_throttled_and_the_page_says_so(client: Client):
    make_account("ann")
    sent = {"username": "ann", "password": "wrong"}
    answers = [client.post(reverse("annotators:login"), sent) for _attempt in range(10)]
    assert answers[0].status_code == 422
    assert answers[-1].status_code == 429
    assert "Too many failed log-ins" in answers[-1].content.decode()
    right = {"username": "ann", "password": PASSWORD}
    assert client.post(reverse("annotators:login"), right).status_code == 429


def test_a_password_can_be_changed(client: Client):
    ann = make_account("ann")
    client.force_login(ann)
    address, new = reverse("annotators:password"), "another long phrase"
    wrong = {"old_password": "wrong", "new_password1": new, "new_password2": new}
    assert client.post(address, wrong).status_code == 422
    client.post(address, wrong | {"old_password": PASSWORD})
    ann.refresh_from_db()
    assert ann.check_password(new)


def test_staff_pages_are_closed_to_annotators(client: Client):
    client.force_login(make_annotator(make_annotated_study(), "ann").user)
    for name in ("admin:index", "admin:annotation_study_changelist", "api-docs"):
        answer = client.get(reverse(name))
        assert answer.status_code == 302
        assert answer.url.startswith(reverse("admin:login"))
    assert client.get("/api/v1/studies/").status_code in {401, 403}


def test_a_place_in_one_kind_of_study_is_none_in_another():
    place = make_annotator(make_annotated_study(), "ann")
    with pytest.raises(Http404):
        current_annotator(place.user, place.study.public_id, kind=StudyKind.COUNTERPART_JUDGMENT)


def test_a_removed_annotator_has_no_place(client: Client):
    place = make_annotator(make_annotated_study(), "ann")
    assert current_annotator(place.user, place.study.public_id, kind=WRITING) == place
    remove_annotator(annotator=place)
    with pytest.raises(Http404):
        current_annotator(place.user, place.study.public_id, kind=WRITING)
    client.force_login(place.user)
    assert "You have no study yet" in client.get(reverse("annotators:home")).content.decode()


def test_outsiders_and_drafts_have_no_place():
    study = make_annotated_study()
    place = make_annotator(study, "ann")
    with pytest.raises(Http404):
        current_annotator(make_account("eve"), study.public_id, kind=WRITING)
    study.status = StudyStatus.DRAFT
    study.save()
    with pytest.raises(Http404):
        current_annotator(place.user, study.public_id, kind=WRITING)


def test_the_first_page_shows_a_study_that_has_not_begun(client: Client):
    study = make_annotated_study()
    study.status = StudyStatus.DRAFT
    study.save()
    client.force_login(make_annotator(study, "ann").user)
    page = client.get(reverse("annotators:home")).content.decode()
    assert "You have no study yet" not in page
    assert study.title in page
    assert "The study has not begun." in page
    assert "Nothing is left to do." not in page
    assert study.public_id not in page  # no link into it


def test_the_list_of_studies_asks_the_database_four_times(
    client: Client, django_assert_max_num_queries
):
    for number in range(4):
        make_annotator(make_annotated_study(title=f"Study {number}"), "ann")
    client.force_login(get_user_model().objects.get(username="ann"))
    with django_assert_max_num_queries(5):  # session and account, then three of the page
        client.get(reverse("annotators:home"))
