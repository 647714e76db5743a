"""HTTP answers that stream a table, and the names of their files."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from django.http import StreamingHttpResponse
from django.utils import timezone

from annotation.exports.payments import build_payment_table
from annotation.exports.ratings import build_rating_table
from annotation.exports.submissions import build_submission_table
from annotation.exports.tables import stream_codebook, stream_csv, stream_zip
from annotation.models import Study

Stream = Callable[[Study, bool], Iterator[bytes]]

# File name → what it streams. The flag asks for a byte order mark.
DATA_EXPORTS: dict[str, Stream] = {
    "ratings.zip": lambda study, bom: stream_zip([build_rating_table(study)]),
    "ratings.csv": lambda study, bom: stream_csv(build_rating_table(study), bom=bom),
    "ratings-codebook.csv": lambda study, bom: stream_codebook(build_rating_table(study), bom=bom),
    "submissions.zip": lambda study, bom: stream_zip([build_submission_table(study)]),
    "submissions.csv": lambda study, bom: stream_csv(build_submission_table(study), bom=bom),
    "submissions-codebook.csv": lambda study, bom: stream_codebook(
        build_submission_table(study), bom=bom
    ),
}
PAYMENT_EXPORTS: dict[str, Stream] = {
    "payments.csv": lambda study, bom: stream_csv(build_payment_table(study), bom=bom),
}


def build_download(study: Study, name: str, *, bom: bool = False) -> StreamingHttpResponse:
    """Return the streamed file ``name`` of `DATA_EXPORTS` or `PAYMENT_EXPORTS`.

    The caller has checked who asks. Raises `KeyError` for an unknown name.
    """
    stream = (DATA_EXPORTS | PAYMENT_EXPORTS)[name]
    return build_attachment(stream(study, bom), f"stereoscope-{study.public_id}-{_date(name)}")


def build_attachment(chunks: Iterator[bytes], file_name: str) -> StreamingHttpResponse:
    """Return a streamed attachment; the browser keeps no copy of data about people."""
    kind = "application/zip" if file_name.endswith(".zip") else "text/csv; charset=utf-8"
    response = StreamingHttpResponse(chunks, content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{file_name}"'
    response["Cache-Control"] = "no-store"
    return response


def _date(name: str) -> str:
    stem, _, suffix = name.rpartition(".")
    return f"{stem}-{timezone.localdate():%Y-%m-%d}.{suffix}"
