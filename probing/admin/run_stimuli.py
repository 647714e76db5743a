"""What a run works on, as its form asks: groups in templates or sentences, or a corpus's texts."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import Count
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget

from annotation.corpora.access import visible_corpora
from annotation.models import Corpus, Split
from probing.admin.run_form import RunForm
from probing.admin.run_groups import GroupChoiceForm
from probing.admin.run_sentences import SentenceRunForm
from probing.admin.wording import source_label
from probing.measures.base import AnyMeasure, ResultKind
from probing.measures.sentence_stimuli import SentenceStimuli
from probing.measures.stimuli import Stimuli
from probing.measures.text_measure import TextMeasure
from probing.measures.text_stimuli import TextStimuli
from probing.models import Prompt, Template, TemplateSet
from probing.runs.choosing import StimuliChoice
from probing.runs.defaults import DEFAULT_TEMPLATE_SET
from probing.runs.text_stimuli import pair_sources


class GroupRunForm(GroupChoiceForm):
    """Groups and templates, by sets or one by one."""

    templates = forms.MultipleChoiceField(
        label=_("Templates"), widget=forms.CheckboxSelectMultiple, required=False
    )
    single_templates = forms.MultipleChoiceField(
        label=_("Single templates"), widget=forms.CheckboxSelectMultiple, required=False
    )

    stimuli_template = "admin/probing/run/choose_groups.html"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer(
            "templates",
            TemplateSet.objects.annotate(number=Count("templates")),
            DEFAULT_TEMPLATE_SET,
        )
        self.offer("single_templates", Template.objects.all())

    def choice(self, cleaned: dict[str, Any]) -> StimuliChoice:
        return StimuliChoice(
            groups=self.chosen_groups(cleaned),
            traits=self.chosen_traits(cleaned),
            templates=[*cleaned["templates"], *cleaned["single_templates"]],
        )

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        # A page shows what it takes; only programs may leave the choice to the defaults.
        if not self.errors and not [*cleaned["templates"], *cleaned["single_templates"]]:
            self.add_error("templates", _("No templates are chosen, expected at least one."))
        return super().clean()


class TextRunForm(RunForm):
    """A corpus that the user may see, with prompts where the measure asks in words."""

    corpus = forms.ModelChoiceField(
        queryset=Corpus.objects.none(), label=_("Corpus"), widget=UnfoldAdminSelectWidget
    )
    sources = forms.MultipleChoiceField(
        label=_("Sources"),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=_("Takes only pairs drawn from these; without any, all of them."),
    )
    limit = forms.IntegerField(
        label=_("At most so many pairs"),
        required=False,
        min_value=1,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=_("Drawn with the seed, in the order of the corpus. Empty takes all."),
    )
    prompts = forms.MultipleChoiceField(
        label=_("Prompts"),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=_(
            "Without any, the usual one for the kind of model: that of the paper for models that "
            "go on writing and for chat models, its instruction alone for all others."
        ),
    )
    examples = forms.IntegerField(
        label=_("Examples before each text"),
        initial=0,
        required=False,
        min_value=0,
        max_value=100,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=_("Drawn from the training split with the seed; 0 shows none."),
    )

    stimuli_template = "admin/probing/run/choose_texts.html"

    def __init__(
        self, data: Any = None, files: Any = None, *, measure: AnyMeasure, user: User
    ) -> None:
        super().__init__(data, files, measure=measure, user=user)
        worded = isinstance(measure, TextMeasure) and measure.uses_prompts
        shows_examples = isinstance(measure, TextMeasure) and measure.takes_examples
        trains = measure.result is ResultKind.TRAINED_MODEL
        self.split = Split.TRAINING if trains else Split.EVALUATION
        corpora = self.fields["corpus"]
        corpora.queryset = visible_corpora(user).order_by("name")  # type: ignore[attr-defined]
        corpora.help_text = (
            _("Only the pairs of its training split are taken.")
            if trains
            else _("Only the pairs to evaluate are taken, never those of its training split.")
        )
        self._offer_sources()
        if worded:
            self.fields["prompts"].choices = [  # type: ignore[attr-defined]
                (prompt.slug, _prompt_label(prompt)) for prompt in Prompt.objects.all()
            ]
        else:
            del self.fields["prompts"]
        if not shows_examples:
            del self.fields["examples"]

    def _offer_sources(self) -> None:
        """Offer the sources of the chosen corpus; before one is chosen, there are none."""
        field = self.fields["sources"]
        corpora = self.fields["corpus"].queryset  # type: ignore[attr-defined]
        chosen = str(self.data.get("corpus", ""))
        corpus = corpora.filter(pk=chosen).first() if chosen.isdecimal() else None
        found = pair_sources(corpus, self.split) if corpus is not None else []
        field.choices = [(name, source_label(name, pairs=n)) for name, n in found]  # type: ignore[attr-defined]

    @property
    def stimuli_fields(self) -> list[forms.BoundField]:
        """The fields of the page's part, in their order; sources only where there are some."""
        names = ("corpus", "sources", "limit", "prompts", "examples")
        offered = bool(self.fields["sources"].choices)  # type: ignore[attr-defined]
        return [
            self[name] for name in names if name in self.fields and (name != "sources" or offered)
        ]

    def choice(self, cleaned: dict[str, Any]) -> StimuliChoice:
        return StimuliChoice(
            corpus=cleaned["corpus"],
            prompts=cleaned.get("prompts", ()),
            sources=cleaned["sources"],
            limit=cleaned["limit"],
            examples=cleaned.get("examples") or 0,
        )


#: A measure of another kind of stimuli needs a line here.
FORMS: dict[type, type[RunForm]] = {
    Stimuli: GroupRunForm,
    SentenceStimuli: SentenceRunForm,
    TextStimuli: TextRunForm,
}


def _prompt_label(prompt: Prompt) -> str:
    names = " / ".join(str(name) for name in prompt.variety_names.values())
    text = " ".join(prompt.text.split())
    return f"{prompt.slug}: {text}{f' ({names})' if names else ''}"
