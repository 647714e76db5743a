"""Which pages and addresses enter the audit log when somebody looks at them or takes data away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.core.cache import cache
from django.http import HttpRequest, HttpResponseBase

from annotation.audit.record import record
from annotation.models import AuditAction, Corpus, Study, Submission
from evaluation.models import Report

VIEWED, EXPORTED = AuditAction.VIEWED, AuditAction.EXPORTED
#: Pages that are read again and again are one entry in so many seconds.
ONE_ENTRY_SECONDS = 300

#: Name of an address → what asking for it is.
ACTIONS: dict[str, AuditAction] = {
    "admin:annotation_submission_review": VIEWED,
    "admin:annotation_submission_queue": VIEWED,
    "admin:annotation_study_money": VIEWED,
    "admin:annotation_study_money_file": EXPORTED,
    "admin:annotation_study_panel": VIEWED,
    "admin:annotation_study_export": EXPORTED,
    "admin:annotation_writingstudy_export": EXPORTED,
    "admin:annotation_judgmentstudy_export": EXPORTED,
    "admin:annotation_corpus_export": EXPORTED,
    "api:study-ratings-csv": EXPORTED,
    "api:study-submissions-csv": EXPORTED,
    "api:study-export-file": EXPORTED,
    "api:study-rating-list": VIEWED,
    "api:study-judgment-list": VIEWED,
    "api:study-error-list": VIEWED,
    "api:study-counterpart-list": VIEWED,
    "api:study-payment-list": VIEWED,
    "api:corpus-pair-list": VIEWED,
    "api:report-files": EXPORTED,
    "reports:page": VIEWED,
    "reports:table": EXPORTED,
    "reports:file": EXPORTED,
}


class AuditLog:
    """Log who looked at people's data or took them away, once it was given out."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        match = request.resolver_match
        action = ACTIONS.get(match.view_name) if match else None
        if match is None or action is None or response.status_code >= 300:
            return response
        if not request.user.is_authenticated:
            return response
        study, target = describe_target(match.view_name, match.kwargs)
        if action == EXPORTED or _is_first(request.user.pk, request.path):
            record(action, target, actor=request.user, study=study)
        return response


def _is_first(account: object, path: str) -> bool:
    return cache.add(f"viewed:{account}:{path}", 1, ONE_ENTRY_SECONDS)


def describe_target(view: str, kwargs: Mapping[str, Any]) -> tuple[int | None, str]:
    """Return the key of the study and what was looked at. One query at most."""
    what = view.partition(":")[2].removeprefix("annotation_").replace("_", " ").replace("-", " ")
    name = str(kwargs.get("name", kwargs.get("number", "")))
    if view == "admin:annotation_submission_review":
        submission = Submission.objects.only("study", "public_id").get(pk=kwargs["pk"])
        return submission.study_id, str(submission)
    if view.startswith("reports:") or view == "api:report-files":
        report = Report.objects.only("study", "public_id").get(public_id=kwargs["public_id"])
        return report.study_id, f"report {report.public_id} {name}".strip()
    if "corpus" in view:
        key = {"pk": kwargs["pk"]} if "pk" in kwargs else {"public_id": kwargs["public_id"]}
        slug = Corpus.objects.values_list("public_id", flat=True).get(**key)
        return None, f"corpus {slug} {name}".strip()
    if "pk" in kwargs:
        return int(kwargs["pk"]), name or what
    study = Study.objects.only("pk").get(public_id=kwargs["public_id"])
    return study.pk, name or what
