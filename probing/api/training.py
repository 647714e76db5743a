"""The loss curve of a run that trains, over HTTP."""

from __future__ import annotations

from django.db.models import QuerySet
from rest_framework import mixins, serializers, viewsets

from annotation.api.permissions import StaffWithModelPermissions
from probing.api.views import find_run
from probing.models import TrainingPoint


class TrainingPointSerializer(serializers.ModelSerializer[TrainingPoint]):
    class Meta:
        model = TrainingPoint
        fields = ("step", "epoch", "loss", "held_out_loss", "learning_rate", "at")
        read_only_fields = fields


class RunTrainingViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[TrainingPoint]):
    """The loss curve of a run that trains a model, while it trains and afterwards."""

    queryset = TrainingPoint.objects.order_by("step")
    serializer_class = TrainingPointSerializer
    permission_classes = (StaffWithModelPermissions,)

    def get_queryset(self) -> QuerySet[TrainingPoint]:
        if getattr(self, "swagger_fake_view", False):  # the schema asks without a run
            return super().get_queryset()
        return super().get_queryset().filter(run=find_run(self.request, self.kwargs))
