"""What kind of picture or sound a file is, by what it holds and never by its name."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass

PICTURES = {
    "PNG": ("image/png", "png"),
    "JPEG": ("image/jpeg", "jpg"),
    "WEBP": ("image/webp", "webp"),
    "GIF": ("image/gif", "gif"),
}
MOST_PIXELS = 4_000  # on either side


@dataclass(frozen=True)
class MediaType:
    """``ending`` is that of a file's name; pictures have a width and a height in pixels."""

    name: str
    ending: str
    width: int | None = None
    height: int | None = None

    @property
    def is_sound(self) -> bool:
        return self.name.startswith("audio/")


def recognize_media(content: bytes) -> MediaType | None:
    """Return the type of a picture (PNG, JPEG, WebP, GIF) or sound (MP3, Ogg, WAV, M4A), or None.

    A picture that is broken or of more than 4,000 pixels on a side is none.
    """
    return _recognize_sound(content) or _recognize_picture(content)


def _recognize_sound(content: bytes) -> MediaType | None:
    begin = content[:12]
    if begin[:3] == b"ID3" or (begin[:1] == b"\xff" and begin[1:2] in {b"\xfb", b"\xf3", b"\xf2"}):
        return MediaType("audio/mpeg", "mp3")
    if begin[:4] == b"OggS":
        return MediaType("audio/ogg", "ogg")
    if begin[:4] == b"RIFF" and begin[8:12] == b"WAVE":
        return MediaType("audio/wav", "wav")
    if begin[4:11] == b"ftypM4A":
        return MediaType("audio/mp4", "m4a")
    return None


def _recognize_picture(content: bytes) -> MediaType | None:
    from PIL import Image  # 20 MB of memory that only an upload needs

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content), formats=tuple(PICTURES)) as picture:
                kind, (width, height) = str(picture.format), picture.size
                picture.verify()
    except (OSError, SyntaxError, ValueError, Warning, Image.DecompressionBombError):
        return None
    if max(width, height) > MOST_PIXELS:
        return None
    return MediaType(*PICTURES[kind], width=width, height=height)
