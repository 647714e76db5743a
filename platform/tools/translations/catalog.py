"""The catalogs as files: ``.po`` for people, ``.mo`` for Django, a list for instruments.

An instrument in a language that the platform does not speak brings these texts along in its own
file. The list says which they are, so that nothing has to be searched where pages are served.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from annotation.instruments.text_keys import name_chrome
from tools.translations.extracting import PARTICIPANTS, ROOT, Message, find_messages

LANGUAGES = ("es",)
CHROME_FILE = ROOT / "annotation/instruments/languages/ui_translation.json"
# Pages that belong to no study, and so to no instrument's language.
NO_STUDY = {
    "templates/survey/home.html",
    *(name for name in PARTICIPANTS if name.endswith("html")),
}
LINE_LENGTH = 100


def po_file(language: str) -> Path:
    return ROOT / "platform" / "locale" / language / "LC_MESSAGES" / "django.po"


def read_catalog(language: str) -> Catalog:
    """Return the catalog as people left it, an empty one where there is no file."""
    file = po_file(language)
    if not file.exists():
        return Catalog(locale=language)
    with file.open("rb") as handle:
        return read_po(handle, locale=language)


def renew_catalog(language: str) -> Catalog:
    """Return the catalog with exactly the messages of the sources, translations kept."""
    before = read_catalog(language)
    renewed = Catalog(
        locale=language,
        project="Stereoscope",
        version="",
        copyright_holder="",
        header_comment=f"# Texts of the platform in “{language}”. “make messages” renews the list.",
        fuzzy=False,
    )
    for message, places in find_messages().items():
        entry_id = (message.text, message.plural) if message.plural else message.text
        known = before.get(message.text, message.context or None)
        renewed.add(
            entry_id,
            known.string if known is not None and known.id == entry_id else None,
            locations=[(place, 0) for place in places],  # files alone are written
            flags=sorted(known.flags - {"fuzzy"}) if known is not None else (),
            context=message.context or None,
        )
    return renewed


def write_text(catalog: Catalog) -> str:
    """Return the ``.po`` file without dates, so that it changes only where a text does."""
    buffer = io.BytesIO()
    write_po(buffer, catalog, width=LINE_LENGTH, include_lineno=False, omit_header=False)
    lines = buffer.getvalue().decode().splitlines(keepends=True)
    dropped = ("POT-Creation-Date", "PO-Revision-Date", "Last-Translator", "Report-Msgid",
               "Language-Team", "Project-Id-Version", "Generated-By")  # fmt: skip
    return "".join(line for line in lines if not line.startswith(tuple(f'"{d}' for d in dropped)))


def write_compiled(catalog: Catalog) -> bytes:
    buffer = io.BytesIO()
    write_mo(buffer, catalog)
    return buffer.getvalue()


def list_chrome() -> list[dict[str, str]]:
    """Return the texts that participants of a study read, each with its key in language files."""
    return [
        {"key": name_chrome(message.text, message.context), **_describe(message)}
        for message, places in find_messages().items()
        if not set(places) <= NO_STUDY
    ]


def _describe(message: Message) -> dict[str, str]:
    parts = {"text": message.text, "plural": message.plural, "context": message.context}
    return {name: text for name, text in parts.items() if text}


def write_chrome() -> str:
    return json.dumps(list_chrome(), ensure_ascii=False, indent=1) + "\n"


def build_files() -> Iterator[tuple[Path, bytes]]:
    """Yield every file of the catalogs with its content."""
    for language in LANGUAGES:
        file = po_file(language)
        text = write_text(renew_catalog(language)).encode()
        yield file, text
        # Compiled from the file itself: what people read and what Django reads is the same.
        compiled = write_compiled(read_po(io.BytesIO(text), locale=language))
        yield file.with_suffix(".mo"), compiled
    yield CHROME_FILE, write_chrome().encode()
