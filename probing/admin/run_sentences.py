"""The form of a run that reads groups in sentences: of a corpus, or of a file."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.validators import FileExtensionValidator
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminSelectWidget

from annotation.corpora.access import visible_corpora
from annotation.models import Corpus
from probing.admin.run_groups import GroupChoiceForm
from probing.admin.wording import source_label
from probing.runs.choosing import StimuliChoice
from probing.runs.sentence_files import SUFFIXES, open_sentences
from probing.runs.sentence_stimuli import text_sources

# A page waits for the whole file; larger ones are read by the command, which streams them.
LARGEST_MEGABYTES = 20


class SentenceRunForm(GroupChoiceForm):
    """Groups, and a corpus that the user may see or a file with sentences."""

    corpus = forms.ModelChoiceField(
        queryset=Corpus.objects.none(),
        label=_("Corpus"),
        required=False,
        empty_label=_("none, a file of sentences"),
        widget=UnfoldAdminSelectWidget,
        help_text=_(
            "Every line of its texts is a sentence. Texts of its training split are left out."
        ),
    )
    variety = forms.ChoiceField(
        label=_("Variety"),
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text=_(
            "A corpus of pairs says everything twice: choose one variety, so that no sentence "
            "counts again in other words."
        ),
    )
    sources = forms.MultipleChoiceField(
        label=_("Sources"),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=_("Takes only texts drawn from these; without any, all of them."),
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
                "drawn are kept with the run, and whoever may see runs can read them: import a "
                "corpus where that is not right."
            ),
            n=LARGEST_MEGABYTES,
        ),
    )

    stimuli_template = "admin/probing/run/choose_sentences.html"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        corpora = visible_corpora(self.user).order_by("name")
        self.fields["corpus"].queryset = corpora  # type: ignore[attr-defined]
        names = corpora.order_by().values_list("source_variety", "target_variety").distinct()
        varieties = sorted({name for pair in names for name in pair})
        self.fields["variety"].choices = [  # type: ignore[attr-defined]
            ("", _("all")),
            *((name, name) for name in varieties),
        ]
        chosen = str(self.data.get("corpus", ""))
        corpus = corpora.filter(pk=chosen).first() if chosen.isdecimal() else None
        sources = text_sources(corpus) if corpus is not None else []
        self.fields["sources"].choices = [  # type: ignore[attr-defined]
            (name, source_label(name, texts=n)) for name, n in sources
        ]

    @property
    def stimuli_fields(self) -> list[forms.BoundField]:
        """The fields of the page's part, in their order; sources only where there are some."""
        offered = bool(self.fields["sources"].choices)  # type: ignore[attr-defined]
        names = ("corpus", "variety", *(("sources",) if offered else ()), "sentences")
        return [self[name] for name in names]

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
        return StimuliChoice(
            groups=self.chosen_groups(cleaned),
            traits=self.chosen_traits(cleaned),
            corpus=cleaned["corpus"],
            variety=cleaned["variety"],
            sources=cleaned["sources"],
            sentences=open_sentences(file, file_name=file.name) if file else None,
        )
