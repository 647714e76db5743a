"""Invitations: places, numbers, mail, and what refuses."""

from __future__ import annotations

import logging
import socket

import pytest
from django.core import mail
from django.core.exceptions import ValidationError

from annotation.annotators.errors import InvitationNotSent
from annotation.annotators.invitations import (
    invite_annotator,
    remove_annotator,
    renew_invitation,
    send_invitation,
)
from annotation.models import StudyKind, StudyStatus
from tests.annotation.annotators.people import make_annotated_study, make_annotator

pytestmark = pytest.mark.django_db


def test_places_are_numbered_and_numbers_are_never_given_twice():
    study = make_annotated_study()
    first, second = invite_annotator(study=study), invite_annotator(study=study)
    assert [first.number, second.number] == [1, 2]
    remove_annotator(annotator=second)
    assert invite_annotator(study=study).number == 3


def test_an_invitation_by_mail_carries_link_and_number(settings):
    settings.EMAIL_HOST, settings.SITE_URL = "mail.example.org", "https://site.example"
    place = invite_annotator(study=make_annotated_study(), email="ann@example.org")
    send_invitation(annotator=place)
    (message,) = mail.outbox
    assert message.to == ["ann@example.org"]
    assert message.reply_to == ["lab@example.org"]
    assert f"https://site.example/annotate/join/{place.invitation_token}/" in message.body
    assert "Annotator 1" in message.body


def test_without_a_mail_server_the_researcher_is_told_to_hand_the_link_over(settings):
    settings.EMAIL_HOST = ""
    place = invite_annotator(study=make_annotated_study(), email="ann@example.org")
    with pytest.raises(InvitationNotSent, match="No mail server"):
        send_invitation(annotator=place)
    assert mail.outbox == []


def test_a_mail_server_that_fails_leaves_the_place_and_no_address_in_the_log(settings, caplog):
    with socket.socket() as taken:  # bound but not listening: connections are refused
        taken.bind(("127.0.0.1", 0))
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", taken.getsockname()[1]
        place = invite_annotator(study=make_annotated_study(), email="ann@example.org")
        with caplog.at_level(logging.DEBUG), pytest.raises(InvitationNotSent, match="did not"):
            send_invitation(annotator=place)
    assert "ConnectionRefusedError" in caplog.text
    assert "ann@" not in caplog.text


def test_the_same_address_is_not_invited_twice():
    study = make_annotated_study()
    first = invite_annotator(study=study, email="ann@example.org")
    with pytest.raises(ValidationError, match="invited already, as Annotator 1"):
        invite_annotator(study=study, email="Ann@Example.org")
    remove_annotator(annotator=first)
    assert invite_annotator(study=study, email="ann@example.org").number == 2


def test_a_wrong_address_is_refused_with_what_is_expected():
    with pytest.raises(ValidationError, match="“ann” is no e-mail address, expected one such as"):
        invite_annotator(study=make_annotated_study(), email="ann")


@pytest.mark.parametrize("status", [StudyStatus.CLOSED, StudyStatus.ARCHIVED])
def test_nobody_is_invited_to_a_study_that_is_over(status):
    with pytest.raises(ValidationError, match="nobody can be invited"):
        invite_annotator(study=make_annotated_study(status=status))


def test_a_survey_has_no_annotators():
    with pytest.raises(ValidationError, match="participants, not annotators"):
        invite_annotator(study=make_annotated_study(kind=StudyKind.ABC_SURVEY))


def test_a_renewed_invitation_has_a_new_link_alone():
    place = invite_annotator(study=make_annotated_study())
    renewed = renew_invitation(annotator=place)
    assert renewed.invitation_token != place.invitation_token
    assert renewed.number == place.number


def test_who_has_joined_or_was_removed_gets_no_new_link():
    study = make_annotated_study()
    with pytest.raises(ValidationError, match="has joined already"):
        renew_invitation(annotator=make_annotator(study, "ann"))
    with pytest.raises(ValidationError, match="was removed"):
        renew_invitation(annotator=remove_annotator(annotator=invite_annotator(study=study)))
