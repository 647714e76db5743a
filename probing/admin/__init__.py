"""Researchers' pages of language models, templates, prompts, word lists, lexicons and runs."""

from probing.admin.labeled_templates import (
    GroupLexiconAdmin,
    LabeledTemplateSetAdmin,
    LabeledTextSetAdmin,
)
from probing.admin.language_model import LanguageModelAdmin
from probing.admin.prompt import PromptAdmin
from probing.admin.run import RunAdmin
from probing.admin.template import TemplateAdmin, TemplateSetAdmin
from probing.admin.word_list import WordListAdmin

__all__ = [
    "GroupLexiconAdmin",
    "LabeledTemplateSetAdmin",
    "LabeledTextSetAdmin",
    "LanguageModelAdmin",
    "PromptAdmin",
    "RunAdmin",
    "TemplateAdmin",
    "TemplateSetAdmin",
    "WordListAdmin",
]
