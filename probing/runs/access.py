"""Who may see a run: the one place of this rule for admin, API and reports.

Users with the permission see runs. A run on texts holds these texts, so only users who may see its
corpus see the run.
"""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Q, QuerySet

from annotation.corpora.access import visible_corpora
from probing.models import Run


def visible_runs(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Run]:
    """Return the runs whose texts ``user`` may see; the permission itself is asked elsewhere."""
    if getattr(user, "is_superuser", False):
        return Run.objects.all()
    return Run.objects.filter(
        Q(corpus__isnull=True) | Q(corpus__in=visible_corpora(user).values("pk"))
    )
