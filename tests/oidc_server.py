"""A provider of accounts on the local host: discovery, keys and tokens by OpenID Connect."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID, CLIENT_SECRET = "stereoscope", "what both know"


@dataclass
class Provider:
    """``claims`` are those of whoever signs in; ``changes`` spoil the tokens."""

    address: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    changes: dict[str, Any] = field(default_factory=dict)
    codes: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    key: rsa.RSAPrivateKey = field(
        default_factory=lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048)
    )
    signing_key: rsa.RSAPrivateKey | None = None

    def sign_in(self, address: str) -> tuple[str, str]:
        """Do what a browser does at the page of the provider; return code and state."""
        query = parse_qs(urlsplit(address).query)
        assert query["client_id"] == [CLIENT_ID]
        assert query["code_challenge_method"] == ["S256"]
        code = f"code-{len(self.codes)}"
        self.codes[code] = query
        return code, query["state"][0]

    def describe(self) -> dict[str, str]:
        return {
            "issuer": self.address,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "jwks_uri": f"{self.address}/keys",
        }

    def publish_keys(self) -> dict[str, Any]:
        key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [{**key, "kid": "1", "use": "sig", "alg": "RS256"}]}

    def give_token(self, sent: dict[str, list[str]]) -> dict[str, Any] | None:
        query = self.codes.pop(sent["code"][0], None)
        digest = hashlib.sha256(sent["code_verifier"][0].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if query is None or query["code_challenge"] != [challenge]:
            return None
        if sent["client_secret"] != [CLIENT_SECRET]:
            return None
        now = int(time.time())
        claims = {
            "iss": self.address,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 60,
            "nonce": query["nonce"][0],
            **self.claims,
            **self.changes,
        }
        key = self.signing_key or self.key
        return {"id_token": jwt.encode(claims, key, "RS256", headers={"kid": "1"})}


@contextmanager
def serve_provider() -> Iterator[Provider]:
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = {
                "/.well-known/openid-configuration": provider.describe,
                "/keys": provider.publish_keys,
            }[self.path]()
            self.answer(found)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.answer(provider.give_token(parse_qs(body)))

        def answer(self, content: dict[str, Any] | None) -> None:
            self.send_response(200 if content is not None else 400)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
