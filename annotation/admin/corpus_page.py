"""What the pages of a corpus show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.admin.report_links import find_report_form
from annotation.corpora.features import Feature, detect_features
from annotation.corpora.summary import (
    NAMES_OF_AAL,
    CorpusSummary,
    FeatureLine,
    SourceLine,
    knows_features,
    list_sources,
    select_texts,
    summarise_corpus,
)
from annotation.models import Corpus, Split, Text

TEXTS_PER_PAGE = 50
MISSING = "–"
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
    """A text as the list shows it: its body with features marked, their names, its counterpart."""

    text: Text
    body: SafeString
    features: tuple[str, ...]
    counterpart: str


def overview_context(corpus: Corpus, user: User) -> dict[str, Any]:
    """Return the corpus’s page. Four queries at most, beside those for the rights of ``user``."""
    summary = summarise_corpus(corpus)
    total = summary.total
    return {
        "corpus": corpus,
        "has_texts": bool(summary.lines),
        "report_form": find_report_form(user, "dataset", corpus=corpus.pk)
        if total.pairs_evaluation
        else "",
        "keys": {
            "source_texts": _count(total.evaluation + total.training),
            "training": _count(total.training),
            "pairs_evaluation": _count(total.pairs_evaluation),
            "pairs_training": _count(total.pairs_training),
            "source_words": _mean(total.source_words),
            "target_words": _mean(total.target_words),
        },
        "source_rows": [(line.source, _source_cells(line)) for line in summary.lines],
        "total_cells": _source_cells(total),
        "feature_rows": [
            (FEATURE_LABELS[line.name], _feature_cells(line, summary)) for line in summary.features
        ],
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
        "n_found": _count(page.paginator.count),
        "lines": [_line(text, corpus) for text in page],
        "address": kept.urlencode(),
        "sources": [
            (name or NO_SOURCE, name or _("Without a source")) for name in list_sources(corpus)
        ],
        "splits": Split.choices,
        "varieties": (corpus.source_variety, corpus.target_variety),
        "knows_features": knows_features(corpus),
    }


def build_corpus_tabs(corpus: Corpus) -> list[tuple[str, str, str]]:
    """Return the tabs of a corpus's pages: name, label, address."""
    return [
        (name, label, reverse(f"admin:annotation_corpus_{page}", args=[corpus.pk]))
        for name, label, page in (
            ("overview", _("Overview"), "overview"),
            ("texts", _("Texts"), "texts"),
            ("describe", _("Description and data statement"), "change"),
            ("history", _("History"), "history"),
        )
    ]


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


def _line(text: Text, corpus: Corpus) -> TextLine:
    known = text.variety.casefold() in NAMES_OF_AAL
    features = detect_features(text.body) if known else ()
    pair = getattr(text, "pair", None)
    return TextLine(
        text=text,
        body=mark_features(text.body, features),
        features=tuple(dict.fromkeys(str(FEATURE_LABELS[found.name]) for found in features)),
        counterpart=pair.target_text.body if pair is not None else "",
    )


def _source_cells(line: SourceLine) -> list[str]:
    counts = (line.evaluation, line.training, line.pairs_evaluation, line.pairs_training)
    return [*map(_count, counts), _mean(line.source_words), _mean(line.target_words)]


def _feature_cells(line: FeatureLine, summary: CorpusSummary) -> list[str]:
    return [
        _count(line.source_uses),
        _count(line.source_texts),
        _rate(line.source_uses, summary.source_word_count),
        _count(line.target_uses),
        _count(line.target_texts),
        _rate(line.target_uses, summary.target_word_count),
    ]


def _count(number: int) -> str:
    return f"{number:,}"


def _mean(number: float | None) -> str:
    return MISSING if number is None else f"{number:.1f}"


def _rate(uses: int, words: int) -> str:
    return f"{1000 * uses / words:.1f}" if words else MISSING
