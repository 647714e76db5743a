"""OpenAI's endpoints for files and batches, as documented, for the server of the tests.

https://platform.openai.com/docs/api-reference/batch: a file of requests is uploaded in a form, a
batch is created of it and asked about, and a file of answers and one of errors are read, whose
lines come in another order than the requests.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from email.parser import BytesParser
from typing import Any

#: Status and content that a path is answered with.
Reply = tuple[int, dict[str, Any] | bytes]
NOWHERE: Reply = (404, {"error": {"message": "no such file or batch"}})


@dataclass
class BatchEndpoints:
    """What was uploaded and created, and what becomes of it.

    Attributes
    ----------
    answer : gives status and body for the body of one request.
    files : contents by id.
    batches : in order of their creation.
    is_done : whether batches end when they are asked about.
    answered_before_expiry : how many requests of a batch are answered before it expires.
    invalid : why the files of batches are refused.
    """

    answer: Callable[[dict[str, Any]], tuple[int, dict[str, Any]]]
    files: dict[str, bytes] = field(default_factory=dict)
    batches: list[dict[str, Any]] = field(default_factory=list)
    is_done: bool = False
    answered_before_expiry: int | None = None
    invalid: str = ""

    @property
    def asked(self) -> list[dict[str, Any]]:
        """The bodies of all requests in batches."""
        return [line["body"] for batch in self.batches for line in self._lines(batch)]

    def get(self, path: str) -> Reply:
        parts = path.partition("?")[0].strip("/").split("/")
        if parts == ["v1", "batches"]:
            data = self.batches[::-1]
            return 200, {"object": "list", "data": data, "has_more": False}
        if parts[1] == "batches":
            found = [one for one in self.batches if one["id"] == parts[2]]
            return (200, self._go_on(found[0])) if found else NOWHERE
        if parts[1] == "files" and parts[3:] == ["content"] and parts[2] in self.files:
            return 200, self.files[parts[2]]
        return NOWHERE

    def post(self, path: str, kind: str, body: bytes) -> Reply:
        if path == "/v1/files":
            form = BytesParser().parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
            parts: Any = form.get_payload()
            given = {
                one.get_param("name", header="content-disposition"): one.get_payload(decode=True)
                for one in parts
            }
            assert given["purpose"] == b"batch"
            return 200, {"id": self._keep(given["file"]), "object": "file", "purpose": "batch"}
        asked = json.loads(body)
        assert asked["completion_window"] == "24h"
        assert asked["endpoint"] == "/v1/chat/completions"
        made = {
            "id": f"batch_{len(self.batches)}",
            "object": "batch",
            "status": "validating",
            "created_at": 0,
            "output_file_id": None,
            "error_file_id": None,
            "errors": None,
            **asked,
        }
        self.batches.append(made)
        return 200, made

    def _keep(self, content: bytes) -> str:
        name = f"file-{len(self.files)}"
        self.files[name] = content
        return name

    def _lines(self, batch: dict[str, Any]) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]

    def _go_on(self, batch: dict[str, Any]) -> dict[str, Any]:
        if batch["status"] != "validating" or not self.is_done:
            return batch
        if self.invalid:
            told = {"object": "list", "data": [{"code": "invalid", "message": self.invalid}]}
            batch |= {"status": "failed", "errors": told}
            return batch
        found: dict[str, list[dict[str, Any]]] = {"output_file_id": [], "error_file_id": []}
        lines = self._lines(batch)
        most = (
            self.answered_before_expiry if self.answered_before_expiry is not None else len(lines)
        )
        for place, line in enumerate(lines):
            assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
            told = {"id": f"r{place}", "custom_id": line["custom_id"], "response": None}
            if place >= most:
                error = {"code": "batch_expired", "message": "not executed in time"}
                found["error_file_id"].append({**told, "error": error})
                continue
            status, content = self.answer(line["body"])
            told |= {"response": {"status_code": status, "body": content}, "error": None}
            found["output_file_id" if status == 200 else "error_file_id"].append(told)
        for name, some in found.items():
            if some:
                batch[name] = self._keep(
                    "\n".join(json.dumps(one) for one in reversed(some)).encode()
                )
        batch["status"] = "completed" if most >= len(lines) else "expired"
        return batch
