"""How people come from a panel, and how they go back: parameters, signed links, codes."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings as site
from django.test import Client

from annotation.models import (
    Panel,
    PanelSettings,
    ParticipantIdentity,
    RejectionGround,
    Study,
    Submission,
    SubmissionState,
)
from annotation.panels import prolific
from annotation.panels.base import PanelArrival, find_address_problem
from annotation.panels.registry import PANELS
from annotation.panels.study_settings import load_panel_settings
from annotation.panels.survey_codes import make_survey_code, read_survey_code
from annotation.studies.creation import create_study
from annotation.survey.completion_path import find_completion_path
from tests.annotation.survey.conftest import make_person, make_study  # noqa: F401
from tests.panels_server import Fault

pytestmark = pytest.mark.django_db

AUDIENCE = "survey.example.org"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
IDS = {"PROLIFIC_PID": "5f00aa", "SESSION_ID": "6a01", "workspace_id": "w1"}


def describe_key(key: rsa.RSAPrivateKey, kid: str) -> dict[str, Any]:
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    return {**public, "kid": kid, "alg": "RS256", "use": "sig"}


def sign(claims: dict[str, Any] | None = None, *, key: Any = KEY, kid: str = "k1", **options):
    content = {"aud": AUDIENCE, "exp": int(time.time()) + 300, "prolific": IDS, **(claims or {})}
    content = {name: value for name, value in content.items() if value is not None}
    algorithm = options.get("algorithm", "RS256")
    return jwt.encode(content, key, algorithm=algorithm, headers={"kid": kid})


@pytest.fixture
def study(make_study, panel, monkeypatch):  # noqa: F811
    """A live study that lets in signed links only; keys are fetched anew."""
    monkeypatch.setattr(prolific, "_key_sets", {})
    panel.keys = [describe_key(KEY, "k1")]
    study = make_study(panel=Panel.PROLIFIC)
    PanelSettings.objects.filter(study=study).update(signed_links=True, link_audience=AUDIENCE)
    return Study.objects.get(pk=study.pk)


def open_link(study, token: str, **parameters: str):
    query = {**parameters, **({"prolific_token": token} if token else {})}
    return Client().get(study.get_absolute_url(), query)


def test_a_signed_link_lets_in_who_was_signed_for(study, panel, make_person) -> None:  # noqa: F811
    person = make_person()
    started = person.start(f"{study.get_absolute_url()}?prolific_token={sign()}")
    assert started.status == 302
    identity = ParticipantIdentity.objects.get()
    assert (identity.external_id, identity.session_id) == ("5f00aa", "6a01")
    assert "5f00aa" not in started.location
    assert panel.count("jwks.json") == 1, "keys are kept, not fetched for every link"
    open_link(study, sign())
    assert panel.count("jwks.json") == 1


@pytest.mark.parametrize(
    ("token", "says"),
    [
        (lambda: "", "not signed"),
        (lambda: "x" * 9000, "not signed"),
        (lambda: "no.token.atall", "not valid"),
        (lambda: sign({"exp": int(time.time()) - 3600}), "expired"),
        (lambda: sign({"exp": None}), "not valid"),
        (lambda: sign({"aud": "elsewhere.example"}), "not valid"),
        (lambda: sign({"aud": None}), "not valid"),
        (lambda: sign(key=OTHER_KEY), "not valid"),
        (lambda: sign(kid="made-up"), "not valid"),
        (lambda: sign({"prolific": None}), "names nobody"),
        (lambda: sign({"prolific": {"workspace_id": "w1"}}), "no Prolific id"),
        # A symmetric signature with a secret of one's own, under the name of a real key.
        (lambda: sign(key="a secret of their own, long enough", algorithm="HS256"), "not valid"),
    ],
)
def test_a_link_that_is_not_rightly_signed_lets_nobody_in(study, token, says) -> None:
    answer = open_link(study, token())
    assert answer.status_code == 400
    assert says in answer.content.decode()
    assert not ParticipantIdentity.objects.exists()


def test_an_unsigned_token_is_refused(study) -> None:
    def encode(part: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()

    content = {"aud": AUDIENCE, "exp": int(time.time()) + 300, "prolific": IDS}
    token = f"{encode({'alg': 'none', 'kid': 'k1'})}.{encode(content)}."
    assert open_link(study, token).status_code == 400


def test_ids_in_the_link_must_be_the_signed_ones(study) -> None:
    assert open_link(study, sign(), PROLIFIC_PID="5f00aa").status_code == 200
    assert open_link(study, sign(), PROLIFIC_PID="somebody-else").status_code == 400


def test_a_signed_link_opens_the_visit_in_one_browser_and_only_once(study, make_person) -> None:  # noqa: F811
    token, link = sign(), study.get_absolute_url()
    phone, thief, desktop = make_person(), make_person(), make_person()
    phone.start(f"{link}?prolific_token={token}")
    own = Submission.objects.get().token
    assert phone.path == f"/r/{own}/"
    phone.start(f"{link}?prolific_token={token}")
    assert phone.path == f"/r/{own}/"
    thief.start(f"{link}?prolific_token={token}")
    assert own not in thief.path
    # Opened at the panel again, it is signed anew: the person's own second device.
    fresh = sign({"exp": int(time.time()) + 301})
    desktop.start(f"{link}?prolific_token={fresh}")
    assert desktop.path == f"/r/{own}/"


def test_new_prolific_studies_want_signed_links() -> None:
    for panel, signed in ((Panel.PROLIFIC, True), (Panel.LINK, False), (Panel.MTURK, False)):
        study = create_study(title="New", owner=None, contact_email="a@b.org", panel=panel)
        assert load_panel_settings(study).signed_links is signed


def test_a_form_cannot_claim_to_be_verified(study) -> None:
    client, link = Client(), study.get_absolute_url()
    assert client.post(link, {"arrival": "WyJhIiwiYiJd:1:forged"}).status_code == 400
    assert client.post(link, {"PROLIFIC_PID": "5f00aa"}).status_code == 400
    assert not Submission.objects.exists()


def test_a_new_key_of_the_panel_is_fetched_once_for_its_unknown_id(
    study, panel, monkeypatch
) -> None:
    assert open_link(study, sign()).status_code == 200
    panel.keys = [describe_key(OTHER_KEY, "k2")]
    monkeypatch.setattr(prolific, "PAUSE_SECONDS", -1)
    assert open_link(study, sign(key=OTHER_KEY, kid="k2")).status_code == 200
    assert panel.count("jwks.json") == 2


def test_made_up_key_ids_do_not_make_this_site_ask_again_and_again(study, panel) -> None:
    for number in range(5):
        assert open_link(study, sign(kid=f"made-up-{number}")).status_code == 400
    assert panel.count("jwks.json") == 1


def test_known_keys_serve_on_while_the_panel_is_away(study, panel, monkeypatch) -> None:
    assert open_link(study, sign()).status_code == 200
    monkeypatch.setattr(prolific, "KEPT_SECONDS", -1)
    monkeypatch.setattr(prolific, "PAUSE_SECONDS", -1)
    panel.faults.append(Fault(status=503))
    assert open_link(study, sign()).status_code == 200
    assert panel.count("jwks.json") == 2


def test_a_study_maps_the_parameters_of_its_links(make_study, make_person) -> None:  # noqa: F811
    study = make_study(panel=Panel.PROLIFIC)
    PanelSettings.objects.filter(study=study).update(
        person_parameter="pid", session_parameter="visit"
    )
    study = Study.objects.get(pk=study.pk)
    assert Client().get(study.get_absolute_url(), {"PROLIFIC_PID": "a"}).status_code == 400
    person = make_person()
    assert person.start(f"{study.get_absolute_url()}?pid=p1&visit=v1").status == 302
    identity = ParticipantIdentity.objects.get()
    assert (identity.external_id, identity.session_id) == ("p1", "v1")


def test_any_link_may_name_the_person_and_lead_back(make_study, make_person) -> None:  # noqa: F811
    study = make_study(panel=Panel.LINK)
    PanelSettings.objects.create(
        study=study,
        person_parameter="id",
        return_urls={"completed": "https://panel.example/end?c={code}&who={id}"},
    )
    person = make_person()
    assert person.start(f"{study.get_absolute_url()}?id=a-1").status == 302
    html = person.go_on() and person.see().html
    code = study.completion_codes["completed"]
    assert f'href="https://panel.example/end?c={code}&amp;who=a-1"' in html
    assert "Return to the panel" in html


@pytest.mark.parametrize(
    "address",
    [
        "panel.example/end",
        "javascript:alert(1)",
        "https://{id}.example/",
        "https://panel.example/{name}",
        "http://[bad",
    ],
)
def test_an_address_that_leads_nowhere_is_refused(address) -> None:
    assert find_address_problem(address)


def test_what_is_filled_into_an_address_cannot_change_it() -> None:
    from annotation.panels.base import fill_address

    filled = fill_address("https://p.example/?c={code}&i={id}", code="A", external_id="x&admin=1#")
    assert filled == "https://p.example/?c=A&i=x%26admin%3D1%23"


def test_a_survey_code_belongs_to_one_submission_and_is_shown_at_its_end(
    make_study,  # noqa: F811
    make_person,  # noqa: F811
) -> None:
    study = make_study(panel=Panel.MTURK)
    first, second = make_person(), make_person()
    codes = []
    for person in (first, second):
        person.start(study.get_absolute_url())
        submission = Submission.objects.latest("pk")
        assert make_survey_code(submission.token) not in person.see().html
        assert find_completion_path(study, "completed", submission) is None, "not at its end yet"
        person.go_on()
        html = person.see().html
        codes.append(make_survey_code(submission.token))
        assert codes[-1] in html
        assert study.completion_codes["completed"] not in html
    assert codes[0] != codes[1]
    assert all(len(code) == 12 for code in codes)


def test_who_gave_no_consent_sees_no_survey_code(make_study) -> None:  # noqa: F811
    study = make_study(panel=Panel.MTURK)
    submission = Submission(study=study, token="t" * 32, state=SubmissionState.ENDED)
    assert find_completion_path(study, "no_consent", submission) is None


def test_a_code_is_read_as_people_type_it() -> None:
    assert read_survey_code(" 0oil-u9 ab ") == "0011V9AB"


# --- every panel of the registry ------------------------------------------------------------


@pytest.mark.parametrize("name", PANELS)
def test_every_panel_keeps_to_its_contract(name, make_study) -> None:  # noqa: F811
    found = PANELS[name]
    assert found.name == name
    assert str(found.title)
    study = make_study(panel=name)
    settings = PanelSettings(study=study)
    fields = found.arrival_fields(PanelArrival("p", "s"), settings)
    if found.person_name(settings):
        assert "p" in fields.values()
        assert found.person_name(settings) in found.link_query(settings)
    if found.rules.categories:
        unknown = set(RejectionGround.values) - set(found.rules.categories)
        assert not unknown, "every ground of rejection has a category of the panel"
    for code in found.describe_codes(study, settings):
        assert code.code == study.completion_codes[code.outcome.value]
        assert code.kind
    assert study.get_panel_display() == str(found.title)


def test_settings_reach_prolific_by_default() -> None:
    assert site.PROLIFIC_JWKS_URL.startswith("https://api.prolific.com/")
