"""The pages “Money” and “Panel”: who may do what, and that nothing is done unconfirmed."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import (
    ActionState,
    MembershipRole,
    Panel,
    PanelAction,
    PanelSettings,
    ParticipantIdentity,
    PayDecision,
    Study,
    StudyMembership,
    Submission,
)
from annotation.panels.payment_service import pay_study
from annotation.panels.survey_codes import make_survey_code
from tests.annotation.panels.conftest import VARIABLE
from tests.annotation.studies.people import make_user
from tests.panels_server import Fault

pytestmark = pytest.mark.django_db


def allow_payments(user: User) -> User:
    user.user_permissions.add(Permission.objects.get(codename="export_payments"))
    return User.objects.get(pk=user.pk)


@pytest.fixture
def alice(study: Study) -> User:
    alice = make_user("alice")
    Study.objects.update(owner=alice)
    return allow_payments(alice)


@pytest.fixture
def bob(study: Study) -> User:
    bob = make_user("bob")
    StudyMembership.objects.create(study=study, user=bob, role=MembershipRole.VIEWER)
    return allow_payments(bob)


def page(study: Study, name: str = "money", *more: str) -> str:
    return reverse(f"admin:annotation_study_{name}", args=[study.pk, *more])


def log_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def read_confirmation(html: str) -> str:
    return re.search(r'name="confirmed" value="(\w+)"', html)[1]


def test_nothing_is_planned_before_it_is_confirmed(study, add, alice) -> None:
    for name in "abc":
        add(name)
    client = log_in(alice)
    shown = client.post(page(study, "money_plan"), {"do": "rewards"})
    html = shown.content.decode()
    assert "3 people, $6.00" in html
    assert not PanelAction.objects.exists()
    sent = {"do": "rewards", "confirmed": read_confirmation(html)}
    assert client.post(page(study, "money_plan"), sent).status_code == 302
    assert PanelAction.objects.filter(planned_by=alice).count() == 3
    client.post(page(study, "money_plan"), sent)
    assert PanelAction.objects.count() == 3, "a second click plans nothing more"


def test_what_has_changed_since_is_shown_again_and_not_done(study, add, alice) -> None:
    add("a")
    client = log_in(alice)
    shown = client.post(page(study, "money_plan"), {"do": "rewards"}).content.decode()
    add("b")
    sent = {"do": "rewards", "confirmed": read_confirmation(shown)}
    again = client.post(page(study, "money_plan"), sent)
    assert again.status_code == 409
    assert "Something has changed" in again.content.decode()
    assert "2 people, $4.00" in again.content.decode()
    assert not PanelAction.objects.exists()


def test_a_bonus_is_shown_with_people_and_sum(study, add, alice) -> None:
    PanelSettings.objects.update(fee_percent=50)
    for name in "ab":
        add(name, data_decision="accepted")
    add("c")
    client = log_in(alice)
    asked = {"do": "bonus", "name": "thanks", "condition": "accepted", "amount": "1.25"}
    html = client.post(page(study, "money_plan"), asked).content.decode()
    assert "2 people, $2.50 and $1.25 for the panel" in html
    client.post(page(study, "money_plan"), {**asked, "confirmed": read_confirmation(html)})
    assert set(PanelAction.objects.values_list("key", "amount_minor")) == {("thanks", 125)}


@pytest.mark.parametrize(
    "changes", [{"amount": "lots"}, {"name": "Not So"}, {"condition": "friends"}, {"amount": ""}]
)
def test_a_bonus_that_cannot_be_says_why(study, add, alice, changes) -> None:
    add("a")
    asked = {"do": "bonus", "name": "thanks", "condition": "approved", "amount": "1.25"}
    client = log_in(alice)
    answer = client.post(page(study, "money_plan"), {**asked, **changes}, follow=True)
    assert 'class="errornote' in answer.content.decode() or list(answer.context["messages"])
    assert not PanelAction.objects.exists()


@pytest.mark.parametrize("do", ["rewards", "returns", "rejections", "bonus"])
def test_viewers_look_and_do_not_pay(study, add, alice, bob, do) -> None:
    add("a")
    client = log_in(bob)
    assert client.get(page(study)).status_code == 200
    assert "Pay rewards" not in client.get(page(study)).content.decode()
    assert client.post(page(study, "money_plan"), {"do": do}).status_code == 403
    for action in ("ask", "retry", "send-again", "places", "pause"):
        assert client.post(page(study, "money_action", action)).status_code == 403


def test_the_owner_needs_the_permission_too(study, add, alice) -> None:
    alice.user_permissions.clear()
    client = log_in(User.objects.get(pk=alice.pk))
    assert client.post(page(study, "money_plan"), {"do": "rewards"}).status_code == 403


def test_outsiders_find_nothing(study, alice) -> None:
    charlie = allow_payments(make_user("charlie"))
    for name in ("money", "panel"):
        assert log_in(charlie).get(page(study, name)).status_code == 404


def test_codes_and_settings_show_to_who_may_change_them(study, alice, bob) -> None:
    code = study.completion_codes["completed"]
    assert code in log_in(alice).get(page(study, "panel")).content.decode()
    seen = log_in(bob).get(page(study, "panel")).content.decode()
    assert code not in seen
    assert VARIABLE not in seen
    assert log_in(bob).post(page(study, "panel"), {}).status_code == 403


def test_no_page_names_anybody(study, add, alice, panel) -> None:
    add("a-session-at-the-panel")
    client = log_in(alice)
    shown = client.post(page(study, "money_plan"), {"do": "rewards"}).content.decode()
    sent = {"do": "rewards", "confirmed": read_confirmation(shown)}
    client.post(page(study, "money_plan"), sent)
    panel.faults.append(Fault(status=400, only="transition"))
    pay_study(study=study)
    assert PanelAction.objects.get().state == ActionState.FAILED
    for html in (shown, client.get(page(study)).content.decode()):
        assert "a-session-at-the-panel" not in html


def test_an_unclear_bonus_is_sent_again_only_with_a_tick(study, add, alice, panel) -> None:
    add("a")
    client = log_in(alice)
    asked = {"do": "bonus", "name": "thanks", "condition": "approved", "amount": "1.50"}
    html = client.post(page(study, "money_plan"), asked).content.decode()
    client.post(page(study, "money_plan"), {**asked, "confirmed": read_confirmation(html)})
    panel.faults.append(Fault(drop=True, only="/pay/"))
    pay_study(study=study)
    assert "Unclear" in client.get(page(study)).content.decode()
    client.post(page(study, "money_action", "send-again"))
    assert PanelAction.objects.get().state == ActionState.UNCLEAR
    client.post(page(study, "money_action", "send-again"), {"confirm": "yes"})
    pay_study(study=study)
    assert panel.paid("bonus") == {"a": 1}


def test_a_panel_that_does_not_answer_is_no_error_page(study, add, alice, panel) -> None:
    panel.faults.append(Fault(status=500))
    answer = log_in(alice).post(page(study, "money_action", "ask"), follow=True)
    assert [str(message) for message in answer.context["messages"]] == [
        "Prolific has a fault (500)."
    ]
    assert panel.count("submissions") == 1, "a person in front of a page does not wait"


def test_places_are_increased_from_the_page(study, alice, panel) -> None:
    client = log_in(alice)
    client.post(page(study, "money_action", "places"), {"places": "150"})
    assert panel.places == 150
    client.post(page(study, "money_action", "places"), {"places": "20"})
    client.post(page(study, "money_action", "places"), {"places": "many"})
    assert panel.places == 150


def test_without_an_api_payments_are_recorded_by_hand(study, add, alice) -> None:
    Study.objects.update(panel=Panel.LINK)
    add("a")
    client = log_in(alice)
    html = client.post(page(study, "money_plan"), {"do": "rewards"}).content.decode()
    assert "Nothing is sent anywhere" in html
    sent = {"do": "rewards", "confirmed": read_confirmation(html)}
    client.post(page(study, "money_plan"), sent)
    assert PanelAction.objects.get().state == ActionState.CONFIRMED
    assert "$2.00" in client.get(page(study)).content.decode()


def test_a_file_of_survey_codes_is_matched_and_filled(study, add, alice) -> None:
    Study.objects.update(panel=Panel.MTURK)
    submission = add("a")
    ParticipantIdentity.objects.update(session_id="")
    text = f"AssignmentId,Answer.surveycode\nA1,{make_survey_code(submission.token)}\nA2,x\n"
    client = log_in(alice)

    def send(button: str):
        file = SimpleUploadedFile("batch.csv", text.encode())
        return client.post(page(study, "money_file"), {"file": file, button: ""})

    html = send("match").content.decode()
    assert "Unknown code" in html
    assert ParticipantIdentity.objects.get().session_id == "A1"
    filled = send("fill")
    assert filled["Content-Type"].startswith("text/csv")
    assert filled.content.decode().splitlines()[1].endswith(",x,")
    assert client.post(page(study, "money_file"), {}).status_code == 302


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("api_token_variable", "secret-token-itself", "Expected the name"),
        ("api_token_variable", "SECRET_KEY", "Expected the name"),
        ("webhook_secret_variable", "DATABASE_URL", "Expected the name"),
        ("person_parameter", "a b", "is no parameter"),
        ("session_parameter", "pid", "already names the person"),
        ("panel_study_id", "../users", "is no id"),
        ("fee_percent", "-1", "greater than or equal to 0"),
        ("screen_out_percent", "100", "less than or equal to 99"),
        ("screen_out_pay", "fixed", "Enter the amount"),
    ],
)
def test_bad_settings_are_refused_with_what_is_expected(study, alice, field, value, says) -> None:
    sent = {
        "person_parameter": "pid",
        "panel_study_id": "study1",
        "api_token_variable": VARIABLE,
        "fee_percent": "10",
        "minimum_hourly_minor": "1200",
        "screen_out_pay": "nothing",
        "screen_out_minor": "0",
        "screen_out_percent": "10",
    }
    answer = log_in(alice).post(page(study, "panel"), {**sent, field: value})
    assert answer.status_code == 422
    assert says in answer.content.decode()
    assert PanelSettings.objects.get().person_parameter == ""
    if value == "secret-token-itself":
        said = re.sub(r"<input[^>]*>", "", answer.content.decode())
        assert value not in said, "it may be the secret, and is not repeated in a message"
    stored = log_in(alice).post(page(study, "panel"), sent)
    assert stored.status_code == 302
    assert PanelSettings.objects.get().person_parameter == "pid"


def test_return_addresses_are_set_by_outcome(study, alice) -> None:
    Study.objects.update(panel=Panel.LINK)
    sent = {"fee_percent": "0", "minimum_hourly_minor": "0"}
    bad = {**sent, "return_completed": "https://x.example/{who}"}
    assert log_in(alice).post(page(study, "panel"), bad).status_code == 422
    good = {**sent, "return_completed": "https://x.example/{id}?c={code}"}
    assert log_in(alice).post(page(study, "panel"), good).status_code == 302
    assert PanelSettings.objects.get().return_urls == {
        "completed": "https://x.example/{id}?c={code}"
    }


def test_the_page_warns_below_the_lowest_hourly_pay(study, add, alice) -> None:
    PanelSettings.objects.update(minimum_hourly_minor=100_000)
    assert "less than the $1,000.00" in log_in(alice).get(page(study)).content.decode()


def test_the_page_costs_the_same_for_many_people(
    study, add, alice, django_assert_max_num_queries
) -> None:
    for number in range(12):
        add(f"s{number}")
    client = log_in(alice)
    client.get(page(study))
    with django_assert_max_num_queries(45):
        client.get(page(study))


# --- the command ----------------------------------------------------------------------------


def test_the_command_pays_here_what_is_approved(study, add, panel, capsys) -> None:
    add("a")
    add("b", pay_decision=PayDecision.WAITING)
    call_command("pay_study", study.public_id, "--dry-run")
    assert not PanelAction.objects.exists()
    call_command("pay_study", study.public_id, "--yes", "--here")
    assert panel.paid("reward") == {"a": 1}
    assert "1 person, $2.00." in capsys.readouterr().out
    call_command("pay_study", study.public_id, "--yes", "--here")
    assert panel.paid("reward") == {"a": 1}


def test_the_command_asks_for_the_number_of_people(study, add, panel, monkeypatch) -> None:
    add("a")
    monkeypatch.setattr("builtins.input", lambda prompt: "2")
    with pytest.raises(CommandError, match="Not confirmed"):
        call_command("pay_study", study.public_id, "--here")
    assert not panel.ledger
    monkeypatch.setattr("builtins.input", lambda prompt: "1")
    call_command("pay_study", study.public_id, "--here")
    assert panel.paid("reward") == {"a": 1}


def test_the_command_says_what_is_wrong(study, panel) -> None:
    with pytest.raises(CommandError, match="There is no study"):
        call_command("pay_study", "nonsense")
    Study.objects.update(panel=Panel.LINK)
    with pytest.raises(CommandError, match="no API"):
        call_command("pay_study", study.public_id)
    assert not Submission.objects.exists()
