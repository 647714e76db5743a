"""Actors: alice owns the study, bob is its viewer, ed its editor, charlie an outsider."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotation.instruments.documents.document import hash_document, write_document
from annotation.models import Instrument, MembershipRole, Study, StudyMembership
from tests.annotation.studies.people import make_creator, make_study, make_user


@pytest.fixture
def alice(db: None) -> User:
    return make_creator("alice")


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


def save(user: User, instrument: Instrument, *, token: str = "", **parts: Any) -> HttpResponse:
    """Send parts of a draft as the designer does; without ``token`` from the newest state."""
    address = reverse("admin:annotation_instrument_draft", args=[instrument.pk])
    now = hash_document(write_document(Instrument.objects.get(pk=instrument.pk)))
    sent = {"token": token or now, "parts": parts}
    response: HttpResponse = log_in(user).post(address, sent, content_type="application/json")
    return response
