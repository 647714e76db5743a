"""Runs on labelled templates, as their forms ask: for classifiers, and with prompts."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.researcher.pages.fields import ChoiceField, WholeNumberField
from probing.admin.run_form import RunForm
from probing.admin.stimuli_fields import entries, offer, prompt_label, tick_boxes
from probing.measures.lexicon_library import DEFAULT_LEXICONS, TEMPLATE_SET
from probing.models import GroupLexicon, LabelledTemplateSet, LabelledTextSet, Prompt, PromptPurpose
from probing.runs.prompted_stimuli import DEFAULT_EXAMPLES


class ProbeRunForm(RunForm):
    """A run on labelled templates with the words of lexicons."""

    templates = tick_boxes(_("Labelled templates"))
    groups = tick_boxes(
        _("Lexicons of groups"),
        _(
            "The words of every lexicon fill every template. Placebo adjectives show how far gaps "
            "spread where no group is named; “no mention” leaves the word out."
        ),
    )

    stimuli_template = "admin/probing/run/choose_probes.html"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "templates", entries(LabelledTemplateSet.objects.all()), TEMPLATE_SET[0])
        offer(self, "groups", entries(GroupLexicon.objects.all()), *DEFAULT_LEXICONS)


class PromptedRunForm(ProbeRunForm):
    """A run on labelled templates that asks for classes in words."""

    prompts = tick_boxes(
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
    examples_from = ChoiceField(label=_("Labelled texts for the examples"))

    stimuli_template = "admin/probing/run/choose_prompted.html"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        asking = Prompt.objects.filter(purpose=PromptPurpose.CLASSES)
        offer(self, "prompts", [(one.slug, prompt_label(one)) for one in asking])
        sets = LabelledTextSet.objects.all()
        offer(self, "examples_from", [(one.slug, f"{one} ({len(one.texts)})") for one in sets])
        self.fields["examples_from"].initial = DEFAULT_EXAMPLES


class LabelledTextRunForm(RunForm):
    """A run on a set of labelled texts."""

    texts = ChoiceField(
        label=_("Labelled texts"),
        help_text=_("Splits that the set does not name are drawn with the seed."),
    )

    stimuli_template = "admin/probing/run/choose_labelled_texts.html"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sets = LabelledTextSet.objects.all()
        offer(self, "texts", [(one.slug, f"{one} ({len(one.texts):,})") for one in sets])
