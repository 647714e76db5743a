"""Which reports use entries of the library by themselves: word lists, named in parameters."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.db.models import Model

from annotation.library.uses import User
from evaluation.models import Report
from probing.models import WordList


def find_report_uses(
    model: type[Model], slugs: Collection[str], user: User
) -> Iterable[tuple[str, str]]:
    """Yield reports that count the words of a list. Two queries."""
    # Every process imports this file at its start; what selectors need is needed by few.
    from evaluation.reports.selectors import visible_reports

    if model is not WordList:
        return
    reports = Report.objects.filter(parameters__word_list__in=list(slugs))
    visible = set(visible_reports(user).values_list("pk", flat=True))
    for pk, title, parameters in reports.values_list("pk", "title", "parameters"):
        what = f"the report “{title}”" if pk in visible else "a report of somebody else"
        yield parameters["word_list"], what
