"""Actors: alice owns the study, bob is its viewer, ed its editor, charlie an outsider."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import MembershipRole, Study, StudyMembership
from tests.annotation.studies.people import make_study, make_user


@pytest.fixture
def alice(db: None) -> User:
    return make_user("alice")


@pytest.fixture
def study(alice: User) -> Study:
    return make_study(owner=alice, title="Group ratings, spring", quota_per_group=6)


@pytest.fixture
def bob(study: Study) -> User:
    bob = make_user("bob")
    StudyMembership.objects.create(study=study, user=bob, role=MembershipRole.VIEWER)
    return bob


@pytest.fixture
def ed(study: Study) -> User:
    ed = make_user("ed")
    StudyMembership.objects.create(study=study, user=ed, role=MembershipRole.EDITOR)
    return ed


@pytest.fixture
def charlie(db: None) -> User:
    return make_user("charlie")


def log_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client
