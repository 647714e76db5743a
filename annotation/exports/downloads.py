"""HTTP answers that stream a table, and the names of their files."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from django.http import StreamingHttpResponse
from django.utils import timezone

from annotation.common.table_formats import TABLE_FORMATS, TableFormat, split_file_name
from annotation.common.tables import stream_csv
from annotation.exports.payments import build_payment_table
from annotation.exports.study_tables import list_study_tables
from annotation.models import Study

PAYMENT_FILE = "payments.csv"


def list_files(study: Study) -> list[str]:
    """Return the names of all data exports of a study. One query at the utmost."""
    return [f"{table}{end}" for table in list_study_tables(study) for end in TABLE_FORMATS]


def stream_file(
    study: Study, name: str, *, bom: bool = False, include: Collection[str] = ()
) -> tuple[Iterator[bytes], TableFormat]:
    """Return the chunks of the file ``name`` of `list_files`, and its format.

    ``include``: pilot, preview, excluded. Raises `KeyError` for an unknown name and `ValueError`
    for a table that its format cannot hold.
    """
    tables = list_study_tables(study)
    table, form = split_file_name(name)
    wanted = [tables[table], *(tables[companion] for companion in tables[table].companions)]
    return form.stream([one.build(study, include) for one in wanted], bom), form


def build_download(
    study: Study, name: str, *, bom: bool = False, include: Collection[str] = ()
) -> StreamingHttpResponse:
    """Return the streamed file ``name`` of `list_files`; raises as `stream_file` does.

    The caller has checked who asks.
    """
    chunks, form = stream_file(study, name, bom=bom, include=include)
    return build_attachment(chunks, name_file(study, name), media_type=form.media_type)


def build_payment_download(study: Study, *, bom: bool = False) -> StreamingHttpResponse:
    """Return the streamed table of payments, which names people; the caller has checked rights."""
    chunks = stream_csv(build_payment_table(study), bom=bom)
    return build_attachment(chunks, name_file(study, PAYMENT_FILE))


def build_attachment(
    chunks: Iterator[bytes], file_name: str, *, media_type: str = "text/csv; charset=utf-8"
) -> StreamingHttpResponse:
    """Return a streamed attachment; the browser keeps no copy of data about people."""
    response = StreamingHttpResponse(chunks, content_type=media_type)
    response["Content-Disposition"] = f'attachment; filename="{file_name}"'
    response["Cache-Control"] = "no-store"
    return response


def name_file(study: Study, name: str) -> str:
    """Return the name of a file that leaves the platform, with its study and today's date."""
    stem, _, suffix = name.rpartition(".")
    return f"stereoscope-{study.public_id}-{stem}-{timezone.localdate():%Y-%m-%d}.{suffix}"
