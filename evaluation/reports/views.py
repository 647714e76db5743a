"""Report pages: the document, its figures and files, its name and place, and comparison."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.admin.views.decorators import staff_member_required
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.audit.record import record
from annotation.common.small_cells import DEFAULT_MINIMUM
from annotation.counterparts.adjudication import load_annotations
from annotation.models import AuditAction, Study, StudyKind
from evaluation.analyses.agreement import AgreementOptions, AgreementResult, analyze_agreement
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.models import Report, ReportStatus
from evaluation.reports.answers import (
    answer_figure,
    answer_file,
    answer_references,
    answer_table,
    lay_out,
    page_context,
)
from evaluation.reports.parts.corpus_inputs import hash_rows, to_annotation_frame
from evaluation.reports.parts.document import Document, KeyNumber
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import percent
from evaluation.reports.parts.table import Column
from evaluation.reports.registry import get_kind
from evaluation.reports.requesting import DEAD_RUNS, TITLE_LENGTH, rebuild_report, retry_report
from evaluation.reports.selectors import changeable_reports, visible_reports
from evaluation.reports.shared_views import LONGEST_DAYS, USUAL_DAYS, revoke_share, share_report
from probing.models import RunStatus, ShardStatus

# --- Changes what may be changed of a stored report: its title and place in lists, never a number


@transaction.atomic
def rename_report(*, report: Report, title: str) -> None:
    """Give a report another title on its page and in lists; built files keep the one of then.

    Raises `ReportError` for a title that is empty or too long.
    """
    title = " ".join(title.replace("\0", "").split())
    if not title:
        raise ReportError(_("Enter a title."))
    if len(title) > TITLE_LENGTH:
        raise ReportError(
            _("The title has %(n)d characters. Enter at most %(most)d.")
            % {"n": len(title), "most": TITLE_LENGTH}
        )
    before, report.title = report.title, title
    report.save(update_fields=["title"])
    record(AuditAction.CHANGED, _target(report), study=report.study_id, detail=f"was “{before}”")


@transaction.atomic
def pin_report(*, report: Report, is_pinned: bool) -> None:
    """Put a report first in the list, or back among the others."""
    report.is_pinned = is_pinned
    report.save(update_fields=["is_pinned"])


@transaction.atomic
def delete_report(*, report: Report, deleted_by: AbstractBaseUser) -> None:
    """Delete a report with its files and links; what it rests on stays.

    Raises `ReportError` while a worker builds it.
    """
    held = Report.objects.select_for_update().get(pk=report.pk)
    if held.status == ReportStatus.BUILDING:
        raise ReportError(_("A worker is building this report. Delete it when it is done."))
    target, study, title = _target(held), held.study_id, held.title
    held.delete()
    record(AuditAction.ERASED, target, actor=deleted_by, study=study, detail=f"report “{title}”")


def _target(report: Report) -> str:
    return f"report {report.public_id}"


# --- Pages that change what a report is called, where it stands, who may read it; and compare two
#
# Nothing is inferred from two intervals. Where another kind of report tests the difference, its
# own words are shown if it was built on the same data, and it is offered otherwise.

# --- Two reports of one kind beside each other: their key numbers, and what they rest on ----------

# Where the hashes of the inputs stand in the record of a report.
HASHES = "hashes"
#: Kind of report → the kind that tests how two of its runs differ on the same data.
TESTED_BY = {"alignment": "alignment_comparison", "fpr_gaps": "fpr_comparison"}


@dataclass(frozen=True)
class KeyPair:
    """One key number of both reports; None where a report does not have it."""

    label: str
    sides: tuple[KeyNumber | None, KeyNumber | None]


@dataclass(frozen=True)
class Difference:
    """An option or an input that is not the same: its name, and both values as they are shown."""

    name: str
    sides: tuple[str, str]


@dataclass(frozen=True)
class DifferenceTest:
    """The report that tests the difference: built with its key numbers, or where to ask for it."""

    report: Report | None
    keys: tuple[KeyNumber, ...] = ()
    address: str = ""


def pair_keys(first: Document, second: Document) -> list[KeyPair]:
    """Return the key numbers of both by their labels, in the order of the first."""
    left, right = ({key.label: key for key in document.keys} for document in (first, second))
    return [KeyPair(label, (left.get(label), right.get(label))) for label in left | right]


def find_differences(first: Report, second: Report) -> list[Difference]:
    """Return what the reports do not share: study, data, corpus, runs, options, code."""
    sides = [_describe(report) for report in (first, second)]
    return [
        Difference(name, (sides[0].get(name, "–"), sides[1].get(name, "–")))
        for name in sides[0] | sides[1]
        if sides[0].get(name) != sides[1].get(name)
    ]


def _describe(report: Report) -> dict[str, str]:
    runs = ", ".join(f"{run} ({run.model.name})" for run in report.runs.all())
    options = get_kind(report.kind).Parameters.model_json_schema()["properties"]
    return {
        "Study": str(report.study or "–"),
        "Ratings": _describe_ratings(report.inputs.get("study") or {}),
        "Second study": str(report.second_study or "–"),
        "Corpus": str(report.corpus or "–"),
        "Runs": runs or "–",
        **_describe_runs(report),
        **{
            f"Option “{options.get(name, {}).get('title', name)}”": "none"
            if value in (None, "")
            else str(value)
            for name, value in report.parameters.items()
        },
        "Code": report.code_version,
    }


def _describe_ratings(study: dict[str, Any]) -> str:
    """Return how many there were, with the beginning of their hash: the same study goes on."""
    if not study.get("ratings_hash"):
        return "–"
    return f"{study['ratings']:,}, sha256 {study['ratings_hash'][:12]}"


def _describe_runs(report: Report) -> dict[str, str]:
    """Return what the report's runs asked: of whom, on which scales, in which words, and how."""
    shown: dict[str, list[str]] = {}
    for run in report.runs.all():
        stimuli = run.stimuli
        found = {
            "Groups of the runs": _count(stimuli.get("groups", ()), "plural"),
            "Scales of the runs": _count(stimuli.get("traits", ()), "low", "high"),
            "Templates": _count(stimuli.get("templates", ()), "text"),
            "Options of the runs": ", ".join(f"{k} {v}" for k, v in run.parameters.items()),
        }
        for name, text in found.items():
            if text and text not in shown.setdefault(name, []):
                shown[name].append(text)
    return {name: "; ".join(texts) for name, texts in shown.items() if texts}


def _count(stimuli: Iterable[dict[str, Any]], *words: str) -> str:
    names = [" – ".join(str(one.get(word, one["slug"])) for word in words) for one in stimuli]
    names = [f"“{name}”" for name in names] if words == ("text",) else names
    return f"{len(names)}: {', '.join(names)}" if names else ""


def find_test(
    first: Report, second: Report, user: AbstractBaseUser | AnonymousUser
) -> DifferenceTest | None:
    """Return the report that tests how the two differ, None where no kind does for these two.

    It rests on the runs of both, on the same study and corpus, and on the very data that both
    were computed from. Few queries.
    """
    kind = TESTED_BY.get(first.kind)
    runs = sorted({run.pk for report in (first, second) for run in report.runs.all()})
    same = (first.study_id, first.corpus_id) == (second.study_id, second.corpus_id)
    if kind is None or not same or len(runs) < 2:
        return None
    built = visible_reports(user).filter(
        kind=kind, study=first.study_id, corpus=first.corpus_id, status=ReportStatus.FINAL
    )
    read = {digest for report in (first, second) for digest in _digests(report)}
    for report in built.order_by("-pk"):
        if sorted(run.pk for run in report.runs.all()) == runs and read <= _digests(report):
            return DifferenceTest(report, get_kind(kind).document(report, {}).keys)
    query: list[tuple[str, Any]] = [
        ("kind", kind),
        *([("study", first.study_id)] if first.study_id else []),
    ]
    query += [("runs", run) for run in runs]
    return DifferenceTest(
        None, address=f"{reverse('admin:evaluation_report_add')}?{urlencode(query)}"
    )


def _digests(report: Report) -> set[str]:
    """Return the hashes of the data that a report was computed from."""
    return set(report.inputs.get(HASHES, {}).values())


ask_or_do = require_http_methods(["GET", "POST"])


def _changeable(request: HttpRequest, public_id: str, right: str = "change_report") -> Report:
    """Return a report that the account may change; 404 where it does not even see it."""
    report = get_object_or_404(visible_reports(request.user), public_id=public_id)
    if not (
        request.user.has_perm(f"evaluation.{right}")
        and changeable_reports(request.user).filter(pk=report.pk).exists()
    ):
        raise PermissionDenied
    return report


@ask_or_do
@staff_member_required
def rename(request: HttpRequest, public_id: str) -> HttpResponse:
    report = _changeable(request, public_id)
    context: dict[str, Any] = {"report": report, "title": report.title}
    if request.method == "POST":
        context["title"] = request.POST.get("title", "")
        try:
            rename_report(report=report, title=context["title"])
        except ReportError as error:
            context["error"] = str(error)
        else:
            return redirect("reports:page", public_id)
    return render(request, "evaluation/rename.html", context)


@require_POST
@staff_member_required
def pin(request: HttpRequest, public_id: str) -> HttpResponse:
    """Pin a report, or take the pin away."""
    report = _changeable(request, public_id)
    pin_report(report=report, is_pinned=request.POST.get("pinned") == "1")
    return redirect("reports:page", public_id)


@ask_or_do
@staff_member_required
def delete(request: HttpRequest, public_id: str) -> HttpResponse:
    report = _changeable(request, public_id, "delete_report")
    context: dict[str, Any] = {"report": report}
    if request.method == "POST":
        try:
            delete_report(report=report, deleted_by=cast(User, request.user))
        except ReportError as error:
            context["error"] = str(error)
        else:
            messages.success(request, _("“%(title)s” was deleted.") % {"title": report.title})
            return redirect("admin:evaluation_report_changelist")
    context["n_files"] = report.files.count()
    context["n_open"] = report.shares.filter(
        revoked_at__isnull=True, expires_at__gt=timezone.now()
    ).count()
    return render(request, "evaluation/delete.html", context)


@ask_or_do
@staff_member_required
def share(request: HttpRequest, public_id: str) -> HttpResponse:
    """Show the links to a report and make a new one, whose address is shown this once."""
    report = _changeable(request, public_id)
    context: dict[str, Any] = {
        "report": report,
        "days": USUAL_DAYS,
        "most": LONGEST_DAYS,
        "minimum": DEFAULT_MINIMUM,
    }
    if request.method == "POST":
        context["days"] = days = request.POST.get("days", "")
        try:
            context["link"] = share_report(
                report=report,
                created_by=cast(User, request.user),
                days=int(days) if days.isascii() and days.isdigit() and len(days) < 4 else 0,
            )
        except ReportError as error:
            context["error"] = str(error)
    context["shares"] = report.shares.select_related("created_by")
    context["now"] = timezone.now()
    response = render(request, "evaluation/share.html", context)
    response["Cache-Control"] = "no-store"
    return response


@require_POST
@staff_member_required
def revoke(request: HttpRequest, public_id: str, pk: int) -> HttpResponse:
    report = _changeable(request, public_id)
    found = get_object_or_404(report.shares.select_related("report"), pk=pk)
    revoke_share(share=found, revoked_by=cast(User, request.user))
    return redirect("reports:share", public_id)


@require_GET
@staff_member_required
def compare(request: HttpRequest, public_id: str) -> HttpResponse:
    """Show two reports of one kind side by side, or let the second one be chosen."""
    visible = visible_reports(request.user)
    report = get_object_or_404(visible, public_id=public_id, status=ReportStatus.FINAL)
    others = (
        visible.filter(kind=report.kind, status=ReportStatus.FINAL)
        .exclude(pk=report.pk)
        .order_by("-is_pinned", "-pk")
    )
    context: dict[str, Any] = {"report": report}
    if chosen := request.GET.get("with"):
        other = get_object_or_404(others, public_id=chosen)
        documents = [lay_out(request, one) for one in (report, other)]
        context |= {
            "other": other,
            "both": (report, other),
            "banners": list(dict.fromkeys(line for one in documents for line in one.banners)),
            "pairs": pair_keys(*documents),
            "differences": find_differences(report, other),
            "test": find_test(report, other, request.user),
        }
    else:
        context["others"] = others.defer("result", "inputs")
    return render(request, "evaluation/compare.html", context)


# --- The pages of a report


def _get_report(request: HttpRequest, public_id: str) -> Report:
    # Authorisation first: reports on studies and corpora of others do not exist for this user.
    return get_object_or_404(visible_reports(request.user), public_id=public_id)


@require_GET
@staff_member_required
def page(request: HttpRequest, public_id: str) -> HttpResponse:
    report = _get_report(request, public_id)
    if report.status != ReportStatus.FINAL:
        return _waiting(request, report)
    context = page_context(request, report) | _rights(request, report)
    return render(request, "evaluation/report_page.html", context)


def _rights(request: HttpRequest, report: Report) -> dict[str, bool]:
    """Return what the account may do with a report besides reading it."""
    may = request.user.has_perm
    is_theirs = changeable_reports(request.user).filter(pk=report.pk).exists()
    return {
        "may_rebuild": may("evaluation.add_report"),
        "may_change": is_theirs and may("evaluation.change_report"),
        "may_delete": is_theirs and may("evaluation.delete_report"),
    }


def _waiting(request: HttpRequest, report: Report) -> HttpResponse:
    lines = report.error.strip().splitlines()
    stored = Count("shards", filter=Q(shards__status=ShardStatus.STORED))
    runs = report.runs.exclude(status=RunStatus.FINISHED).annotate(stored=stored).order_by("pk")
    context = _rights(request, report) | {
        "report": report,
        "error_line": lines[-1] if lines else "",
        "error_detail": report.error if len(lines) > 1 else "",
        "dead": [run for run in runs if run.status in DEAD_RUNS],
        "open": [run for run in runs if run.status not in DEAD_RUNS],
    }
    return render(request, "evaluation/report_waiting.html", context)


@require_POST
@staff_member_required
def retry(request: HttpRequest, public_id: str) -> HttpResponse:
    report = _get_report(request, public_id)
    retry_report(report=report)
    return redirect("reports:page", public_id)


@require_POST
@staff_member_required
def rebuild(request: HttpRequest, public_id: str) -> HttpResponse:
    """Ask for the same report on the data as they are now."""
    report = _get_report(request, public_id)
    if not request.user.has_perm("evaluation.add_report"):
        raise PermissionDenied
    try:
        rebuilt = rebuild_report(report=report, created_by=cast(User, request.user))
    except ReportError as error:
        messages.error(request, str(error))
        return redirect("admin:evaluation_report_changelist")
    return redirect("reports:page", rebuilt.public_id)


@require_GET
@staff_member_required
def figure(request: HttpRequest, public_id: str, name: str, form: str = "svg") -> HttpResponse:
    """Return one figure as a file for papers: light, with its fonts named."""
    return answer_figure(request, _get_report(request, public_id), name, form)


@require_GET
@staff_member_required
def table(request: HttpRequest, public_id: str, number: int) -> HttpResponse:
    """Return one table as it is printed, in LaTeX."""
    return answer_table(request, _get_report(request, public_id), number)


@require_GET
@staff_member_required
def references(request: HttpRequest, public_id: str) -> HttpResponse:
    return answer_references(_get_report(request, public_id))


@require_GET
@staff_member_required
def file(request: HttpRequest, public_id: str, name: str) -> HttpResponse:
    return answer_file(_get_report(request, public_id), name)


# --- Agreement of judges and annotators while a study runs ----------------------------------------

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
def live_agreement(request: HttpRequest, public_id: str) -> HttpResponse:
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
