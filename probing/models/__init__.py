"""The data model of machines' side."""

from probing.models.language_model import LanguageModel, ModelKind, ModelSource
from probing.models.prompt import Prompt
from probing.models.run import (
    Run,
    RunEvent,
    RunEventKind,
    RunStatus,
    Score,
    Shard,
    ShardStatus,
    TextScore,
    TrainingPoint,
)
from probing.models.template import Template, TemplateSet
from probing.models.word_list import WordList

__all__ = [
    "LanguageModel",
    "ModelKind",
    "ModelSource",
    "Prompt",
    "Run",
    "RunEvent",
    "RunEventKind",
    "RunStatus",
    "Score",
    "Shard",
    "ShardStatus",
    "Template",
    "TemplateSet",
    "TextScore",
    "TrainingPoint",
    "WordList",
]
