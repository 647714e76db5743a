"""JSON that the API takes: what would be read otherwise than it was meant is answered with 400."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from annotation.common.strict_json import JsonRefused, read_strict_json


class StoredJSONParser(JSONParser):
    """Reads a body by `read_strict_json`."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            text = stream.read().decode((parser_context or {}).get("encoding") or "utf-8")
        except (ValueError, LookupError) as error:
            raise ParseError(f"The body is not JSON: {str(error)[:200]}.") from error
        try:
            return read_strict_json(text)
        except JsonRefused as refusal:
            raise ParseError(str(refusal)) from refusal
