"""The encoder of BERTScore, by a registered model's name, a folder or a hub id."""

from __future__ import annotations

from typing import Any

from evaluation.analyses.counterpart_scores import Similarity
from evaluation.metrics.bertscore import bert_similarity
from evaluation.reports.errors import ReportError
from probing.models import LanguageModel, ModelSource

NO_ENCODER = "BERTScore was not computed: no encoder was given."


def check_encoder(name: str | None, layer: int | None) -> None:
    """Raise `ReportError` for an encoder that could never be used. One query."""
    if name is None:
        if layer is not None:
            raise ReportError("A layer was given without an encoder. Name the encoder, or neither.")
        return
    model = LanguageModel.objects.filter(name=name).first()
    if model is not None and model.source == ModelSource.SERVER:
        raise ReportError(
            f"“{name}” is behind a server, which gives no embeddings. Name a model from the hub or "
            "a folder."
        )


def load_similarity(name: str, layer: int | None) -> tuple[Similarity, dict[str, Any]]:
    """Return the F of BERTScore by that encoder, and which encoder it is; loads torch."""
    from probing.lm.errors import LanguageModelError
    from probing.lm.token_embeddings import load_token_encoder

    model = LanguageModel.objects.filter(name=name).first()
    location = model.location if model else name
    revision = model.revision or None if model else None
    try:
        encoder = load_token_encoder(location, layer=layer, revision=revision)
    except (LanguageModelError, OSError, ValueError) as error:
        raise ReportError(f"The encoder “{name}” cannot be used: {error}") from error
    record = {"name": name, "revision": encoder.revision, "layer": encoder.layer}
    return bert_similarity(encoder), record
