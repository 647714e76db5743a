"""The data model of machines' side."""

from probing.models.language_model import LanguageModel, ModelKind, ModelSource
from probing.models.run import Run, RunEvent, RunEventKind, RunStatus, Score, Shard, ShardStatus
from probing.models.template import Template, TemplateSet

__all__ = [
    "LanguageModel",
    "ModelKind",
    "ModelSource",
    "Run",
    "RunEvent",
    "RunEventKind",
    "RunStatus",
    "Score",
    "Shard",
    "ShardStatus",
    "Template",
    "TemplateSet",
]
