"""A model hub on the local host, for tests without a network.

It answers the two requests of a hub that loading needs, a model's record and its files, over real
HTTP. The real hub cannot stand in its place: tests run where nothing outside can be reached.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"
HUB_ID = "somebody/tiny-model"


@contextmanager
def serve_hub(folder: Path) -> Iterator[str]:
    """Serve `folder` as the model ``somebody/tiny-model`` and yield the hub's address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def log_message(self, *_: object) -> None:
            """Stay silent."""

        def _answer(self, *, with_body: bool) -> None:
            path = self.path.split("?")[0]
            record = json.dumps(
                {
                    "id": HUB_ID,
                    "sha": COMMIT,
                    "siblings": [{"rfilename": file.name} for file in folder.iterdir()],
                    "safetensors": {"parameters": {"F32": 77932}, "total": 77932},
                }
            ).encode()
            if path in (f"/api/models/{HUB_ID}", f"/api/models/{HUB_ID}/revision/{COMMIT}"):
                self._send(200, record, with_body)
                return
            for revision in ("main", COMMIT):
                prefix = f"/{HUB_ID}/resolve/{revision}/"
                file = folder / path.removeprefix(prefix)
                if path.startswith(prefix) and file.is_file():
                    self._send(200, file.read_bytes(), with_body)
                    return
            missing = "EntryNotFound" if f"/{HUB_ID}" in path else "RepoNotFound"
            self._send(404, b"{}", with_body, error=missing)

        def _send(self, status: int, body: bytes, with_body: bool, error: str = "") -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            if error:
                self.send_header("X-Error-Code", error)
            self.end_headers()
            if with_body:
                self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
