"""Results of a run over HTTP: scores, loss curve, counterparts."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, viewsets
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.permissions import Staff, StaffWithModelPermissions
from annotation.models import Counterpart
from probing.api.serializers import (
    RunAnswerSerializer,
    RunCounterpartSerializer,
    ScoreSerializer,
    TextScoreSerializer,
    TrainingPointSerializer,
)
from probing.models import Run, Score, TextScore, TrainingPoint
from probing.runs.access import visible_runs
from probing.runs.answers import keeps_answers, load_answers
from probing.runs.result_tables import run_counterparts

R = TypeVar("R", bound=Model)


class RunRowsViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[R]):
    """Rows of the run that the address names; 404 where the user may see no such run."""

    permission_classes: tuple[Any, ...] = (StaffWithModelPermissions,)

    def get_queryset(self) -> QuerySet[R]:
        rows = super().get_queryset()
        if getattr(self, "swagger_fake_view", False):  # the schema asks without a run
            return rows
        public_id = self.kwargs["public_id"]
        run = visible_runs(self.request.user).filter(public_id=public_id).first()
        if run is None:
            raise NotFound(f"There is no run “{public_id}”.")
        return self.of_run(rows, run)

    def of_run(self, rows: QuerySet[R], run: Run) -> QuerySet[R]:
        return rows.filter(run=run)


class RunScoreViewSet(RunRowsViewSet[Score]):
    """The scores of a finished run. `template` is empty for the mean over templates.

    Of matched guise probing `group` is the first variety, `trait` the attribute, `template` the
    prompt, and `name` whether texts are compared pair by pair or pooled.
    """

    queryset = Score.objects.order_by("name", "template", "group", "trait", "pk")
    serializer_class = ScoreSerializer
    filterset_fields = ("name", "group", "trait", "template")


class RunTextScoreViewSet(RunRowsViewSet[TextScore]):
    """The scores of a finished run on texts: one for each text, condition and trial."""

    queryset = TextScore.objects.order_by("name", "condition", "variety", "trial", "pair", "pk")
    serializer_class = TextScoreSerializer
    filterset_fields = ("name", "pair", "variety", "condition", "trial")


class RunTrainingViewSet(RunRowsViewSet[TrainingPoint]):
    """The loss curves of a run that trains models, while it trains and afterwards."""

    queryset = TrainingPoint.objects.order_by("training", "step")
    filterset_fields = ("training",)
    serializer_class = TrainingPointSerializer


class StaffWhoSeeRuns(Staff):
    """Lets staff in who may see runs: what a run wrote is part of it."""

    def lets_in(self, request: Request, view: APIView) -> bool:
        names = ("probing.view_run", "probing.change_run")
        return super().lets_in(request, view) and any(map(request.user.has_perm, names))


class RunAnswerViewSet(viewsets.GenericViewSet[Run]):
    """What the model of a run answered. `item` is what was asked about, `prompt` how.

    `outcome`: answered, refused, unreadable or cut_off. `reasoning` is no part of the answer.
    """

    queryset = Run.objects.all()
    serializer_class = RunAnswerSerializer
    permission_classes = (StaffWhoSeeRuns,)
    filter_backends = ()

    @extend_schema(
        parameters=[
            OpenApiParameter("outcome", str, description="Only answers that ended so."),
            OpenApiParameter("unread", bool, description="Leaves out answers that were read."),
        ]
    )
    def list(self, request: Request, public_id: str) -> Response:
        run = visible_runs(request.user).filter(public_id=public_id).first()
        if run is None or not keeps_answers(run):
            raise NotFound(f"There is no run “{public_id}” that keeps answers.")
        found = load_answers(
            run,
            unread=request.query_params.get("unread", "") in ("true", "1"),
            outcome=request.query_params.get("outcome", ""),
        )
        rows = [row for said in found for row in said.to_dict(orient="records")]
        page = self.paginate_queryset(rows)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class RunCounterpartViewSet(RunRowsViewSet[Counterpart]):
    """The counterparts that a finished run wrote."""

    queryset = Counterpart.objects.exclude(run="").order_by("text__pk", "variety", "pk")
    serializer_class = RunCounterpartSerializer
    permission_classes = (StaffWhoSeeRuns,)
    filterset_fields = ("variety",)

    def of_run(self, rows: QuerySet[Counterpart], run: Run) -> QuerySet[Counterpart]:
        return run_counterparts(run).order_by("text__pk", "variety", "pk")
