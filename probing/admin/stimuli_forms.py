"""What a run works on, as its form asks: groups in templates or sentences, or a corpus's texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.contrib.auth.models import User
from django.core.validators import FileExtensionValidator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import QueryDict
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminSelectWidget

from annotation.corpora.access import visible_corpora
from annotation.models import (
    Corpus,
    GroupSet,
    Instrument,
    SocialGroup,
    Split,
    Study,
    StudyGroup,
    StudyKind,
    TraitPair,
    TraitScale,
)
from annotation.researcher.pages.fields import ChoiceField, TextField, WholeNumberField
from probing.admin.probe_forms import (
    LabeledTextRunForm,
    ProbeRunForm,
    PromptedRunForm,
    checkbox_list,
    entries,
    most_pairs,
    offer,
    prompt_label,
)
from probing.admin.run_charts import source_label
from probing.admin.run_form import RunForm, Subject
from probing.measures.base import ResultKind
from probing.measures.guise_library import DEFAULT_ATTRIBUTES
from probing.measures.guise_stimuli import GuiseStimuli
from probing.measures.labeled_texts import LabeledTexts
from probing.measures.probe_stimuli import ProbeStimuli
from probing.measures.prompted_stimuli import PromptedStimuli
from probing.measures.rating_stimuli import RatingStimuli
from probing.measures.sentence_stimuli import SentenceStimuli
from probing.measures.stimuli import Stimuli
from probing.measures.text_measure import TextMeasure
from probing.measures.text_stimuli import TextStimuli
from probing.models import (
    GUISES,
    Prompt,
    PromptPurpose,
    Template,
    TemplateSet,
    WordList,
    WordPurpose,
)
from probing.runs.guise_stimuli import PUBLISHED
from probing.runs.rating_stimuli import asked_entries
from probing.runs.sentence_files import SUFFIXES, open_sentences
from probing.runs.stimuli import DEFAULT_GROUPS, DEFAULT_TEMPLATE_SET, DEFAULT_TRAITS
from probing.runs.stimuli_loading import StimuliChoice
from probing.runs.text_stimuli import pair_sources, text_sources

# A page waits for the whole file; larger ones are read by the command, which streams them.
LARGEST_MEGABYTES = 20
MOST_SOURCES = 20


class GroupFields(forms.Form):
    """Groups, by sets or one by one."""

    groups = checkbox_list(_("Groups"))
    single_groups = checkbox_list(_("Single groups"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sets = GroupSet.objects.annotate(number=Count("groups"))
        offer(self, "groups", entries(sets), DEFAULT_GROUPS)
        # Paired groups are chosen by their set, as there are thousands, or come with a study.
        single = Q(component_links=None) | Q(slug__in=self.initial.get("single_groups", ()))
        known = SocialGroup.objects.filter(single).distinct()
        offer(self, "single_groups", entries(known))


class TemplateFields(forms.Form):
    """Templates, by sets or one by one."""

    templates = checkbox_list(_("Templates"))
    single_templates = checkbox_list(_("Single templates"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sets = TemplateSet.objects.annotate(number=Count("templates"))
        offer(self, "templates", entries(sets), DEFAULT_TEMPLATE_SET)
        offer(self, "single_templates", entries(Template.objects.all()))


class TraitFields(forms.Form):
    """Trait pairs, one by one; ticked with the groups, both of one study or of the library.

    ``study`` of the initial values is the key of that study; without it, the sets of Cao et al.
    (2022) are ticked, whatever else there is in the library.
    """

    user: User
    traits = checkbox_list(_("Trait pairs"), _("Without any, the 16 of Cao et al. (2022)."))
    #: The study that groups and trait pairs are taken from.
    source: Study | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen = str(self.initial.get("study", ""))
        # No key of the database has more digits.
        key = int(chosen) if chosen.isdecimal() and len(chosen) <= 18 else 0
        instrument = self._list_instruments().filter(study=key)
        ticked = DEFAULT_TRAITS
        if (found := instrument.order_by("-version").first()) is not None:
            self.source = found.study
            ticked = tuple(found.scales.values_list("trait_pair__slug", flat=True))
            self.initial["groups"] = []
            self.initial["single_groups"] = list(found.groups.values_list("slug", flat=True))
        offer(self, "traits", entries(TraitPair.objects.all()), *ticked)

    def _list_instruments(self) -> QuerySet[Instrument]:
        studies = Study.objects.visible_to(self.user).filter(kind=StudyKind.ABC_SURVEY)
        parts = (
            part.objects.filter(instrument=OuterRef("pk")) for part in (TraitScale, StudyGroup)
        )
        return Instrument.objects.filter(*map(Exists, parts), study__in=studies).select_related(
            "study"
        )

    @property
    def known_studies(self) -> list[Study]:
        """The newest studies that groups and trait pairs can be taken from. One query."""
        keys = self._list_instruments().order_by().values("study")
        return list(Study.objects.filter(pk__in=keys).order_by("-pk")[:MOST_SOURCES])

    @property
    def traits_taken(self) -> str:
        """How many trait pairs the run takes, as in “16 of 17 pairs”; none ticked takes the 16."""
        total = len(self.fields["traits"].choices)  # type: ignore[attr-defined]
        return _("%(n)d of %(total)d pairs") % {
            "n": len(self["traits"].value() or DEFAULT_TRAITS),
            "total": total,
        }


class GroupRunForm(GroupFields, TraitFields, TemplateFields, RunForm):
    """A run on groups and traits in templates."""

    subject = Subject.GROUPS
    stimuli_template = "admin/probing/run/choose_groups.html"

    def choice(self, cleaned: dict[str, Any]) -> StimuliChoice:
        return StimuliChoice(
            groups=[*cleaned["groups"], *cleaned["single_groups"]],
            traits=cleaned["traits"] or None,
            templates=[*cleaned["templates"], *cleaned["single_templates"]],
        )

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        # A page shows what it takes; only programs may leave the choice to the defaults.
        if not self.errors and not [*cleaned["templates"], *cleaned["single_templates"]]:
            self.add_error("templates", _("No templates are chosen. Choose at least one."))
        return super().clean()


class CorpusRunForm(RunForm):
    """A run on texts of a corpus that the user may see, or of some of its sources."""

    corpus: Any = forms.ModelChoiceField(
        queryset=Corpus.objects.none(),
        label=_("Corpus"),
        empty_label=_("Choose a corpus"),
        widget=UnfoldAdminSelectWidget,
    )
    sources = checkbox_list(
        _("Sources"), _("Takes only pairs drawn from these; without any, all of them.")
    )

    #: The fields of the page's part, in their order.
    stimuli_names: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.corpora = visible_corpora(self.user).order_by("name")
        self.fields["corpus"].queryset = self.corpora  # type: ignore[attr-defined]

    def chosen_corpus(self) -> Corpus | None:
        """Return the corpus that was sent; before one is chosen, there are no sources to offer."""
        chosen = str(self.data.get("corpus", ""))
        return self.corpora.filter(pk=chosen).first() if chosen.isdecimal() else None

    @property
    def stimuli_fields(self) -> list[forms.BoundField]:
        """The fields of the page's part; sources only where there are some."""
        offered = bool(self.fields["sources"].choices)  # type: ignore[attr-defined]
        return [
            self[name]
            for name in self.stimuli_names
            if name in self.fields and (name != "sources" or offered)
        ]


def corpus_or(instead: Any, help_text: Any) -> forms.ModelChoiceField:
    """Return the field for a corpus that may be left out; `instead` is what is then read."""
    return forms.ModelChoiceField(
        queryset=Corpus.objects.none(),
        label=_("Corpus"),
        required=False,
        empty_label=instead,
        widget=UnfoldAdminSelectWidget,
        help_text=help_text,
    )


class SentenceRunForm(GroupFields, TraitFields, CorpusRunForm):
    """A run that reads groups in the sentences of a corpus or of a file."""

    corpus = corpus_or(
        _("none, a file of sentences"),
        _("Every line of its texts is a sentence. Texts of its training split are left out."),
    )
    variety = ChoiceField(
        label=_("Variety"),
        required=False,
        help_text=_(
            "A corpus of pairs says everything twice: choose one variety, so that no sentence "
            "counts again in other words."
        ),
    )
    sources = checkbox_list(
        _("Sources"), _("Takes only texts drawn from these; without any, all of them.")
    )
    sentences = forms.FileField(
        label=_("File of sentences"),
        required=False,
        allow_empty_file=True,  # the reader says what an empty file lacks
        validators=[FileExtensionValidator([suffix.removeprefix(".") for suffix in SUFFIXES])],
        widget=UnfoldAdminFileFieldWidget(attrs={"accept": ",".join(SUFFIXES)}),
        help_text=format_lazy(
            _(
                "Instead of a corpus: .txt with one sentence a line, .tsv or .csv with a column "
                "“sentence” or “text”, or .jsonl; UTF-8, up to {n} MB. The sentences that are "
                "drawn are kept with the run, and everyone who may see runs can read them. If that "
                "is not right, import a corpus."
            ),
            n=LARGEST_MEGABYTES,
        ),
    )

    subject = Subject.GROUPS
    stimuli_template = "admin/probing/run/choose_sentences.html"
    stimuli_names = ("corpus", "variety", "sources", "sentences")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = self.corpora.order_by().values_list("source_variety", "target_variety").distinct()
        varieties = sorted({name for pair in names for name in pair})
        offer(self, "variety", [("", _("all")), *((name, name) for name in varieties)])
        corpus = self.chosen_corpus()
        sources = text_sources(corpus) if corpus is not None else []
        offer(self, "sources", [(name, source_label(name, texts=n)) for name, n in sources])

    def clean_sentences(self) -> Any:
        file = self.cleaned_data["sentences"]
        if file and file.size > LARGEST_MEGABYTES * 2**20:
            raise forms.ValidationError(
                _(
                    "The file has %(size)d MB, expected %(n)d at most here. “manage.py probe "
                    "--sentences” reads larger ones."
                )
                % {"size": file.size // 2**20, "n": LARGEST_MEGABYTES}
            )
        return file

    def choice(self, cleaned: dict[str, Any]) -> StimuliChoice:
        file = cleaned["sentences"]
        return StimuliChoice.of(
            cleaned,
            groups=[*cleaned["groups"], *cleaned["single_groups"]],
            traits=cleaned["traits"] or None,
            sentences=open_sentences(file, file_name=file.name) if file else None,
        )


class GuiseRunForm(CorpusRunForm):
    """A run on the texts of a corpus, or on names of two groups, with attributes and prompts."""

    corpus = corpus_or(
        _("none, names of groups"),
        _(
            "Its source variety is the first guise, its target variety the second. Texts of its "
            "training split are left out."
        ),
    )
    limit = most_pairs()
    varieties = TextField(
        label=_("Varieties"),
        required=False,
        max_length=200,
        help_text=_(
            "Two of a corpus that has more, with a comma, the first guise first; compared as "
            "whole sets (matching: pooled)."
        ),
    )
    terms = TextField(
        label=_("Names instead of texts"),
        required=False,
        max_length=500,
        help_text=_(
            "For overt associations, without a corpus: names of two groups with a slash, several "
            "pairs with commas, such as “Black/White, black/white”."
        ),
    )
    attribute_list = ChoiceField(
        label=_("Attributes"),
        initial=DEFAULT_ATTRIBUTES,
        help_text=_("A word list of the library; its words end the prompts."),
    )
    prompts = checkbox_list(
        _("Prompts"),
        _(
            "Ticked are those that fit the attributes, or with names those that name a race. They "
            "follow the attributes until you tick others."
        ),
    )

    subject = Subject.SPEAKERS
    stimuli_template = "admin/probing/run/choose_guises.html"
    stimuli_names = (
        "corpus",
        "varieties",
        "sources",
        "limit",
        "terms",
        "attribute_list",
        "prompts",
    )
    #: A control called “attributes” would hide the attributes of the form itself from scripts.
    field_names: ClassVar[dict[str, str]] = {"attributes": "attribute_list"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        lists = WordList.objects.exclude(purpose=WordPurpose.LOOKUP)
        offer(
            self,
            "attribute_list",
            [(entry.slug, f"{entry.title} ({len(entry.words)})") for entry in lists],
        )
        self.fields["attribute_list"].initial = DEFAULT_ATTRIBUTES
        self._offer_prompts({entry.slug: entry.purpose for entry in lists})
        corpus = self.chosen_corpus()
        sources = pair_sources(corpus) if corpus is not None else []
        offer(self, "sources", [(name, source_label(name, pairs=n)) for name, n in sources])

    def _offer_prompts(self, purposes: Mapping[str, str]) -> None:
        """Offer each purpose as a whole, and its prompts; tick the one that the run will use.

        An untouched tick is no choice: it follows the attributes that were sent. One query.
        """
        self.prompts_of: dict[str, list[Prompt]] = {purpose.value: [] for purpose in GUISES}
        for prompt in Prompt.objects.filter(purpose__in=GUISES):
            self.prompts_of[prompt.purpose].append(prompt)
        usual = purposes.get(DEFAULT_ATTRIBUTES, "")
        whole = [(purpose.value, purpose.label) for purpose in GUISES]
        single = [(one.slug, one.text) for found in self.prompts_of.values() for one in found]
        offer(self, "prompts", [*whole, *single], usual)
        if isinstance(self.data, QueryDict) and self.data.getlist("prompts") in ([], [usual]):
            asked = purposes.get(self.data.get("attribute_list", ""), usual)
            self.data = self.data.copy()
            named = self.data.get("terms", "").strip()
            self.data.setlist("prompts", [PromptPurpose.OVERT if named else asked])

    @property
    def prompt_lines(self) -> list[dict[str, Any]]:
        """One line for each purpose: whether it is ticked as a whole, and its prompts."""
        ticked = set(self["prompts"].value() or ())
        return [
            {
                "value": purpose.value,
                "label": purpose.label,
                "ticked": purpose.value in ticked,
                "prompts": [(one.slug, one.text, one.slug in ticked) for one in found],
                "n": sum(one.slug in PUBLISHED for one in found) or len(found),
                "n_ticked": sum(one.slug in ticked for one in found),
            }
            for purpose in GUISES
            if (found := self.prompts_of[purpose.value])
        ]

    def choice(self, cleaned: dict[str, Any]) -> StimuliChoice:
        return StimuliChoice.of(
            cleaned,
            varieties=[one.strip() for one in cleaned["varieties"].split(",") if one.strip()],
            terms=[term.strip() for term in cleaned["terms"].split(",") if term.strip()],
            attributes=cleaned["attribute_list"],
        )


class TextRunForm(CorpusRunForm):
    """A run on the pairs of a corpus, with prompts where the measure asks in words."""

    limit = most_pairs()
    per_source = WholeNumberField(
        label=_("Most pairs of each source"),
        required=False,
        min_value=1,
        help_text=_("Instead of a number for all: so many are drawn from each source."),
    )
    prompts = checkbox_list(
        _("Prompts"),
        _(
            "Without any, the usual one for the kind of model: that of the paper for models that "
            "continue a text and for chat models, its instruction alone for all others."
        ),
    )
    examples = WholeNumberField(
        label=_("Examples before each text"),
        initial=0,
        required=False,
        min_value=0,
        max_value=100,
        help_text=_("Drawn from the training split with the seed; 0 shows none."),
    )

    subject = Subject.COUNTERPARTS
    stimuli_template = "admin/probing/run/choose_texts.html"
    stimuli_names = ("corpus", "sources", "limit", "per_source", "prompts", "examples")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        measure = self.measure
        trains = measure.result is ResultKind.TRAINED_MODEL
        self.fields["corpus"].help_text = (
            _("Only the pairs of its training split are taken.")
            if trains
            else _("Only the pairs to evaluate are taken, never those of its training split.")
        )
        corpus = self.chosen_corpus()
        split = Split.TRAINING if trains else Split.EVALUATION
        sources = pair_sources(corpus, split) if corpus is not None else []
        offer(self, "sources", [(name, source_label(name, pairs=n)) for name, n in sources])
        if isinstance(measure, TextMeasure) and measure.uses_prompts:
            asking = Prompt.objects.filter(purpose=PromptPurpose.COUNTERPARTS)
            labels = [(prompt.slug, prompt_label(prompt)) for prompt in asking]
            offer(self, "prompts", labels)
        else:
            del self.fields["prompts"]
        if not (isinstance(measure, TextMeasure) and measure.takes_examples):
            del self.fields["examples"]

    def choice(self, cleaned: dict[str, Any]) -> StimuliChoice:
        return StimuliChoice.of(cleaned, examples=cleaned.get("examples") or 0)


class RatingRunForm(RunForm):
    """A run that asks the question of a study that the user may see."""

    study: Any = forms.ModelChoiceField(
        queryset=Study.objects.none(),
        label=_("Study"),
        empty_label=_("Choose a study"),
        widget=UnfoldAdminSelectWidget,
        help_text=_("Its question, groups and scales are asked as people see them."),
    )
    groups = checkbox_list(_("Groups"), _("Without any, all of the study."))
    traits = checkbox_list(_("Trait scales"), _("Without any, all of the study."))

    subject = Subject.GROUPS
    stimuli_template = "admin/probing/run/choose_ratings.html"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["study"].queryset = self.studies = (  # type: ignore[attr-defined]
            Study.objects.visible_to(self.user).surveys().order_by("-created_at")
        )
        chosen = str(self.data.get("study", ""))
        study = self.studies.filter(pk=chosen).first() if chosen.isdecimal() else None
        for name, slugs in asked_entries(study).items():
            offer(self, name, slugs)

    @property
    def stimuli_fields(self) -> list[forms.BoundField]:
        """The fields of the page's part; groups and scales once there is a study."""
        offered: Any = self.fields
        return [
            self["study"],
            *(self[name] for name in ("groups", "traits") if offered[name].choices),
        ]

    def choice(self, cleaned: dict[str, Any]) -> StimuliChoice:
        return StimuliChoice.of(cleaned, traits=cleaned["traits"] or None)


#: A measure of another kind of stimuli needs a line here.
FORMS: dict[type, type[RunForm]] = {
    Stimuli: GroupRunForm,
    SentenceStimuli: SentenceRunForm,
    TextStimuli: TextRunForm,
    GuiseStimuli: GuiseRunForm,
    ProbeStimuli: ProbeRunForm,
    RatingStimuli: RatingRunForm,
    PromptedStimuli: PromptedRunForm,
    LabeledTexts: LabeledTextRunForm,
}
