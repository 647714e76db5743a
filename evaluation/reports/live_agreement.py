"""Agreement of a running writing study, as a fragment for its page in the admin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.admin.views.decorators import staff_member_required
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from annotation.counterparts.adjudication import load_annotations
from annotation.models import Study, StudyKind
from evaluation.analyses.agreement import AgreementOptions, AgreementResult, analyze_agreement
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.reports.parts.corpus_inputs import hash_rows, to_annotation_frame
from evaluation.reports.parts.formatting import percent
from evaluation.reports.parts.table import Column

# The report states the other definitions of chance; the page of a running study needs one, soon.
OPTIONS = AgreementOptions(definitions=(), n_shuffles=0, n_resamples=1000)
ALPHA = Column.estimate("α", value="estimate", decimals=2)
KEPT_SECONDS = 24 * 60 * 60


@dataclass(frozen=True)
class PairLine:
    name: str
    alpha: str
    interval: str
    n: int
    reason: str


@require_GET
@staff_member_required
def live(request: HttpRequest, public_id: str) -> HttpResponse:
    study = get_object_or_404(
        Study.objects.visible_to(request.user).filter(kind=StudyKind.COUNTERPART_WRITING),
        public_id=public_id,
    )
    result = compute_live_agreement(study)
    return render(request, "evaluation/agreement_live.html", _context(study, result))


def compute_live_agreement(study: Study) -> AgreementResult | None:
    """Return the agreement so far, None without a counterpart; computed once for the same data."""
    annotations = load_annotations(study)
    if not annotations:
        return None
    # Numbers of annotators are a study's own, so equal rows of two studies give equal results.
    key = f"agreement-live:{hash_rows(annotations)}"
    stored = cache.get(key)
    if stored is None:
        stored = to_plain(analyze_agreement(to_annotation_frame(annotations), OPTIONS))
        cache.set(key, stored, KEPT_SECONDS)
    return from_plain(AgreementResult, stored)


def _context(study: Study, result: AgreementResult | None) -> dict[str, Any]:
    if result is None:
        return {"study": study, "result": None}
    value, interval = ALPHA.cells(result.overall)
    return {
        "study": study,
        "result": result,
        "alpha": value,
        "interval": interval,
        "level": percent(OPTIONS.level),
        "refusals": ALPHA.cells(result.not_interpretable),
        "pairs": [
            PairLine(
                f"{pair.first} × {pair.second}",
                alpha,
                around,
                pair.alpha.n_overlap,
                pair.alpha.reason,
            )
            for pair in result.pairs
            for alpha, around in [ALPHA.cells(pair.alpha)]
        ],
    }
