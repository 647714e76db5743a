"""Tables of language models, their library and their runs."""

from probing.models.labelled_templates import GroupLexicon, LabelledTemplateSet, LabelledTextSet
from probing.models.language_model import LanguageModel, ModelKind, ModelSource
from probing.models.prompt import Prompt
from probing.models.purpose import GUISES, PromptPurpose, WordPurpose
from probing.models.run import (
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
from probing.models.template import Template, TemplateSet
from probing.models.word_list import WordList

__all__ = [
    "GUISES",
    "GroupLexicon",
    "LabelledTemplateSet",
    "LabelledTextSet",
    "LanguageModel",
    "ModelKind",
    "ModelSource",
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
