"""The pages of a corpus, the upload that makes or extends one, and its downloads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.corpora.access import can_change_corpus, visible_corpora
from annotation.corpora.features import Feature, detect_features
from annotation.corpora.summary import (
    NAMES_OF_AAL,
    knows_features,
    list_sources,
    select_texts,
    summarize_corpus,
)
from annotation.exports.corpora import build_corpus_download
from annotation.models import Corpus, Split, Text
from annotation.researcher.pages.export_page import list_addresses
from annotation.researcher.pages.links import find_report_form
from annotation.researcher.pages.next_steps import find_corpus_steps
from annotation.researcher.pages.page import ResearcherPage

# --- What the pages of a corpus show

TEXTS_PER_PAGE = 50
NO_SOURCE = "-"  # in the address, for texts without a source

FEATURE_LABELS: dict[str, Any] = {
    "aint": gettext_lazy("ain’t"),
    "existential_it": gettext_lazy("existential it"),
    "negative_concord": gettext_lazy("negative concord"),
    "dropped_copula": gettext_lazy("dropped copula"),
    "determiner_leveling": gettext_lazy("determiner leveling"),
    "habitual_be": gettext_lazy("habitual be"),
    "completive_done": gettext_lazy("completive done"),
    "future_gone": gettext_lazy("future gone"),
    "remote_past_been": gettext_lazy("remote past been"),
}
# The sections of a data statement, in the order of Bender and Friedman (2018).
STATEMENT_SECTIONS: dict[str, Any] = {
    "curation_rationale": gettext_lazy("Curation rationale"),
    "language_variety": gettext_lazy("Language variety"),
    "speaker_demographics": gettext_lazy("Speaker demographics"),
    "annotator_demographics": gettext_lazy("Annotator demographics"),
    "speech_situation": gettext_lazy("Speech situation"),
    "text_characteristics": gettext_lazy("Text characteristics"),
}


@dataclass(frozen=True)
class TextLine:
    """A text as the list shows it: its body with features marked, their names, its pairs."""

    text: Text
    body: SafeString
    features: list[str]
    counterparts: list[str]


def overview_context(corpus: Corpus, user: User) -> dict[str, Any]:
    """Return the corpus’s page. Four queries at most, beside those for the rights of ``user``."""
    summary = summarize_corpus(corpus)
    has_pairs = summary.total.pairs_evaluation
    return {
        "corpus": corpus,
        "summary": summary,
        "total": summary.total,
        "n_source_texts": summary.total.evaluation + summary.total.training,
        "report_form": find_report_form(user, "dataset", corpus=corpus.pk) if has_pairs else "",
        "next_steps": find_corpus_steps(corpus, user, has_pairs=bool(has_pairs))
        if summary.lines
        else [],
        "features": [(FEATURE_LABELS[line.name], line) for line in summary.features],
        "statement": [(label, getattr(corpus, name)) for name, label in STATEMENT_SECTIONS.items()],
    }


def texts_context(corpus: Corpus, query: Any) -> dict[str, Any]:
    """Return a page of the corpus's texts; ``query`` is the address's. Four queries.

    Texts in the source variety are shown first, with their counterparts; the others on demand.
    """
    wanted = {
        name: query.get(name, "").replace("\x00", "").strip()
        for name in ("q", "source", "split", "variety")
    }
    is_filtered = any(wanted.values())
    source = wanted["source"] or None
    if "variety" not in query and corpus.texts.filter(variety=corpus.source_variety).exists():
        wanted["variety"] = corpus.source_variety
    found = select_texts(
        corpus,
        words=wanted["q"],
        source="" if source == NO_SOURCE else source,
        split=wanted["split"] if wanted["split"] in Split.values else "",
        variety=wanted["variety"],
    )
    page = Paginator(found, TEXTS_PER_PAGE).get_page(query.get("page"))
    kept = query.copy()
    kept.pop("page", None)
    return {
        "corpus": corpus,
        "wanted": wanted,
        "is_filtered": is_filtered,
        "page": page,
        "lines": [_describe_text(text, corpus) for text in page],
        "address": kept.urlencode(),
        "sources": [
            (name or NO_SOURCE, name or _("Without a source")) for name in list_sources(corpus)
        ],
        "splits": Split.choices,
        "varieties": (corpus.source_variety, corpus.target_variety),
        "knows_features": knows_features(corpus),
    }


def mark_features(body: str, features: Sequence[Feature]) -> SafeString:
    """Return ``body`` as HTML with every stretch that a feature covers marked."""
    parts: list[str] = []
    at = 0
    for start, end, names in _stretches(features):
        title = escape(", ".join(str(FEATURE_LABELS[name]) for name in names))
        parts.append(escape(body[at:start]))
        parts.append(f'<mark title="{title}">{escape(body[start:end])}</mark>')
        at = end
    parts.append(escape(body[at:]))
    return mark_safe("".join(parts))  # noqa: S308 # every part is escaped above


def _stretches(features: Sequence[Feature]) -> list[tuple[int, int, list[str]]]:
    """Join features that overlap, since a mark cannot begin within another."""
    joined: list[tuple[int, int, list[str]]] = []
    for feature in features:
        if joined and feature.start < joined[-1][1]:
            start, end, names = joined[-1]
            if feature.name not in names:
                names.append(feature.name)
            joined[-1] = (start, max(end, feature.end), names)
        else:
            joined.append((feature.start, feature.end, [feature.name]))
    return joined


def _describe_text(text: Text, corpus: Corpus) -> TextLine:
    known = text.variety.casefold() in NAMES_OF_AAL
    features = detect_features(text.body) if known else ()
    return TextLine(
        text=text,
        body=mark_features(text.body, features),
        features=list(dict.fromkeys(str(FEATURE_LABELS[found.name]) for found in features)),
        counterparts=[pair.target_text.body for pair in text.pairs_as_source.all()],
    )


# --- Pages

PROBLEMS_SHOWN = 500
CORPUS_TABLES = {
    "texts": (gettext_lazy("Texts"), gettext_lazy("One row for each text of any variety.")),
    "pairs": (
        gettext_lazy("Pairs"),
        gettext_lazy(
            "One row for each text with its counterpart. JSON lines hold the spans as well and can "
            "be imported again."
        ),
    ),
}


class CorpusPage(ResearcherPage):
    """A page of one corpus; it does not exist for those who may not see the corpus."""

    folder = "corpus"
    corpus: Corpus

    def visible_corpora(self) -> QuerySet[Corpus]:
        return visible_corpora(self.request.user)

    def prepare(self) -> None:
        self.corpus = get_object_or_404(self.visible_corpora(), pk=self.kwargs["pk"])

    @cached_property
    def may_change(self) -> bool:
        return can_change_corpus(self.request.user, self.corpus)

    @staticmethod
    def head(corpus: Corpus, tab: str) -> dict[str, Any]:
        """Return what the head of a corpus's pages shows, those with forms of the admin too."""
        tabs = (
            ("overview", _("Overview"), "overview"),
            ("texts", _("Texts"), "texts"),
            ("describe", _("Description and data statement"), "change"),
            ("history", _("History"), "history"),
        )
        return {
            "corpus": corpus,
            "tab": tab,
            "corpus_tabs": [
                (name, label, reverse(f"admin:annotation_corpus_{page}", args=[corpus.pk]))
                for name, label, page in tabs
            ],
        }

    def get_context_data(self) -> dict[str, Any]:
        return {
            **super().get_context_data(),
            **self.head(self.corpus, self.name),
            "opts": self.model_admin.opts,
            "title": self.corpus.name,
            "may_change": self.may_change,
        }


class CorpusOverview(CorpusPage):
    route = "<int:pk>/overview/"
    name = "overview"

    def visible_corpora(self) -> QuerySet[Corpus]:
        return super().visible_corpora().select_related("owner")

    def get_context_data(self) -> dict[str, Any]:
        return {
            **super().get_context_data(),
            **overview_context(self.corpus, self.user),
            "exports": [
                (title, content, list_addresses(name, "corpus", self.corpus.pk))
                for name, (title, content) in CORPUS_TABLES.items()
            ],
        }


class CorpusTexts(CorpusPage):
    route = "<int:pk>/texts/"
    name = "texts"

    def get_context_data(self) -> dict[str, Any]:
        return {**super().get_context_data(), **texts_context(self.corpus, self.request.GET)}


class CorpusExports(CorpusPage):
    route = "<int:pk>/export/<str:name>/"
    name = "export"

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        try:
            return build_corpus_download(self.corpus, kwargs["name"], bom="bom" in request.GET)
        except KeyError:
            raise Http404 from None
