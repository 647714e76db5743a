"""Noun and verb phrases of texts by a spaCy pipeline of the user's choice, loaded when needed.

A noun phrase is one of spaCy's noun chunks. A verb phrase (ours; the paper names no tool and no
definition) is a verb, or a copula with what it links to, from its first auxiliary, negation or
adverb after the subject up to the last word that depends on it, without punctuation at the end.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

Offsets = tuple[int, int]

_BEFORE_THE_VERB = frozenset({"aux", "auxpass", "aux:pass", "neg", "advmod", "cop"})
_SUBJECTS = ("nsubj", "csubj", "expl")


class PipelineError(Exception):
    """A spaCy pipeline that cannot be used; the message names it and says what to do."""


@lru_cache(maxsize=2)
def load_pipeline(name: str) -> Any:
    """Return the pipeline of that name or in that folder, loading it once a process.

    Raises :class:`PipelineError` where spaCy or the pipeline is missing, or has no parser.
    """
    try:
        import spacy
    except ImportError as error:
        raise PipelineError(
            "Phrases need spaCy, which is not installed here. Install it (pip install spacy), or "
            "import the phrases with the corpus."
        ) from error
    try:
        pipeline = spacy.load(name)
    except (OSError, ValueError) as error:
        raise PipelineError(
            f"There is no spaCy pipeline “{name}” on this machine. Expected an installed one, such "
            "as en_core_web_sm after “python -m spacy download en_core_web_sm”, or a folder."
        ) from error
    if not pipeline.has_pipe("parser"):
        parts = ", ".join(pipeline.pipe_names) or "nothing"
        raise PipelineError(
            f"The spaCy pipeline “{name}” has no parser (it has: {parts}), which phrases need."
        )
    if pipeline.vocab.get_noun_chunks is None:
        raise PipelineError(
            f"The spaCy pipeline “{name}” has no rule for noun phrases in its language "
            f"({pipeline.lang})."
        )
    return pipeline


def pipeline_title(pipeline: Any) -> str:
    """Return name and version of a pipeline and of spaCy, for the record of a run."""
    import spacy

    meta = pipeline.meta
    return f"{meta['lang']}_{meta['name']} {meta['version']} (spaCy {spacy.__version__})"


def find_phrases(pipeline: Any, text: str) -> dict[str, list[Offsets]]:
    """Return the offsets of all noun phrases and verb phrases of `text`.

    Raises :class:`PipelineError` where the pipeline does not say which words are verbs.
    """
    doc = pipeline(text)
    if not doc.has_annotation("POS"):
        raise PipelineError(
            f"The spaCy pipeline “{pipeline.meta['name']}” gives no parts of speech, which verb "
            "phrases need. Choose one with a tagger and an attribute ruler, or a morphologizer."
        )
    return {
        "noun_phrase": [(chunk.start_char, chunk.end_char) for chunk in doc.noun_chunks],
        "verb_phrase": [offsets for token in doc if (offsets := _verb_phrase(token))],
    }


def _verb_phrase(verb: Any) -> Offsets | None:
    """Return the phrase that `verb` heads; None where the token heads none."""
    copula = any(child.dep_ == "cop" for child in verb.children)
    if verb.dep_ in _BEFORE_THE_VERB or not (verb.pos_ in ("VERB", "AUX") or copula):
        return None
    subjects = [
        child.right_edge.i
        for child in verb.children
        if child.dep_.startswith(_SUBJECTS) and child.i < verb.i
    ]
    after_subject = max(subjects, default=-1)
    left = min(
        [
            child.left_edge.i
            for child in verb.children
            if child.dep_ in _BEFORE_THE_VERB and after_subject < child.left_edge.i < verb.i
        ],
        default=verb.i,
    )
    right = verb.right_edge.i
    while right > verb.i and verb.doc[right].is_punct:
        right -= 1
    phrase = verb.doc[left : right + 1]
    return phrase.start_char, phrase.end_char
