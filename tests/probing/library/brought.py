"""Entries of the library of stimuli that tests import."""

from __future__ import annotations

from typing import Any

from annotation.imports.import_kind import ImportRequest, import_file, import_kinds


def bring(
    kind: str,
    content: str | bytes,
    name: str = "t.csv",
    *,
    skip_bad_rows: bool = False,
    **options: Any,
) -> Any:
    """Import a file as an entry and return it."""
    given = {"slug": "mine", "license": "CC0", **options}
    found, raw = import_kinds()[kind], content.encode() if isinstance(content, str) else content
    import_file(found, ImportRequest(raw, name, given), skip_bad_rows=skip_bad_rows)
    return found.model.objects.get(slug=given["slug"])  # type: ignore[attr-defined]
