"""Requests over HTTP, signed in as a role, as a browser of that role would send them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import SimpleCookie

import httpx
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from stereoscope.api_authentication import create_token
from stereoscope.models import Scope
from tools.attack.roles import ROLES, Role
from tools.attack.world import VISIT_PAGES, World

CSRF = "a" * 32
MOST_REDIRECTS = 3


@dataclass(frozen=True)
class Reply:
    """The least of an answer; ``location`` is where it redirects to, "" if it does not."""

    status: int
    location: str = ""
    body: bytes = b""


@dataclass(frozen=True)
class Page:
    """An answer as it came; ``path`` is where redirects have led."""

    status: int
    path: str
    headers: Mapping[str, str]
    body: bytes
    is_personal: bool


PATIENCE_SECONDS = 60.0


class Attacker:
    """Sends requests of roles to a running server; their sessions begin once."""

    def __init__(self, address: str) -> None:
        self.address = address
        # As a proxy that ends TLS passes requests on.
        self.http = httpx.Client(
            base_url=address,
            timeout=PATIENCE_SECONDS,
            headers={"X-Forwarded-Proto": "https"},
            cookies=None,
        )
        self._headers: dict[str, dict[str, str]] = {}
        self.visits: dict[str, str] = {}

    def send(
        self,
        role: Role,
        method: str,
        path: str,
        is_json: bool,
        *,
        fields: Mapping[str, object] | None = None,
        csrf: bool = True,
    ) -> Reply:
        """Send nothing but what is needed for the request to be of that role."""
        headers = dict(self.headers_of(role))
        if not csrf:
            headers.pop("X-CSRFToken", None)
        if is_json and method not in {"GET", "HEAD", "OPTIONS"}:
            headers["Content-Type"] = "application/json"
            answer = self.http.request(method, path, headers=headers, content=b"{}")
        else:
            answer = self.http.request(method, path, headers=headers, data=dict(fields or {}))
        self.http.cookies.clear()
        location = answer.headers.get("location", "").removeprefix(self.address)
        return Reply(answer.status_code, location.replace("https://", "http://", 1), answer.content)

    def headers_of(self, role: Role) -> dict[str, str]:
        if role.name not in self._headers:
            self._headers[role.name] = self._sign_in(role)
        return self._headers[role.name]

    def _sign_in(self, role: Role) -> dict[str, str]:
        if role.scopes:
            user = User.objects.get(username=role.account)
            _token, key = create_token(user=user, name=role.name, scopes=role.scopes)
            return {"Authorization": f"Token {key}"}
        visits = self.visits if role.has_link else {}
        cookies = {settings.CSRF_COOKIE_NAME: CSRF} | visits
        if role.account:
            client = Client()
            client.force_login(User.objects.get(username=role.account))
            cookies[settings.SESSION_COOKIE_NAME] = client.cookies[
                settings.SESSION_COOKIE_NAME
            ].value
        return {
            "Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()),
            "X-CSRFToken": CSRF,
            "Referer": self.address.replace("http://", "https://", 1) + "/",
        }

    def look(self, role: Role, path: str) -> Page:
        """Return a page, behind the redirects that lead to it on this site."""
        for _ in range(MOST_REDIRECTS):
            page = self._page(role, self.http.get(path, headers=self.headers_of(role)), path)
            location = page.headers.get("location", "")
            if page.status not in {301, 302} or not location.startswith("/"):
                break
            path = location
        return page

    def post(self, role: Role, path: str, body: bytes) -> Page:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        try:
            sent = self.http.post(path, content=body, headers=self.headers_of(role) | kind)
        except httpx.TransportError:  # the server hung up before it had read everything
            sent = httpx.Response(413)
        return self._page(role, sent, path)

    def upload(
        self,
        role: Role,
        path: str,
        fields: Mapping[str, str],
        files: Mapping[str, tuple[str, bytes, str]],
    ) -> Page:
        sent = self.http.post(path, data=fields, files=files, headers=self.headers_of(role))
        return self._page(role, sent, path)

    def _page(self, role: Role, answer: httpx.Response, path: str) -> Page:
        self.http.cookies.clear()
        is_personal = bool(role.account) or path.startswith(("/r/", "/w/"))
        is_personal &= not path.startswith("/docs/")  # the same for everybody
        return Page(
            answer.status_code,
            path,
            {name.lower(): value for name, value in answer.headers.items()},
            answer.content,
            is_personal and answer.status_code < 300,
        )

    def begin_visit(self, world: World) -> None:
        """Start the study as a participant; from then on the visit's pages are known."""
        answer = self.http.post(f"/s/{world.find('survey:', 'public_id')}/", data={})
        for header in answer.headers.get_list("set-cookie"):
            self.visits |= {name: part.value for name, part in SimpleCookie(header).items()}
        self.http.cookies.clear()
        token = str(answer.headers["location"]).rstrip("/").rpartition("/")[2]
        world.links |= dict.fromkeys(VISIT_PAGES, token)

    def forget(self, role: Role) -> None:
        """Let a role sign in anew."""
        self._headers.pop(role.name, None)

    def token_of(self, name: str) -> str:
        """Return a header of an account, with every scope."""
        role = next(role for role in ROLES if role.name == name)
        user = User.objects.get(username=role.account)
        _token, key = create_token(user=user, name="contract", scopes=Scope.values)
        return f"Token {key}"
