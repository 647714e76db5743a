"""The money of a study over HTTP. Paying names how many people and how much, as the page does.

No id of a person or of a submission at the panel passes here.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import APIException, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.permissions import Staff, signed_in
from annotation.api.rows import find_study
from annotation.models import (
    PAYMENT_PERMISSION,
    SURVEY_KINDS,
    ActionKind,
    ActionState,
    Origin,
    PanelAction,
    Study,
)
from annotation.panels.action_plan import (
    PROPOSERS,
    Plan,
    PlanChangedError,
    PlanTotals,
    store_plan,
)
from annotation.panels.dispatch import notify_payer
from annotation.panels.registry import get_panel
from annotation.studies.ledger import Ledger


class Conflict(APIException):
    status_code = status.HTTP_409_CONFLICT
    default_detail = "It is not the same any more."


class PaymentSerializer(serializers.ModelSerializer[PanelAction]):
    """One thing that the panel was or will be asked for about one submission."""

    kind = serializers.ChoiceField(choices=ActionKind.choices, read_only=True)
    state = serializers.ChoiceField(choices=ActionState.choices, read_only=True)

    class Meta:
        model = PanelAction
        fields = (
            "public_id",
            "kind",
            "key",
            "amount_minor",
            "currency",
            "state",
            "problem",
            "by_panel",
            "attempts",
            "planned_at",
            "settled_at",
        )
        read_only_fields = fields


class ProposalSerializer(serializers.Serializer[Any]):
    """What would be asked of the panel; ``left_out`` counts people by the reason why not."""

    people = serializers.IntegerField()
    amount_minor = serializers.IntegerField()
    left_out = serializers.DictField(child=serializers.IntegerField())


class MoneySerializer(serializers.Serializer[Any]):
    """Amounts in the currency's smallest unit."""

    currency = serializers.CharField()
    reward_minor = serializers.IntegerField()
    paid_minor = serializers.IntegerField()
    paid_with_fee_minor = serializers.IntegerField()
    under_way_minor = serializers.IntegerField()
    to_go_people = serializers.IntegerField()
    to_go_minor = serializers.IntegerField()
    hourly_minor = serializers.IntegerField(allow_null=True)
    is_below_minimum = serializers.BooleanField()
    unclear = serializers.IntegerField()
    refused = serializers.IntegerField()
    rewards = ProposalSerializer()
    returns = ProposalSerializer()
    rejections = ProposalSerializer()


class PayRequestSerializer(serializers.Serializer[Any]):
    """What to do, with the people and the amount that were proposed for it."""

    what = serializers.ChoiceField(choices=sorted(PROPOSERS))
    people = serializers.IntegerField(min_value=1, max_value=1_000_000)
    amount_minor = serializers.IntegerField(min_value=0, max_value=2_000_000_000)


class StudyPaymentViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[PanelAction]):
    """Payments of a study, for those who may pay it."""

    queryset = PanelAction.objects.none()
    serializer_class = PaymentSerializer
    permission_classes = (Staff,)
    filterset_fields = ("kind", "state")

    def get_queryset(self) -> QuerySet[PanelAction]:
        if getattr(self, "swagger_fake_view", False):  # the schema asks without a study
            return super().get_queryset()
        return PanelAction.objects.filter(study=self._find()).order_by("pk")

    @extend_schema(responses=MoneySerializer)
    @action(detail=False, methods=["get"], pagination_class=None, filter_backends=[])
    def money(self, request: Request, public_id: str) -> Response:
        """Say what the study has cost, what is under way, and what could be paid now."""
        return Response(MoneySerializer(describe_money(Ledger(self._find()))).data)

    @extend_schema(request=PayRequestSerializer, responses={202: ProposalSerializer})
    @action(detail=False, methods=["post"], pagination_class=None, filter_backends=[])
    def pay(self, request: Request, public_id: str) -> Response:
        """Have exactly these people paid, asked to return, or rejected; a worker asks the panel.

        409 if other people or another amount would be concerned by now; nothing is done then.
        """
        study = self._find()
        asked = PayRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        if not get_panel(study.panel).has_api:
            raise Conflict("The study’s panel has no API: payments are recorded on its money page.")
        propose = PROPOSERS[asked.validated_data["what"]]
        plan = propose(study)
        wanted = (asked.validated_data["people"], asked.validated_data["amount_minor"])
        if (plan.people, plan.amount_minor) != wanted:
            raise Conflict(
                f"Proposed are {plan.people} people and {plan.amount_minor}, not {wanted[0]} and "
                f"{wanted[1]}. Nothing was done."
            )
        try:
            store_plan(
                study=study,
                propose=propose,
                fingerprint=plan.fingerprint,
                planned_by=signed_in(request),
            )
        except PlanChangedError:
            raise Conflict("A decision was made in between. Nothing was done.") from None
        notify_payer(study)
        return Response(describe_plan(plan), status=status.HTTP_202_ACCEPTED)

    def _find(self) -> Study:
        user = signed_in(self.request)
        study = find_study(self, Q(kind__in=SURVEY_KINDS) & ~Q(origin=Origin.IMPORTED))
        if not (study.is_changeable_by(user) and user.has_perm(PAYMENT_PERMISSION)):
            raise PermissionDenied
        return study


def describe_plan(plan: Plan | PlanTotals) -> dict[str, Any]:
    return {
        "people": plan.people,
        "amount_minor": plan.amount_minor,
        "left_out": plan.left_out,
    }


def describe_money(ledger: Ledger) -> dict[str, Any]:
    hourly, to_go = ledger.hourly, ledger.to_go
    return {
        "currency": ledger.study.currency,
        "reward_minor": ledger.study.reward_cents,
        "paid_minor": ledger.paid_minor,
        "paid_with_fee_minor": ledger.with_fee(ledger.paid_minor),
        "under_way_minor": ledger.under_way_minor,
        "to_go_people": to_go.people,
        "to_go_minor": to_go.amount_minor,
        "hourly_minor": hourly.median,
        "is_below_minimum": hourly.is_too_low,
        "unclear": ledger.unclear.count(),
        "refused": ledger.refused.count(),
        "rewards": describe_plan(ledger.rewards),
        "returns": describe_plan(ledger.returns),
        "rejections": describe_plan(ledger.rejections),
    }
