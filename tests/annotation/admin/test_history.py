"""The history of what is kept with one: to read, never a way around what services check."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.models import SocialGroup, Study, StudyStatus
from tests.annotation.researcher.conftest import log_in


def read_history(user: User, study: Study) -> str:
    answer = log_in(user).get(reverse("admin:annotation_study_history", args=[study.pk]))
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.parametrize("actor", ["alice", "ed", "bob"])
def test_no_version_is_saved_over_the_study(
    request: pytest.FixtureRequest, study: Study, actor: str
) -> None:
    user = request.getfixturevalue(actor)
    version = study.history.latest()
    Study.objects.filter(pk=study.pk).update(title="Now")
    address = f"/admin/annotation/study/{study.pk}/history/{version.pk}/"
    for answer in (log_in(user).get(address), log_in(user).post(address, {"title": "Before"})):
        # Either it is no page, or the admin takes it for an unknown id and leads away from it.
        assert answer.status_code in {302, 404}
    study.refresh_from_db()
    assert study.title == "Now"


def test_changes_are_told_in_words_also_those_that_no_form_shows(study: Study, alice: User) -> None:
    study.status = StudyStatus.PAUSED
    study.reward_cents = 345
    study._history_user = alice
    study.save()
    page = read_history(alice, study)
    assert "<del>Live</del>" in page
    assert "<ins>Paused</ins>" in page
    assert "<ins>345</ins>" in page
    assert '<td role="cell">alice</td>' in page
    assert 'aria-current="page">History</a>' in page


def test_viewers_do_not_learn_of_codes(study: Study, alice: User, bob: User) -> None:
    study.completion_codes |= {"completed": "SECRET99"}
    study.save()
    assert "SECRET99" in read_history(alice, study)
    assert "SECRET99" not in read_history(bob, study)


def test_a_last_change_of_a_page_is_compared_with_the_page_that_follows(
    study: Study, alice: User
) -> None:
    for cents in range(1, 61):
        study.reward_cents = cents
        study.save()
    newest = read_history(alice, study)
    assert "<ins>60</ins>" in newest
    assert newest.count("<ins>") == 50
    assert "Older changes" in newest


@pytest.mark.parametrize("object_id", ["x" * 500, "é", "_00", "9" * 40, "1.5"], ids=range(5))
def test_a_strange_id_is_an_unknown_page(admin_client: Client, object_id: str) -> None:
    for model in (Study, SocialGroup):
        name = model._meta.model_name
        answer = admin_client.get(f"/admin/annotation/{name}/{object_id}/history/")
        assert answer.status_code == 404
