"""The pages of a corpus, the upload that makes or extends one, and its downloads."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.corpora.access import can_change_corpus, visible_corpora
from annotation.exports.corpora import build_corpus_download
from annotation.models import Corpus
from annotation.researcher.corpora.overview import overview_context, texts_context
from annotation.researcher.pages.export_page import list_addresses
from annotation.researcher.pages.page import ResearcherPage

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
