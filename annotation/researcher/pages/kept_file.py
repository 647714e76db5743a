"""An upload that a form carries on from its check to its import."""

from __future__ import annotations

import base64
import binascii
import zlib

#: What a form may carry of a packed file, below what Django takes in.
LARGEST_PACKED = 2_000_000


def pack_file(content: bytes) -> str:
    """Return a file as a hidden field carries it, empty where it is too large for that."""
    packed = base64.b64encode(zlib.compress(content)).decode()
    return packed if len(packed) <= LARGEST_PACKED else ""


def unpack_file(packed: str, *, most_bytes: int) -> bytes:
    """Return a file that a form carried, empty where it is none."""
    try:
        unpacker = zlib.decompressobj()
        return unpacker.decompress(base64.b64decode(packed, validate=True), most_bytes)
    except (binascii.Error, ValueError, zlib.error):
        return b""
