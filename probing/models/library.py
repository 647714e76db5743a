"""Entries of the library: prompts, templates of sentences, and word lists."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from probing.models.purpose import PromptPurpose, WordPurpose

# --- Prompts: wordings that ask models for a counterpart, about a speaker, or for a class


def validate_prompt_text(text: str, purpose: str = PromptPurpose.COUNTERPARTS) -> None:
    """Raise unless ``text`` has the placeholders that the purpose asks for, and no others."""
    from probing.measures.class_prompts import ClassPrompt
    from probing.measures.prompts import PromptError, parse_prompt

    try:
        if purpose == PromptPurpose.CLASSES:
            ClassPrompt("", text)
        else:
            parse_prompt(text)
    except PromptError as error:
        raise ValidationError(str(error)) from error


class Prompt(models.Model):
    """A wording with {text} for the text, and other placeholders by its purpose."""

    slug = models.SlugField(max_length=100, unique=True)
    purpose = models.CharField(
        max_length=20, choices=PromptPurpose, default=PromptPurpose.COUNTERPARTS
    )
    text = models.TextField(
        help_text=_(
            "With {text} once; {source} and {target} stand for the varieties’ names. A prompt that "
            "asks for a class has {answer} where the model goes on ({Answer} for a capital), and "
            "perhaps {labels} for the names of the classes and {reasoning} before the answer."
        ),
    )
    variety_names = models.JSONField(
        default=dict,
        blank=True,
        help_text=_(
            "How the prompt calls the varieties, such as AAL: African American Vernacular English."
        ),
    )
    history = HistoricalRecords()

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug

    def clean(self) -> None:
        try:
            validate_prompt_text(self.text, self.purpose)
        except ValidationError as error:
            raise ValidationError({"text": error.messages}) from error


# --- Templates: sentences with one slot for a group and one for a trait


def validate_template_text(text: str) -> None:
    """Raise unless ``text`` has exactly one group slot and one trait slot."""
    from probing.measures.templates import TemplateError, parse_template

    try:
        parse_template(text)
    except TemplateError as error:
        raise ValidationError(str(error)) from error


class Template(models.Model):
    """A template; its group placeholder says which surface form of a group it needs."""

    slug = models.SlugField(max_length=100, unique=True)
    text = models.CharField(
        max_length=300,
        unique=True,
        validators=[validate_template_text],
        help_text=_(
            "One of {singular}, {plural}, {Plural} for the group and {trait} for the adjective, "
            "as in “That {singular} is {trait}.”"
        ),
    )
    history = HistoricalRecords()

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.text


class TemplateSet(models.Model):
    """A named choice of templates, such as Table 4 of a paper."""

    slug = models.SlugField(max_length=100, unique=True)
    title = models.CharField(max_length=160)
    templates: models.ManyToManyField[Template, models.Model] = models.ManyToManyField(
        Template, related_name="sets"
    )

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.title


# --- Word lists


def validate_words(words: object) -> None:
    """Raise unless ``words`` is a list of words, each once."""
    if not isinstance(words, list) or not words:
        raise ValidationError(_("A word list holds at least one word."))
    if not all(isinstance(word, str) and word.strip() for word in words):
        raise ValidationError(_("Every entry of a word list is a word."))
    if any(";" in word for word in words):
        raise ValidationError(_("An entry holds several words, expected one word or phrase each."))
    if len({word.casefold() for word in words}) < len(words):
        raise ValidationError(_("A word comes twice, expected every word once."))


class WordList(models.Model):
    """Words in the order of their file. Analyses name it by its slug."""

    slug = models.SlugField(max_length=100, unique=True)
    title = models.CharField(max_length=160)
    purpose = models.CharField(max_length=20, choices=WordPurpose, default=WordPurpose.LOOKUP)
    words = models.JSONField(default=list, validators=[validate_words])
    citation = models.TextField(blank=True, help_text=_("Who made the list, and where it is from."))
    license = models.CharField(max_length=160, help_text=_("For example MIT, or what was agreed."))
    created_at = models.DateTimeField(auto_now_add=True)
    history = HistoricalRecords()

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.title
