"""Small pictures and sounds for tests."""

from __future__ import annotations

import io
import struct

from PIL import Image


def picture(kind: str = "PNG", size: tuple[int, int] = (120, 40), **options: object) -> bytes:
    sink = io.BytesIO()
    Image.new("RGB", size, "navy").save(sink, kind, **options)  # type: ignore[arg-type]
    return sink.getvalue()


def sound(seconds: float = 0.1) -> bytes:
    data = b"\0" * int(8000 * seconds)
    head = b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
    return b"RIFF" + struct.pack("<I", 36 + len(data)) + head + b"data" + data
