"""A small part of `make attack`: whom each address is for, and two roles that must not get in."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.urls import reverse

from tests.kept_rows import keep_rows
from tests.tokens import header_for
from tools.attack import dependencies
from tools.attack.addresses import list_addresses
from tools.attack.client import Page, Reply
from tools.attack.dependencies import audit_dependencies, look_up_weaknesses, read_audit
from tools.attack.forms import read_forms
from tools.attack.injection import Injected, check_page
from tools.attack.matrix import Outcome, try_role
from tools.attack.mutations import Attempt, Harness, find_guards
from tools.attack.roles import ROLES, Role
from tools.attack.rules import RULES, find_rule, is_allowed
from tools.attack.stored import changed_tables, hash_tables
from tools.attack.world import World, build_world

ROLE = {role.name: role for role in ROLES}


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker):
    with keep_rows(django_db_blocker):
        yield build_world()


def send_in_process(role: Role) -> tuple[Client, object]:
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.get(username=role.account))

    def send(_role: Role, method: str, path: str, is_json: bool) -> Reply:
        kind = {"content_type": "application/json", "data": "{}"} if is_json else {}
        answer = (
            client.generic(method, path, **kind)
            if is_json
            else getattr(client, method.lower())(path)
        )
        body = b"" if answer.streaming else answer.content
        return Reply(answer.status_code, answer.headers.get("Location", ""), body)

    return client, send


def test_every_address_says_whom_it_is_for() -> None:
    names = {address.name for address in list_addresses()}
    assert len(names) > 250
    assert [name for name in sorted(names) if find_rule(name) is None] == []
    used = {find_rule(name) for name in names}
    assert [rule.names for rule in RULES if rule not in used] == []


@pytest.mark.parametrize("name", ["other researcher", "viewer"])
def test_who_has_no_right_gets_nowhere_and_changes_nothing(world: World, db, name: str) -> None:
    _client, send = send_in_process(ROLE[name])
    before = hash_tables()
    found = try_role(ROLE[name], list_addresses(), world, send, allowed=False, rare=())
    assert found.findings == []
    assert found.counts["refused"] > 200
    assert changed_tables(before) == []


def test_the_matrix_sees_a_door_that_is_open(world: World, db) -> None:
    """What an owner may open is a finding where a stranger opens it."""
    owner, stranger = ROLE["owner"], ROLE["other researcher"]
    _client, send = send_in_process(owner)
    overview = [one for one in list_addresses() if one.name.endswith("annotation_study_overview")]
    found: Outcome = try_role(stranger, overview, world, send, allowed=False)
    assert found.counts["reached"] == found.counts["leaks"] == 1


GUARDS = {
    "annotation.researcher.pages.study_page.StudyPage.may_change": (
        *("viewer", "POST", "admin:annotation_study_action"),
        "expected a refusal",
    ),
    "annotation.models.study.StudyQuerySet.visible_to": (
        *("other researcher", "GET", "api:study-list"),
        "shows what others own",
    ),
    "annotation.api.payments.StudyPaymentViewSet._find": (
        *("viewer", "GET", "api:study-payment-list"),
        "expected a refusal",
    ),
    "stereoscope.health_page.page.show_health": (
        *("other researcher", "GET", "health"),
        "expected a refusal",
    ),
}


@pytest.mark.parametrize("name", GUARDS)
def test_the_attack_sees_that_a_guard_is_gone(world: World, db, name: str) -> None:
    role, method, address, found = GUARDS[name]
    harness, attempt = Harness(world), Attempt(role, method, address)
    guards = {guard.name: guard for guard in find_guards()}
    assert len(guards) > 60
    assert harness.has_control(attempt)
    assert harness.attempt(attempt) == []
    with guards[name].taken_away():
        (line,) = harness.attempt(attempt)
    assert found in line
    assert harness.attempt(attempt) == []


def test_a_token_opens_the_api_alone_and_within_its_scopes() -> None:
    reading, paying = ROLE["read token"], ROLE["payment token"]
    names = ("admin:annotation_study_overview", "api:study-detail", "api:study-payment-pay")
    overview, study, pay = (rule for rule in map(find_rule, names) if rule is not None)
    assert not is_allowed(overview, reading, "GET")
    assert is_allowed(study, reading, "GET")
    assert not is_allowed(study, paying, "GET")
    assert is_allowed(pay, paying, "POST")
    assert not is_allowed(pay, reading, "POST")


@pytest.mark.parametrize(
    ("kind", "body", "headers", "noted"),
    [
        ("text/html", b"<p>&lt;zqv", {}, {}),
        ("text/html", b"<p><zqv", {}, {"unescaped": 1}),
        ("text/html", b"54439", {}, {"unescaped": 1}),
        ("text/csv", b"a,b\n'=1,-2\n", {}, {}),
        ("text/csv", b"a,b\n=1,2\n", {}, {"formulas": 1}),
        ("text/plain", b"", {"x-content-type-options": ""}, {"headers": 1}),
        ("text/plain", b"", {"cache-control": "public"}, {"headers": 1}),
    ],
)
def test_the_checks_see_what_hurts(kind, body, headers, noted) -> None:
    usual = {
        "content-type": kind,
        "content-security-policy": "default-src 'none'",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
    }
    found = Injected()
    check_page(found, "here", Page(200, "/", usual | headers, body, is_personal=True))
    assert dict(found.counts) == noted


def test_forms_are_read_as_browsers_do() -> None:
    (form,) = read_forms(
        '<form method="post" action="/x/"><input name="a" value="1"><input type="hidden" name="b" '
        'value="2"><textarea name="c">3</textarea><input type="file" name="d">'
        '<select name="e"><option value="4"><option value="5" selected></select>'
        '<input type="checkbox" name="f" checked><input name="g" disabled></form>'
        '<form><input name="h"></form>'
    )
    assert (form.action, form.texts, form.files) == ("/x/", {"a": "1", "c": "3"}, ["d"])
    assert form.fields == [("b", "2"), ("e", "5"), ("f", "on")]


def test_every_dependency_is_pinned_and_installed_as_pinned() -> None:
    assert audit_dependencies().findings == []


def test_known_weaknesses_are_findings_and_what_was_not_looked_up_is_counted() -> None:
    """The text as pip-audit 2.10 writes it; the weakness is one of Django's of 2024."""
    weakness = {
        "id": "PYSEC-2024-102",
        "fix_versions": ["4.2.16", "5.0.9", "5.1.1"],
        "aliases": ["CVE-2024-45230"],
        "description": "Potential denial of service in urlize.",
    }
    text = json.dumps(
        {
            "dependencies": [
                {"name": "django", "version": "5.1", "vulns": [weakness]},
                {"name": "celery", "version": "5.7.0", "vulns": []},
                {"name": "torch", "skip_reason": "Dependency not found on PyPI"},
            ],
            "fixes": [],
        }
    )
    audit = read_audit(text)
    assert audit.findings == ["django 5.1: PYSEC-2024-102, mended in 4.2.16, 5.0.9, 5.1.1"]
    assert audit.counts == {"versions looked up": 2, "not looked up": 1, "known weaknesses": 1}


def test_an_index_that_does_not_answer_in_time_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dependencies, "PATIENCE_SECONDS", 0.01)
    assert look_up_weaknesses().counts == {"versions looked up": 0}


# --- What `make attack` found -------------------------------------------------------------------


def test_the_link_of_a_study_of_others_is_told_to_nobody(world: World, db) -> None:
    client, _send = send_in_process(ROLE["other researcher"])
    study = world.rows["annotation_study"]
    kind = ContentType.objects.get_for_model(study)
    assert client.get(f"/admin/r/{kind.pk}/{study.pk}/").status_code == 404


@pytest.mark.parametrize(
    "query",
    [
        *("studies/?limit=-1", "studies/?limit=ten", "studies/?limit=", "studies/?offset=-1"),
        *("studies/?kind=", "corpora/?is_shared=perhaps", "corpora/?is_shared="),
        *("runs/{run}/text-scores/?trial=", "runs/{run}/text-scores/?trial=1.5"),
    ],
)
def test_the_api_refuses_a_filter_that_it_does_not_understand(world: World, db, query) -> None:
    header = header_for(User.objects.get(username="owner"))
    path = query.format(run=world.find("api:run", "public_id"))
    answer = Client().get(f"/api/v1/{path}", headers={"Authorization": header})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["message"].startswith("Expected")


@pytest.mark.parametrize("path", ["/api/", "/api/v2/", "/api/v1/measures/a%0Ab/"])
def test_every_address_below_the_api_answers_with_a_problem_document(client, db, path) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")


def test_nobody_keeps_what_was_made_for_somebody_signed_in(world: World, db) -> None:
    client, _send = send_in_process(ROLE["owner"])
    report = reverse("reports:page", args=[world.rows["evaluation_report"].public_id])
    assert "no-store" in client.get(report)["Cache-Control"]
    header = header_for(User.objects.get(username="owner"))
    for address in ("/api/v1/studies/", "/api/v1/runs/"):
        answer = Client().get(address, headers={"Authorization": header})
        assert "no-store" in answer["Cache-Control"]
    assert "no-store" not in Client().get("/").get("Cache-Control", "")


def test_reviewers_take_back_decisions_and_change_nothing_else() -> None:
    reviewer, viewer = ROLE["reviewer"], ROLE["viewer"]
    names = ("admin:annotation_writingstudy_undo", "admin:annotation_writingstudy_publish")
    undo, publish = (rule for rule in map(find_rule, names) if rule is not None)
    assert is_allowed(undo, reviewer, "POST")
    assert not is_allowed(undo, viewer, "POST")
    assert not is_allowed(publish, reviewer, "POST")
