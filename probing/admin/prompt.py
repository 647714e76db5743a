"""Prompts in the admin: the wording, its names for the varieties, and what a model reads."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextareaWidget

from annotation.admin.history import HistoryAdmin
from probing.admin.library_entry import MaterialAdmin
from probing.measures.class_prompts import ClassPrompt, label_list
from probing.measures.probe_stimuli import SENTIMENT
from probing.measures.prompts import PromptError, parse_prompt, variety_name
from probing.models import Prompt, PromptPurpose

VARIETIES = ("AAL", "WME")
#: A made-up sentence in either variety, so that a preview shows no text of a corpus.
SAMPLES = ("they be talkin on the phone", "they are usually talking on the phone")
VARIETY_LENGTH = 40
NAME_LENGTH = 120


class PromptForm(forms.ModelForm):
    """Asks for the names of the varieties, one per line."""

    names = forms.CharField(
        label=gettext_lazy("Names of the varieties"),
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3, "data-prompt-names": ""}),
        help_text=gettext_lazy(
            "How the prompt calls them, one on each line, such as “AAL: African American "
            "Language”. A variety without a line keeps its own name."
        ),
    )

    class Meta:
        model = Prompt
        fields = ("slug", "purpose", "text")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "names" in self.fields:
            known = self.instance.variety_names
            self.fields["names"].initial = "\n".join(
                f"{key}: {name}" for key, name in known.items()
            )
        if "text" in self.fields:
            self.fields["text"].widget.attrs["data-prompt-text"] = ""

    def clean_text(self) -> str:
        # A browser sends line breaks of two characters; models read what the database holds.
        return str(self.cleaned_data["text"]).replace("\r\n", "\n")

    def clean_names(self) -> dict[str, str]:
        names: dict[str, str] = {}
        for number, line in enumerate(str(self.cleaned_data["names"]).splitlines(), start=1):
            if not line.strip():
                continue
            variety, colon, name = (part.strip() for part in line.partition(":"))
            if not (colon and variety and name):
                raise forms.ValidationError(
                    _(
                        "Line %(n)d is “%(line)s”, expected a variety, a colon and its name, such "
                        "as “AAL: African American Language”."
                    )
                    % {"n": number, "line": line.strip()}
                )
            if variety in names:
                raise forms.ValidationError(
                    _("Line %(n)d names “%(variety)s” again. Name it once.")
                    % {"n": number, "variety": variety}
                )
            if len(variety) > VARIETY_LENGTH or len(name) > NAME_LENGTH:
                raise forms.ValidationError(
                    _(
                        "Line %(n)d is too long, expected at most %(variety)d characters before "
                        "the colon and %(name)d after it."
                    )
                    % {"n": number, "variety": VARIETY_LENGTH, "name": NAME_LENGTH}
                )
            names[variety] = name
        return names

    def save(self, commit: bool = True) -> Any:
        if "names" in self.cleaned_data:
            self.instance.variety_names = self.cleaned_data["names"]
        return super().save(commit=commit)


@admin.register(Prompt)
class PromptAdmin(HistoryAdmin, MaterialAdmin):
    """The library of prompts; a run keeps its own copy, so an edit changes no result."""

    form = PromptForm
    list_display = ("slug", "purpose", "wording", "called")
    list_filter = ("purpose",)
    search_fields = ("slug", "text")
    fields = ("slug", "purpose", "text", "names", "preview")
    readonly_fields = ("preview",)

    class Media:
        css = {"all": ["probing/prompt.css"]}
        js = [forms.Script("probing/prompt.js", type="module")]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Prompt]:
        return super().get_queryset(request).order_by("slug")

    @display(description=gettext_lazy("text"))
    def wording(self, prompt: Prompt) -> str:
        return " ".join(prompt.text.split())

    @display(description=gettext_lazy("names of the varieties"))
    def called(self, prompt: Prompt) -> str:
        return " / ".join(str(name) for name in prompt.variety_names.values()) or "–"

    @display(description=gettext_lazy("What a model reads"))
    def preview(self, prompt: Prompt | None) -> SafeString:
        """Return the prompt for a made-up text, both ways; the page's script redraws it."""
        text = prompt.text if prompt is not None else ""
        names = prompt.variety_names if prompt is not None else {}
        if prompt is not None and prompt.purpose == PromptPurpose.CLASSES:
            return format_html(
                '<div class="prompt-preview"><figure><figcaption>{}</figcaption>'
                '<pre data-prompt-shown data-text="{}" data-labels="{}">{}</pre></figure></div>',
                _("The model writes where dots are"),
                SAMPLES[1],
                label_list(SENTIMENT),
                _asked(text),
            )
        shown = format_html_join(
            "",
            '<figure><figcaption>{}</figcaption><pre data-prompt-shown data-text="{}" '
            'data-source="{}" data-target="{}">{}</pre></figure>',
            [
                (
                    _("%(source)s into %(target)s") % {"source": source, "target": target},
                    sample,
                    source,
                    target,
                    _filled(text, sample, source, target, names),
                )
                for (source, target), sample in zip(_directions(names), SAMPLES, strict=True)
            ],
        )
        return format_html('<div class="prompt-preview">{}</div>', shown)


def _asked(text: str) -> str:
    try:
        return (
            ClassPrompt("", text)
            .demonstration(SAMPLES[1], "…", SENTIMENT)
            .replace("{reasoning}", "…")
        )
    except PromptError as error:
        return str(error)


def _directions(names: dict[str, str]) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return the two varieties that the prompt names, or else AAL and WME."""
    chosen = tuple(names)[:2]
    if len(chosen) < 2:
        chosen = VARIETIES
    first, second = chosen
    return (first, second), (second, first)


def _filled(text: str, sample: str, source: str, target: str, names: dict[str, str]) -> str:
    if not text:
        return "–"
    try:
        parsed = parse_prompt(text)
    except PromptError as error:
        return str(error)
    return parsed.fill(
        text=sample, source=variety_name(names, source), target=variety_name(names, target)
    )
