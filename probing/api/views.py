"""Models, measures and runs over HTTP, through the services that admin and commands use."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.permissions import Staff, StaffWithModelPermissions, signed_in
from annotation.corpora.access import visible_corpora
from annotation.models import Corpus
from probing.api.serializers import (
    DryRunSerializer,
    LanguageModelSerializer,
    MeasureSerializer,
    ModelRegistrationSerializer,
    ProgressSerializer,
    RunDetailSerializer,
    RunRequestSerializer,
    RunSerializer,
    ScoreSerializer,
)
from probing.measures.base import AnyMeasure
from probing.measures.registry import MEASURES
from probing.models import LanguageModel, Run, Score
from probing.runs.access import visible_runs
from probing.runs.choosing import StimuliChoice, choose_stimuli
from probing.runs.control import cancel_run, resume_run
from probing.runs.creation import create_run, dry_run
from probing.runs.errors import RunError
from probing.runs.language_models import register_model
from probing.runs.progress import load_progress
from probing.runs.sentence_files import listed_sentences

PUBLIC_ID = "[0-9a-z]{12}"


class LanguageModelViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[LanguageModel]
):
    """Registered language models."""

    queryset = LanguageModel.objects.order_by("name")
    serializer_class = LanguageModelSerializer
    permission_classes = (StaffWithModelPermissions,)
    filterset_fields = ("name", "kind", "family", "source", "is_demo")
    lookup_field = "public_id"
    lookup_value_regex = PUBLIC_ID

    @extend_schema(
        request=ModelRegistrationSerializer,
        responses={200: LanguageModelSerializer, 201: LanguageModelSerializer},
        description="Registers a language model: masked, causal, sequence to sequence, or a chat "
        "model behind a server. A place that is registered already gives "
        "the model that is there (200).",
    )
    def create(self, request: Request) -> Response:
        form = ModelRegistrationSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        known = set(LanguageModel.objects.values_list("pk", flat=True))
        model = register_model(**form.validated_data)
        created = status.HTTP_200_OK if model.pk in known else status.HTTP_201_CREATED
        return Response(LanguageModelSerializer(model).data, status=created)


class MeasureViewSet(viewsets.ViewSet):
    """The measures of the registry, with the JSON Schema of their parameters."""

    permission_classes = (Staff,)
    lookup_field = "name"
    lookup_value_regex = "[0-9a-z_]+"

    @extend_schema(responses=MeasureSerializer(many=True))
    def list(self, request: Request) -> Response:
        return Response([_describe(measure) for measure in MEASURES.values()])

    @extend_schema(
        responses=MeasureSerializer,
        parameters=[OpenApiParameter("name", str, OpenApiParameter.PATH)],
    )
    def retrieve(self, request: Request, name: str) -> Response:
        if name not in MEASURES:
            raise NotFound(f"There is no measure “{name}”. Expected one of: {', '.join(MEASURES)}.")
        return Response(_describe(MEASURES[name]))


def _describe(measure: AnyMeasure) -> dict[str, Any]:
    return {
        "name": measure.name,
        "title": measure.title,
        "citation": measure.citation,
        "abilities": sorted(measure.abilities),
        "parameters": measure.Parameters.model_json_schema(),
        "stimuli": measure.stimuli_type.__name__,
        "result": measure.result.value,
    }


@extend_schema_view(retrieve=extend_schema(responses=RunDetailSerializer))
class RunViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Run]):
    """Runs: one measure with one model on stated stimuli, parameters and seed."""

    queryset = Run.objects.select_related("model", "corpus").order_by("-pk")
    permission_classes = (StaffWithModelPermissions,)
    action_permissions = {"cancel": "change", "resume": "change", "dry_run": "view"}
    filterset_fields = ("status", "measure", "model__public_id")
    lookup_field = "public_id"
    lookup_value_regex = PUBLIC_ID
    serializer_class = RunSerializer

    def get_queryset(self) -> QuerySet[Run]:
        # A list of runs does not read the stimuli, which are most of a row.
        runs = super().get_queryset()
        if not getattr(self, "swagger_fake_view", False):
            runs = runs.filter(pk__in=visible_runs(self.request.user).values("pk"))
        return runs.defer("stimuli") if self.action == "list" else runs

    def get_serializer_class(self) -> type[RunSerializer]:
        return RunSerializer if self.action == "list" else RunDetailSerializer

    @extend_schema(request=RunRequestSerializer, responses={201: RunDetailSerializer})
    def create(self, request: Request) -> Response:
        """Create a run with all its shards and wake the workers."""
        form = RunRequestSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        run = create_run(
            **_read_request(form.validated_data, request),
            seed=form.validated_data["seed"],
            created_by=signed_in(request),
        )
        return Response(RunDetailSerializer(run).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=RunRequestSerializer, responses=DryRunSerializer, filters=False)
    @action(detail=False, methods=["post"], url_path="dry-run")
    def dry_run(self, request: Request) -> Response:
        """Say what a run would cost and what would not work. Stores nothing."""
        form = RunRequestSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        tried = dry_run(**_read_request(form.validated_data, request))
        return Response(DryRunSerializer(tried).data)

    @extend_schema(request=None, responses=RunDetailSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, public_id: str) -> Response:
        """Close an open run; what is stored stays."""
        return Response(RunDetailSerializer(cancel_run(run=self.get_object())).data)

    @extend_schema(request=None, responses=RunDetailSerializer)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, public_id: str) -> Response:
        """Reopen a cancelled or failed run; only what is not stored is computed again."""
        return Response(RunDetailSerializer(resume_run(run=self.get_object())).data)

    @extend_schema(responses=ProgressSerializer)
    @action(detail=True, methods=["get"])
    def progress(self, request: Request, public_id: str) -> Response:
        """Say how far the run is, how fast, and who works on it."""
        return Response(ProgressSerializer(load_progress(self.get_object())).data)


class RunScoreViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Score]):
    """The scores of a finished run. `template` is empty for the mean over templates."""

    queryset = Score.objects.order_by("name", "template", "group", "trait", "pk")
    serializer_class = ScoreSerializer
    permission_classes = (StaffWithModelPermissions,)
    filterset_fields = ("name", "group", "trait", "template")

    def get_queryset(self) -> QuerySet[Score]:
        if getattr(self, "swagger_fake_view", False):  # the schema asks without a run
            return super().get_queryset()
        return super().get_queryset().filter(run=find_run(self.request, self.kwargs))


def find_run(request: Request, names: dict[str, Any]) -> Run:
    """Return the run of an address; 404 where there is none that the user may see."""
    run = visible_runs(request.user).filter(public_id=names["public_id"]).first()
    if run is None:
        raise NotFound(f"There is no run “{names['public_id']}”.")
    return run


def _read_request(values: dict[str, Any], request: Request) -> dict[str, Any]:
    """Return the arguments of `create_run` and `dry_run` that a request stands for."""
    model: LanguageModel = values["model"]
    name: str = values["measure"]
    if name not in MEASURES:
        raise RunError.at(
            "measure",
            f"There is no measure “{name}”, expected one of: {', '.join(MEASURES)}.",
        )
    corpus = _corpus(values["corpus"], request)
    choice = StimuliChoice(
        groups=values["groups"],
        templates=values["templates"] or (),
        traits=values["traits"],
        corpus=corpus,
        sentences=None
        if values["sentences"] is None
        else listed_sentences(values["sentences"], name="sentences of the request"),
        variety=values["variety"],
        prompts=values["prompts"],
        sources=values["sources"],
        limit=values["limit"],
        examples=values["examples"],
    )
    return {
        "measure": name,
        "model": model,
        "parameters": values["parameters"],
        "corpus": corpus,
        "stimuli": choose_stimuli(
            measure=MEASURES[name],
            model=model,
            choice=choice,
            seed=values["seed"],
            parameters=values["parameters"],
        ),
    }


def _corpus(public_id: str, request: Request) -> Corpus | None:
    """Return the corpus of a request if its user may see it; the refusal is that of no corpus."""
    if not public_id:
        return None
    corpus = visible_corpora(request.user).filter(public_id=public_id).first()
    if corpus is None:
        raise RunError.at("corpus", f"There is no corpus “{public_id}” that you may see.")
    return corpus
