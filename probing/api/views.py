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
from annotation.models import Corpus, Study
from probing.api.serializers import (
    ClassifyRequestSerializer,
    DryRunSerializer,
    LanguageModelDetailSerializer,
    LanguageModelSerializer,
    MeasureSerializer,
    ModelRegistrationSerializer,
    ProgressSerializer,
    RunDetailSerializer,
    RunRequestSerializer,
    RunSerializer,
)
from probing.measures.base import AnyMeasure
from probing.measures.registry import MEASURES
from probing.models import LanguageModel, Run
from probing.runs.access import visible_runs
from probing.runs.control import cancel_run, resume_run
from probing.runs.creation import create_run, dry_run
from probing.runs.errors import RunError
from probing.runs.language_models import register_model
from probing.runs.progress import load_progress
from probing.runs.sentence_files import listed_sentences
from probing.runs.stimuli_loading import StimuliChoice, run_request
from probing.runs.trained_classification import classify_with_trained

PUBLIC_ID = "[0-9a-z]{12}"


@extend_schema_view(retrieve=extend_schema(responses=LanguageModelDetailSerializer))
class LanguageModelViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[LanguageModel]
):
    """Registered language models."""

    queryset = LanguageModel.objects.select_related("trained_from").order_by("name")
    serializer_class = LanguageModelSerializer
    permission_classes = (StaffWithModelPermissions,)
    filterset_fields = ("name", "kind", "family", "source", "is_demo", "training_run")
    lookup_field = "public_id"
    lookup_value_regex = PUBLIC_ID

    def get_serializer_class(self) -> type[LanguageModelSerializer]:
        return LanguageModelSerializer if self.action == "list" else LanguageModelDetailSerializer

    @extend_schema(
        request=ModelRegistrationSerializer,
        responses={200: LanguageModelDetailSerializer, 201: LanguageModelDetailSerializer},
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
        return Response(LanguageModelDetailSerializer(model).data, status=created)


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
    action_permissions = {
        "cancel": "change",
        "resume": "change",
        "dry_run": "view",
        "classify": "add",
    }
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
        arguments, seed = _read_request(request)
        run = create_run(**arguments, seed=seed, created_by=signed_in(request))
        return Response(RunDetailSerializer(run).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=RunRequestSerializer, responses=DryRunSerializer, filters=False)
    @action(detail=False, methods=["post"], url_path="dry-run")
    def dry_run(self, request: Request) -> Response:
        """Report what a run would cost and what would not work. Stores nothing."""
        arguments, _ = _read_request(request)
        return Response(DryRunSerializer(dry_run(**arguments)).data)

    @extend_schema(
        request=ClassifyRequestSerializer, responses={201: RunSerializer(many=True)}, filters=False
    )
    @action(detail=True, methods=["post"], pagination_class=None)
    def classify(self, request: Request, public_id: str) -> Response:
        """Classify sentences with every model that a fine-tuning has kept: a run for each."""
        form = ClassifyRequestSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        values = form.validated_data
        runs = classify_with_trained(
            run=self.get_object(),
            choice=StimuliChoice(groups=values["groups"], templates=values["templates"]),
            parameters=values["parameters"],
            seed=values["seed"],
            created_by=signed_in(request),
            dtype=values["dtype"],
        )
        return Response(RunSerializer(runs, many=True).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses=RunDetailSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, public_id: str) -> Response:
        """Close an open run; what is stored stays."""
        return Response(RunDetailSerializer(cancel_run(run=self.get_object())).data)

    @extend_schema(request=None, responses=RunDetailSerializer)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, public_id: str) -> Response:
        """Reopen a canceled or failed run; only what is not stored is computed again."""
        return Response(RunDetailSerializer(resume_run(run=self.get_object())).data)

    @extend_schema(responses=ProgressSerializer)
    @action(detail=True, methods=["get"])
    def progress(self, request: Request, public_id: str) -> Response:
        """Report the run's progress, its rate and its workers."""
        return Response(ProgressSerializer(load_progress(self.get_object())).data)


def _read_request(request: Request) -> tuple[dict[str, Any], int]:
    """Return the arguments of `create_run` and `dry_run`, and the seed; raises for wrong ones."""
    form = RunRequestSerializer(data=request.data)
    form.is_valid(raise_exception=True)
    values = form.validated_data
    given = values["sentences"]
    choice = StimuliChoice.of(
        values,
        templates=values["templates"] or (),
        corpus=_corpus(values["corpus"], request),
        study=_study(values["study"], request),
        sentences=None
        if given is None
        else listed_sentences(given, name="sentences of the request"),
    )
    named = {key: values[key] for key in ("measure", "model", "seed", "parameters", "dtype")}
    return run_request(choice=choice, **named), values["seed"]


def _study(public_id: str, request: Request) -> Study | None:
    """Return the study of a request if its user may see it; the refusal is that of no study."""
    if not public_id:
        return None
    study = Study.objects.visible_to(request.user).filter(public_id=public_id).first()
    if study is None:
        raise RunError.at("study", f"There is no study “{public_id}” that you may see.")
    return study


def _corpus(public_id: str, request: Request) -> Corpus | None:
    """Return the corpus of a request if its user may see it; the refusal is that of no corpus."""
    if not public_id:
        return None
    corpus = visible_corpora(request.user).filter(public_id=public_id).first()
    if corpus is None:
        raise RunError.at("corpus", f"There is no corpus “{public_id}” that you may see.")
    return corpus
