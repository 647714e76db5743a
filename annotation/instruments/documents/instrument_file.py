"""An instrument as a file: its document in JSON, with the schema's version and a hash."""

from __future__ import annotations

import json
from typing import Any

from annotation.instruments.documents.document import (
    SCHEMA,
    DocumentError,
    InstrumentDocument,
    hash_document,
    read_document,
    write_document,
)
from annotation.models import Instrument

LARGEST_FILE = 4_000_000
EXPECTED = "Expected a file that the designer or `instrument_file export` has written."


def write_instrument_file(instrument: Instrument) -> bytes:
    """Return an instrument's file. Five queries."""
    document = write_document(instrument)
    content = {"schema": SCHEMA, "hash": hash_document(document), "instrument": document}
    return json.dumps(content, ensure_ascii=False, indent=1).encode() + b"\n"


def read_instrument_file(content: bytes) -> InstrumentDocument:
    """Return the document of a file. Raises `DocumentError` with everything that is wrong."""
    if len(content) > LARGEST_FILE:
        size = f"{len(content) / 1e6:.1f}"
        raise DocumentError({"file": f"The file has {size} MB, expected 4 MB at most."})
    try:
        data: Any = json.loads(content)
    except (ValueError, RecursionError):
        raise DocumentError({"file": f"The file is no JSON in UTF-8. {EXPECTED}"}) from None
    if not isinstance(data, dict) or not isinstance(data.get("instrument"), dict):
        raise DocumentError({"file": f"The file holds no instrument. {EXPECTED}"})
    if data.get("schema") != SCHEMA:
        found = str(data.get("schema", ""))[:60]
        raise DocumentError({"schema": f"The schema is “{found}”, expected “{SCHEMA}”."})
    document = read_document(data["instrument"])
    if "hash" in data and data["hash"] != hash_document(data["instrument"]):
        raise DocumentError(
            {
                "hash": "The file was changed after it was written: its hash does not fit. Take "
                "the line with the hash out to use it as it is."
            }
        )
    return document
