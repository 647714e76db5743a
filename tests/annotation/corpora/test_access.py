"""Who may see a corpus: its owner, everyone if shared, members of studies that work on it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, User

from annotation.corpora.access import (
    can_change_corpus,
    can_see_corpus,
    changeable_corpora,
    visible_corpora,
)
from annotation.models import Corpus, Study, StudyKind, StudyMembership, WritingDesign
from tests.annotation.studies.people import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus() -> Corpus:
    return Corpus.objects.create(name="Texts", license="CC0", owner=make_user("alice"))


def test_owner_sees_and_changes_outsider_does_not(corpus):
    charlie = make_user("charlie")
    assert can_see_corpus(corpus.owner, corpus)
    assert can_change_corpus(corpus.owner, corpus)
    assert not can_see_corpus(charlie, corpus)
    assert not can_change_corpus(charlie, corpus)


def test_a_shared_corpus_is_read_by_all_researchers_only(corpus):
    Corpus.objects.update(is_shared=True)
    bob = make_user("bob")
    assert can_see_corpus(bob, corpus)
    assert not can_change_corpus(bob, corpus)
    for stranger in (AnonymousUser(), User.objects.create_user("participant")):
        assert not visible_corpora(stranger).exists()
        assert not changeable_corpora(stranger).exists()


def test_members_of_a_study_see_what_it_works_on(corpus):
    study = Study.objects.create(title="Writing", kind=StudyKind.COUNTERPART_WRITING)
    WritingDesign.objects.create(study=study, corpus=corpus)
    bob = make_user("bob")
    assert not can_see_corpus(bob, corpus)
    StudyMembership.objects.create(study=study, user=bob)
    assert can_see_corpus(bob, corpus)
    assert not can_change_corpus(bob, corpus)


def test_superusers_do_everything_as_long_as_they_are_active(corpus):
    root = make_user("root", is_superuser=True)
    assert can_change_corpus(root, corpus)
    root.is_active = False
    assert not can_see_corpus(root, corpus)
