"""Runs on labeled templates, as their forms ask: for classifiers, and with prompts."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.researcher.pages.fields import ChoiceField, WholeNumberField
from probing.admin.run_form import RunForm
from probing.measures.lexicon_library import DEFAULT_LEXICONS, TEMPLATE_SET
from probing.models import GroupLexicon, LabeledTemplateSet, LabeledTextSet, Prompt, PromptPurpose
from probing.runs.text_stimuli import DEFAULT_EXAMPLES

# --- Fields and labels that the forms of runs share


def checkbox_list(label: Any, help_text: Any = "") -> forms.MultipleChoiceField:
    """Return a field to tick any number of entries in, or none."""
    return forms.MultipleChoiceField(
        label=label, widget=forms.CheckboxSelectMultiple, required=False, help_text=help_text
    )


def most_pairs() -> forms.IntegerField:
    """Return a field for how many pairs are taken at most."""
    return WholeNumberField(
        label=_("Most pairs"),
        required=False,
        min_value=1,
        help_text=_("Drawn with the seed, in the order of the corpus. Empty takes all."),
    )


def offer(form: forms.Form, name: str, choices: list[tuple[str, Any]], *initial: str) -> None:
    field: Any = form.fields[name]
    field.choices, field.initial = choices, list(initial)


def entries(found: Any) -> list[tuple[str, Any]]:
    """Return entries of the library as choices; sets come with the ``number`` of their entries."""
    return [
        (entry.slug, f"{entry} ({entry.number})" if hasattr(entry, "number") else str(entry))
        for entry in found
    ]


def prompt_label(prompt: Prompt) -> str:
    names = " / ".join(str(name) for name in prompt.variety_names.values())
    text = " ".join(prompt.text.split())
    return f"{prompt.slug}: {text}{f' ({names})' if names else ''}"


# --- Forms


class ProbeRunForm(RunForm):
    """A run on labeled templates with the words of lexicons."""

    templates = checkbox_list(_("Labeled templates"))
    groups = checkbox_list(
        _("Lexicons of groups"),
        _(
            "The words of every lexicon fill every template. Placebo adjectives show how far gaps "
            "spread where no group is named; “no mention” leaves the word out."
        ),
    )

    stimuli_template = "admin/probing/run/choose_probes.html"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "templates", entries(LabeledTemplateSet.objects.all()), TEMPLATE_SET[0])
        offer(self, "groups", entries(GroupLexicon.objects.all()), *DEFAULT_LEXICONS)


class PromptedRunForm(ProbeRunForm):
    """A run on labeled templates that asks for classes in words."""

    prompts = checkbox_list(
        _("Prompts"),
        _(
            "Without any, the published one: zero-shot, or with examples few-shot. Several "
            "wordings of one kind show how much of a gap is the wording’s."
        ),
    )
    examples = WholeNumberField(
        label=_("Examples before each text"),
        initial=0,
        min_value=0,
        max_value=100,
        help_text=_(
            "Drawn with the seed of each repeat, as many of each class and the same for all "
            "models; 9 in the paper, 0 shows none."
        ),
    )
    examples_from = ChoiceField(label=_("Labeled texts for the examples"))

    stimuli_template = "admin/probing/run/choose_prompted.html"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        asking = Prompt.objects.filter(purpose=PromptPurpose.CLASSES)
        offer(self, "prompts", [(one.slug, prompt_label(one)) for one in asking])
        sets = LabeledTextSet.objects.all()
        offer(self, "examples_from", [(one.slug, f"{one} ({len(one.texts)})") for one in sets])
        self.fields["examples_from"].initial = DEFAULT_EXAMPLES


class LabeledTextRunForm(RunForm):
    """A run on a set of labeled texts."""

    texts = ChoiceField(
        label=_("Labeled texts"),
        help_text=_("Splits that the set does not name are drawn with the seed."),
    )

    stimuli_template = "admin/probing/run/choose_labeled_texts.html"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sets = LabeledTextSet.objects.all()
        offer(self, "texts", [(one.slug, f"{one} ({len(one.texts):,})") for one in sets])
