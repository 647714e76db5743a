"""Tables of language models, their library and their runs."""

from probing.models.labeled_templates import GroupLexicon, LabeledTemplateSet, LabeledTextSet
from probing.models.language_model import LanguageModel, ModelKind, ModelSource
from probing.models.library import Prompt, Template, TemplateSet, WordList
from probing.models.purpose import GUISES, PromptPurpose, WordPurpose
from probing.models.run import (
    NumberFormat,
    Run,
    RunEvent,
    RunEventKind,
    RunOrigin,
    RunStatus,
    Score,
    Shard,
    ShardStatus,
    TextScore,
    TrainingPoint,
)

__all__ = [
    "GUISES",
    "GroupLexicon",
    "LabeledTemplateSet",
    "LabeledTextSet",
    "LanguageModel",
    "ModelKind",
    "ModelSource",
    "NumberFormat",
    "Prompt",
    "PromptPurpose",
    "Run",
    "RunEvent",
    "RunEventKind",
    "RunOrigin",
    "RunStatus",
    "Score",
    "Shard",
    "ShardStatus",
    "Template",
    "TemplateSet",
    "TextScore",
    "TrainingPoint",
    "WordList",
    "WordPurpose",
]
