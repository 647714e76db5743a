"""What a finished run on texts found, as its page shows it, and the page of its counterparts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from annotation.admin.word_diff import Change, word_diff
from annotation.models import Counterpart
from probing.measures.base import ResultKind
from probing.measures.registry import MEASURES
from probing.models import Run, RunStatus
from probing.runs.counterpart_table import (
    count_directions,
    reference_of,
    run_counterparts,
    search_counterparts,
)
from probing.runs.inputs import load_inputs
from probing.runs.span_table import SpanRow, load_span_table

COUNTERPARTS_PER_PAGE = 25
SHOWN_AT_ONCE = 3

NAMES = {
    "span_perplexity": _("Span perplexity"),
    "top5_entropy": _("Top-5 entropy, nats"),
}
CONDITIONS = {
    "random": _("Random spans"),
    "noun_phrase": _("Noun phrases"),
    "verb_phrase": _("Verb phrases"),
    "given": _("Given spans"),
}


@dataclass(frozen=True)
class CounterpartLine:
    """One counterpart as the page shows it; ``changes`` lead from the original to it."""

    pair: str
    variety: str
    original: str
    changes: list[Change]
    body: str
    reference: str
    reason: str


@dataclass(frozen=True)
class SpanLine:
    """One row of the table in words; ``begins`` says whether a new quantity begins here."""

    name: str
    condition: str
    variety: str
    mean: str
    sd: str
    trials: int
    n: int
    missing: int
    begins: bool


def results_context(run: Run) -> dict[str, Any] | None:
    """Return the results of a finished run on texts; None for any other. Four queries at most."""
    kind = MEASURES[run.measure].result
    if run.status != RunStatus.FINISHED:
        return None
    if kind is ResultKind.COUNTERPARTS:
        return {
            "template": "admin/probing/run/results_counterparts.html",
            "directions": count_directions(run),
            "lines": [_line(one) for one in run_counterparts(run)[:SHOWN_AT_ONCE]],
        }
    if kind is ResultKind.TEXT_SCORES:
        rows = load_span_table(run)
        return {
            "template": "admin/probing/run/results_spans.html",
            "lines": [
                _span_line(row, begins=number == 0 or rows[number - 1].name != row.name)
                for number, row in enumerate(rows)
            ],
            "renormalised": run.parameters.get("normalise", True),
        }
    return None


def counterparts_context(run: Run, query: QueryDict) -> dict[str, Any]:
    """Return a page of the counterparts of ``run``; ``query`` is the address's. Five queries."""
    words = query.get("q", "").replace("\x00", "").strip()
    stimuli = load_inputs(run).stimuli
    varieties = (stimuli.target_variety, stimuli.source_variety)
    variety = query.get("variety", "")
    found = search_counterparts(run_counterparts(run), words)
    if variety in varieties:
        found = found.filter(variety=variety)
    missing = query.get("show", "") == "remarked"
    if missing:
        found = found.exclude(reason="")
    page = Paginator(found, COUNTERPARTS_PER_PAGE).get_page(query.get("page"))
    kept = query.copy()
    kept.pop("page", None)
    return {
        "run": run,
        "page": page,
        "lines": [_line(one) for one in page],
        "words": words,
        "variety": variety if variety in varieties else "",
        "varieties": varieties,
        "only_remarked": missing,
        "is_filtered": bool(words or missing or variety in varieties),
        "address": kept.urlencode(),
        "measure": MEASURES[run.measure],
    }


def _line(counterpart: Counterpart) -> CounterpartLine:
    original = counterpart.text.body
    pair, reference = reference_of(counterpart)
    return CounterpartLine(
        pair=pair or counterpart.text.slug,
        variety=counterpart.variety,
        original=original,
        changes=word_diff(original, counterpart.body) if counterpart.body else [],
        body=counterpart.body,
        reference=reference,
        reason=counterpart.reason,
    )


def _span_line(row: SpanRow, *, begins: bool) -> SpanLine:
    return SpanLine(
        name=str(NAMES.get(row.name, row.name)),
        condition=str(CONDITIONS.get(row.condition, row.condition)),
        variety=row.variety,
        mean="–" if row.mean is None else f"{row.mean:,.3f}",
        sd="–" if row.sd is None else f"{row.sd:,.3f}",
        trials=row.trials,
        n=row.n,
        missing=row.missing,
        begins=begins,
    )
