"""An instrument as a file: its document in JSON, with the schema's version and a hash."""

from __future__ import annotations

import base64
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
from annotation.instruments.files import find_shown
from annotation.models import Instrument

LARGEST_FILE = 40_000_000
#: Of pictures and sounds together; base64 makes four bytes of three.
MOST_CONTENT = 28_000_000
EXPECTED = "Expected a file that the designer or `instrument_file export` has written."


def write_instrument_file(instrument: Instrument) -> bytes:
    """Return an instrument's file, with its arms, its logo and the pictures and sounds it shows.

    Eight queries. Raises `DocumentError` where these are too large for one file.
    """
    document = write_document(instrument) | _write_rest(instrument)
    content = {"schema": SCHEMA, "hash": hash_document(document), "instrument": document}
    return json.dumps(content, ensure_ascii=False, indent=1).encode() + b"\n"


def _write_rest(instrument: Instrument) -> dict[str, Any]:
    """Return what the designer leaves alone; nothing of what the version has none of."""
    logo = instrument.logo
    used = instrument.study.files.filter(digest__in=find_shown(instrument)).order_by("digest")
    total = sum(used.values_list("size", flat=True))
    if total > MOST_CONTENT:
        raise DocumentError(
            {
                "files": f"The pictures and sounds have {total / 1e6:.0f} MB together, expected at "
                f"most {MOST_CONTENT / 1e6:.0f} MB in one file. Copy the study instead."
            }
        )
    rest: dict[str, Any] = {"arms": instrument.arms} if instrument.arms else {}
    if logo is not None:
        rest["logo"] = {"file": logo.digest, "alt": instrument.logo_alt}
    files = [
        {
            "digest": file.digest,
            "name": file.name,
            "content": base64.b64encode(file.content).decode(),
        }
        for file in used
    ]
    return rest | ({"files": files} if files else {})


def read_instrument_file(content: bytes) -> InstrumentDocument:
    """Return the document of a file. Raises `DocumentError` with everything that is wrong."""
    if len(content) > LARGEST_FILE:
        size = f"{len(content) / 1e6:.1f}"
        raise DocumentError({"file": f"The file has {size} MB, expected 40 MB at most."})
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
