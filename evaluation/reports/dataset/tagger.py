"""The spaCy pipeline that says what is an auxiliary or a preposition, where one is named."""

from __future__ import annotations

from typing import Any

from evaluation.reports.parts.errors import ReportError

NO_TAGGER = "closed lists of words say what is an auxiliary or a preposition"


def load_tagger(name: str) -> tuple[Any, str]:
    """Return the pipeline of that name or in that folder, and its title with versions.

    Raises `ReportError` where spaCy or the pipeline is missing, or tags no parts of speech.
    """
    try:
        import spacy
    except ImportError as error:
        raise ReportError(
            "A tagger needs spaCy, which is not installed here. Install it (pip install spacy), or "
            "leave the tagger out."
        ) from error
    try:
        pipeline = spacy.load(name)
    except (OSError, ValueError) as error:
        raise ReportError(
            f"There is no spaCy pipeline “{name}” on this machine. Expected an installed one, such "
            "as en_core_web_sm after “python -m spacy download en_core_web_sm”, or a folder."
        ) from error
    if not pipeline("He sleeps").has_annotation("POS"):
        raise ReportError(
            f"The spaCy pipeline “{name}” gives no parts of speech. Choose one with a tagger and "
            "an attribute ruler, or a morphologizer."
        )
    meta = pipeline.meta
    title = f"{meta['lang']}_{meta['name']} {meta['version']} (spaCy {spacy.__version__})"
    return pipeline, title
