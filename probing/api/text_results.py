"""Results of runs on texts, over HTTP: scores of single texts, and counterparts."""

from __future__ import annotations

from django.db.models import QuerySet
from rest_framework import mixins, viewsets
from rest_framework.request import Request
from rest_framework.views import APIView

from annotation.api.permissions import Staff, StaffWithModelPermissions
from annotation.models import Counterpart
from probing.api.serializers import RunCounterpartSerializer, TextScoreSerializer
from probing.api.views import find_run
from probing.models import TextScore
from probing.runs.counterpart_table import run_counterparts


class RunTextScoreViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[TextScore]):
    """The scores of a finished run on texts: one for each text, condition and trial."""

    queryset = TextScore.objects.order_by("name", "condition", "variety", "trial", "pair", "pk")
    serializer_class = TextScoreSerializer
    permission_classes = (StaffWithModelPermissions,)
    filterset_fields = ("name", "pair", "variety", "condition", "trial")

    def get_queryset(self) -> QuerySet[TextScore]:
        if getattr(self, "swagger_fake_view", False):  # the schema asks without a run
            return super().get_queryset()
        return super().get_queryset().filter(run=find_run(self.request, self.kwargs))


class StaffWhoSeeRuns(Staff):
    """Lets staff in who may see runs: what a run wrote is part of it."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        names = ("probing.view_run", "probing.change_run")
        return super().has_permission(request, view) and any(map(request.user.has_perm, names))


class RunCounterpartViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Counterpart]):
    """The counterparts that a finished run wrote."""

    queryset = Counterpart.objects.exclude(run="").order_by("text__pk", "variety", "pk")
    serializer_class = RunCounterpartSerializer
    permission_classes = (StaffWhoSeeRuns,)
    filterset_fields = ("variety",)

    def get_queryset(self) -> QuerySet[Counterpart]:
        if getattr(self, "swagger_fake_view", False):  # the schema asks without a run
            return super().get_queryset()
        return run_counterparts(find_run(self.request, self.kwargs)).order_by(
            "text__pk", "variety", "pk"
        )
