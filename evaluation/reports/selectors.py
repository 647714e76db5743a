"""Which reports people may see, and which of them use entries of the library."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Count, Exists, Model, OuterRef, Q, QuerySet, Subquery
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Coalesce

from annotation.corpora.access import changeable_corpora, visible_corpora
from annotation.library.uses import User
from annotation.models import Study, Withdrawal
from evaluation.models import Report, ReportStatus
from evaluation.reports.parts.kind import RunsInput
from probing.measures.base import ResultKind
from probing.measures.registry import MEASURES
from probing.models import Run, RunStatus, WordList
from probing.runs.access import visible_runs

# --- Which reports use entries of the library by themselves: word lists, named in parameters


def find_report_uses(
    model: type[Model], slugs: Collection[str], user: User
) -> Iterable[tuple[str, str]]:
    """Yield reports that count the words of a list. Two queries."""
    # Every process imports this file at its start; what selectors need is needed by few.

    if model is not WordList:
        return
    reports = Report.objects.filter(parameters__word_list__in=list(slugs))
    visible = set(visible_reports(user).values_list("pk", flat=True))
    for pk, title, parameters in reports.values_list("pk", "title", "parameters"):
        what = f"the report “{title}”" if pk in visible else "a report of somebody else"
        yield parameters["word_list"], what


# --- Reports that an account may see


def visible_reports(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Report]:
    """Return the reports whose study and corpus ``user`` may see; runs and models are fetched too.

    A report on neither belongs to who asked for it; superusers see all. ``n_withdrawn`` is how many
    people have withdrawn answers since that it may rest on. Two queries.
    """
    reports = (
        Report.objects.select_related("study", "second_study", "corpus")
        .prefetch_related("runs__model")
        .annotate(n_withdrawn=_count_withdrawals())
    )
    if not (user.is_active and getattr(user, "is_staff", False)):
        return reports.none()
    if getattr(user, "is_superuser", False):
        return reports
    return reports.filter(
        Q(study__isnull=True) | Q(study__in=Study.objects.visible_to(user)),
        Q(second_study__isnull=True) | Q(second_study__in=Study.objects.visible_to(user)),
        Q(corpus__isnull=True) | Q(corpus__in=visible_corpora(user)),
        Q(study__isnull=False) | Q(corpus__isnull=False) | Q(created_by=user.pk),
    )


def changeable_reports(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Report]:
    """Return the reports that ``user`` may rename, pin, share and delete.

    Those that they asked for, and those on studies and corpora that they may change.
    """
    return visible_reports(user).filter(is_changeable_by(user))


def is_changeable_by(user: AbstractBaseUser | AnonymousUser) -> Q:
    """Return the condition of `changeable_reports`, of reports that ``user`` may see."""
    if getattr(user, "is_superuser", False):
        return Q(pk__isnull=False)
    return (
        Q(created_by=user.pk)
        | Q(study__in=Study.objects.changeable_by(user))
        | Q(study__isnull=True, corpus__in=changeable_corpora(user))
    )


def _count_withdrawals() -> CombinedExpression:
    """Count withdrawals of accepted answers since a report began to be built."""

    def of(study: str) -> Coalesce:
        since = (
            Withdrawal.objects.filter(
                submission__study=OuterRef(study),
                was_accepted=True,
                withdrawn_at__gte=Coalesce(OuterRef("started_at"), OuterRef("built_at")),
            )
            .order_by()
            .values("submission__study")
        )
        return Coalesce(Subquery(since.annotate(n=Count("pk")).values("n")), 0)

    return of("study") + of("second_study")


def ready_reports() -> QuerySet[Report]:
    """Return the waiting reports all of whose runs are finished."""
    unfinished = Run.objects.filter(reports=OuterRef("pk")).exclude(status=RunStatus.FINISHED)
    return Report.objects.filter(~Exists(unfinished), status=ReportStatus.WAITING)


def fitting_runs(wanted: RunsInput, user: AbstractBaseUser | AnonymousUser) -> QuerySet[Run]:
    """Return the runs that a report can rest on, newest first, with model and corpus joined.

    Runs on corpora that ``user`` may not see are left out, as are those that will never finish.
    """
    runs = (
        visible_runs(user)
        .select_related("model", "corpus")
        .exclude(status__in=[RunStatus.FAILED, RunStatus.CANCELED])
    )
    return runs.filter(measure__in=fitting_measures(wanted)).defer("stimuli")


def fitting_measures(wanted: RunsInput) -> tuple[str, ...]:
    """Return the measures that a report can rest on: those named, or all that score groups."""
    if wanted.measures is not None:
        return wanted.measures
    return tuple(name for name, measure in MEASURES.items() if measure.result == ResultKind.SCORES)
