"""Takes each guard of the code away in turn: the attack must then find what is open.

A guard is a function that refuses (`raise PermissionDenied`), that says who may (`may_change`,
`has_view_permission`), or that leaves out what one may not see (`visible_to`). They are found in
the code itself, so that a new one is tried, too.

First the rightful role sends every request, with what the page's own form holds: its positive
control. Then the others send it, and what guards were asked is noted. Then each guard is taken
away, and the requests that asked it are sent once more. All of that is rolled back each time.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

PRODUCT = ("annotation.", "probing.", "evaluation.", "stereoscope.")
SAYS_WHO_MAY = re.compile(r"has_\w*permission|may_\w+|is_visible_to|can_(see|change)_corpus")
ATTACKING = (
    "anonymous",
    "account without a place",
    "staff without permissions",
    "other researcher",
    "read token",
    "payment token",
    "viewer",
    "reviewer",
    "editor",
)
#: In this order the first one that a rule lets in is the rightful role of a request.
RIGHTFUL = ("owner", "superuser", "annotator", "participant")


@dataclass(frozen=True)
class Guard:
    """A function, and the code that it has without its guard."""

    name: str
    function: FunctionType
    removed: CodeType

    @contextmanager
    def taken_away(self) -> Iterator[None]:
        kept = self.function.__code__
        self.function.__code__ = self.removed
        try:
            yield
        finally:
            self.function.__code__ = kept


class _Remover(ast.NodeTransformer):
    """Opens one function; ``was_guard`` tells whether there was something to open."""

    def __init__(self, name: str) -> None:
        self.path, self.name, self.was_guard = [""], name, False

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._enter(node, node.name)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        says = SAYS_WHO_MAY.fullmatch(node.name) or node.name == "visible_to"
        if says and ".".join([*self.path, node.name])[1:] == self.name:
            everything: ast.expr = ast.Constant(True)
            if node.name == "visible_to":
                everything = ast.Name("self", ast.Load())
            node.body.insert(0, ast.Return(everything))
            self.was_guard = True
        return self._enter(node, node.name)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        is_here = ".".join(self.path)[1:] == self.name
        if is_here and isinstance(raised, ast.Name) and raised.id == "PermissionDenied":
            self.was_guard = True
            return ast.copy_location(ast.Pass(), node)
        return node

    def _enter(self, node: Any, name: str) -> ast.AST:
        self.path.append(name)
        self.generic_visit(node)
        self.path.pop()
        return node


def find_guards() -> list[Guard]:
    """Return the guards of every module of the product that is loaded, by name."""
    found = []
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not name.startswith(PRODUCT) or not file or not file.endswith(".py"):
            continue
        source = Path(file).read_text(encoding="utf-8")
        for qualified, function in _list_functions(module):
            remover = _Remover(qualified)
            tree = ast.fix_missing_locations(remover.visit(ast.parse(source)))
            if not remover.was_guard:
                continue
            code = _find_code(compile(tree, file, "exec"), qualified)
            if code and code.co_freevars == function.__code__.co_freevars:
                found.append(Guard(f"{name}.{qualified}", function, code))
    return found


def _list_functions(module: Any) -> Iterator[tuple[str, FunctionType]]:
    """Yield what a module defines itself: functions, and those of its classes, by their names."""
    for owner in (module, *filter(_is_own(module), vars(module).values())):
        for value in list(vars(owner).values()):
            inner = getattr(value, "func", getattr(value, "fget", value))
            while hasattr(inner, "__wrapped__"):
                inner = inner.__wrapped__
            if isinstance(inner, FunctionType) and inner.__module__ == module.__name__:
                text = f"{inner.__name__} {' '.join(inner.__code__.co_names)}"
                if "PermissionDenied" in text or SAYS_WHO_MAY.search(text) or "visible_to" in text:
                    yield inner.__qualname__, inner


def _is_own(module: Any) -> Any:
    return lambda value: isinstance(value, type) and value.__module__ == module.__name__


def _find_code(code: CodeType, qualified: str) -> CodeType | None:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            if one.co_qualname == qualified:
                return one
            if found := _find_code(one, qualified):
                return found
    return None


# --- Requests -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attempt:
    """One request of one role; ``address`` stands in `Harness.addresses`."""

    role: str
    method: str
    address: str


class Harness:
    """Sends requests of roles in this process, and judges the answers as the matrix does."""

    def __init__(self, world: Any) -> None:
        from tools.attack.addresses import list_addresses
        from tools.attack.matrix import FINAL
        from tools.attack.roles import ROLES

        self.world = world
        self.roles = {role.name: role for role in ROLES}
        self.addresses = {one.name: one for one in list_addresses() if one.name not in FINAL}
        self.clients: dict[str, Any] = {}
        self.forms: dict[str, dict[str, list[str]]] = {}

    @cached_property
    def visits(self) -> dict[str, str]:
        """The links of a visit that a participant has begun."""
        from django.test import Client

        from tools.attack.world import VISIT_PAGES

        link = f"/s/{self.world.find('survey:', 'public_id')}/"
        kind = "application/x-www-form-urlencoded"
        begun = Client(secure=True).post(link, "", content_type=kind, secure=True)
        token = begun["Location"].rstrip("/").rpartition("/")[2]
        self.world.links |= dict.fromkeys(VISIT_PAGES, token)
        return {"token": token}

    def send(self, role: Any, method: str, path: str, is_json: bool) -> Any:
        """Send a request, with what the form of the page holds where it has one."""
        from urllib.parse import urlencode

        from tools.attack.client import Reply

        client, headers = self._sign_in(role)
        kind, body = "application/x-www-form-urlencoded", ""
        if is_json:
            kind, body = "application/json", "{}"
        elif method == "POST":
            body = urlencode(self.forms.get(path, {}), doseq=True)
        answer = client.generic(method, path, body, content_type=kind, secure=True, headers=headers)
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        return Reply(answer.status_code, answer.headers.get("Location", ""), content)

    def _sign_in(self, role: Any) -> tuple[Any, dict[str, str]]:
        from django.contrib.auth.models import User
        from django.test import Client

        from stereoscope.api_authentication import create_token

        if role.name not in self.clients:
            client, headers = Client(raise_request_exception=False), {}
            if role.scopes:
                user = User.objects.get(username=role.account)
                _row, key = create_token(user=user, name=role.name, scopes=role.scopes)
                headers = {"Authorization": f"Token {key}"}
            elif role.account:
                client.force_login(User.objects.get(username=role.account))
            self.clients[role.name] = client, headers
        return self.clients[role.name]

    def read_forms(self) -> None:
        """Keep what every form of the owner's pages holds, by where it is sent to."""
        from urllib.parse import urljoin

        from tools.attack.forms import read_forms
        from tools.attack.rules import find_rule, is_allowed

        for name in RIGHTFUL[:2]:
            for address in self.addresses.values():
                rule = find_rule(address.name)
                if rule is None or rule.is_json or not is_allowed(rule, self.roles[name], "GET"):
                    continue
                path = address.fill(self.world.find)
                page = self.send(self.roles[name], "GET", path, False)
                if page.status != 200 or b"<form" not in page.body:
                    continue
                for form in read_forms(page.body.decode(errors="replace")):
                    fields: dict[str, list[str]] = defaultdict(list)
                    for field, value in (*form.fields, *form.texts.items()):
                        fields[field].append(value)
                    target = urljoin(path, form.action or path).partition("?")[0]
                    self.forms.setdefault(target, dict(fields))

    def list_attempts(self) -> Iterator[Attempt]:
        """Yield what roles may not do, and pages of outsiders that must not show the owner's."""
        from tools.attack.rules import find_rule, is_allowed

        for name in ATTACKING:
            role = self.roles[name]
            for address in self.addresses.values():
                rule = find_rule(address.name)
                for method in ("GET", "POST"):
                    if rule is None or "logout" in address.name:
                        continue
                    looks = method == "GET" and "reads" not in role.rights
                    if looks or not is_allowed(rule, role, method):
                        yield Attempt(name, method, address.name)

    def attempt(self, one: Attempt) -> list[str]:
        """Return what the matrix finds wrong with the answer."""
        from tools.attack.matrix import Outcome, judge
        from tools.attack.rules import find_rule, is_allowed

        role, address = self.roles[one.role], self.addresses[one.address]
        rule = find_rule(address.name)
        assert rule is not None
        reply = self.send(role, one.method, self.fill(role, address), rule.is_json)
        outcome = Outcome()
        allowed = is_allowed(rule, role, one.method)
        judge(outcome, role, rule, address, one.method, reply, allowed=allowed)
        return outcome.findings

    def fill(self, role: Any, address: Any) -> str:
        from tools.attack.matrix import finder

        return str(address.fill(finder(self.world, role, address)))

    def has_control(self, one: Attempt) -> bool:
        """Whether the same request gets in for the role that it is for."""
        from tools.attack.matrix import is_refusal
        from tools.attack.rules import find_rule, is_allowed

        address = self.addresses[one.address]
        rule = find_rule(address.name)
        assert rule is not None
        for name in RIGHTFUL:
            if is_allowed(rule, self.roles[name], one.method):
                path = self.fill(self.roles[name], address)
                reply = self.send(self.roles[name], one.method, path, rule.is_json)
                if reply.status < 500 and not is_refusal(reply):
                    return True
        return False


def try_mutations(world: Any) -> dict[str, Any]:
    """Return the counts of the attempts, and for each guard what was found without it."""
    from django.db import transaction

    from tools.attack.stored import changed_tables, hash_tables

    harness = Harness(world)
    _ = harness.visits
    for name in (*ATTACKING, *RIGHTFUL):
        harness._sign_in(harness.roles[name])
    harness.read_forms()
    guards = find_guards()
    by_code = {guard.function.__code__: guard for guard in guards}
    asked: dict[str, list[Attempt]] = defaultdict(list)
    counts, findings = Counter[str](), []
    before = hash_tables()
    controls: dict[tuple[str, str], bool] = {}
    for one in list(harness.list_attempts()):
        key = one.method, one.address
        if key not in controls:
            with transaction.atomic():
                controls[key] = harness.has_control(one)
                transaction.set_rollback(True)
        counts["attempts"] += 1
        counts["with a positive control"] += controls[key]
        met: set[str] = set()

        def note(frame: FrameType, event: str, _arg: Any) -> None:
            if event == "call" and (guard := by_code.get(frame.f_code)):
                met.add(guard.name)  # noqa: B023 - called before the loop goes on

        with transaction.atomic():
            sys.setprofile(note)
            try:
                findings += harness.attempt(one)
            finally:
                sys.setprofile(None)
            transaction.set_rollback(True)
        for name in met:
            asked[name].append(one)
    found: dict[str, str] = {}
    for guard in guards:
        if guard.name not in asked:
            continue
        lines: list[str] = []
        with transaction.atomic(), guard.taken_away():
            for one in asked[guard.name]:
                lines += [line for line in harness.attempt(one) if line not in findings]
            lines += [f"{table} was changed" for table in changed_tables(before)]
            transaction.set_rollback(True)
        found[guard.name] = f"{len(lines)}: {lines[0]}" if lines else ""
    return {
        "counts": dict(counts),
        "findings": findings,
        "guards": found,
        "unasked": [guard.name for guard in guards if guard.name not in asked],
    }


def run(folder: Path) -> Mapping[str, Any]:
    """Build an installation in ``folder`` and try every guard of it."""
    import os

    from tools.attack.__main__ import _environment

    for unwanted in ("DEBUG", "DATABASE_URL", "CELERY_BROKER_URL"):
        os.environ.pop(unwanted, None)
    os.environ |= _environment(folder) | {"ALLOWED_HOSTS": "testserver"}
    import django

    django.setup()
    from django.core.management import call_command
    from django.urls import get_resolver

    from tools.attack.world import build_reports, build_world

    call_command("migrate", verbosity=0)
    world = build_world()
    build_reports(world)
    _ = get_resolver().url_patterns
    return try_mutations(world)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="stereoscope-mutations-") as name:
        found = run(Path(name))
    Path(sys.argv[1]).write_text(json.dumps(found, indent=1), encoding="utf-8")
