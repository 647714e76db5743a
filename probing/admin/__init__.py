"""Researchers' pages about machines: models, templates, runs."""

from probing.admin.language_model import LanguageModelAdmin
from probing.admin.prompt import PromptAdmin
from probing.admin.run import RunAdmin
from probing.admin.template import TemplateAdmin, TemplateSetAdmin
from probing.admin.word_list import WordListAdmin

__all__ = [
    "LanguageModelAdmin",
    "PromptAdmin",
    "RunAdmin",
    "TemplateAdmin",
    "TemplateSetAdmin",
    "WordListAdmin",
]
