"""The encoder of BERTScore, by a registered model's name, a folder or a hub id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from annotation.common.lazy import pd
from evaluation.analyses.counterpart_scores import Similarity
from evaluation.metrics.bertscore import bert_similarity
from evaluation.reports.parts.document import Provenance
from evaluation.reports.parts.errors import ReportError
from probing.models import LanguageModel, ModelSource

NO_ENCODER = "BERTScore was not computed: no encoder was given."


def check_encoder(
    name: str | None, layer: int | None, *, idf: bool = False, rescaled: bool = False
) -> None:
    """Raise `ReportError` for an encoder that could never be used. One query."""
    if name is None:
        for given, what in ((layer is not None, "A layer"), (idf, "idf"), (rescaled, "Rescaling")):
            if given:
                raise ReportError(
                    f"{what} was given without an encoder. Name the encoder, or neither."
                )
        return
    model = LanguageModel.objects.filter(name=name).first()
    if model is not None and model.source == ModelSource.SERVER:
        raise ReportError(
            f"“{name}” is behind a server, which gives no embeddings. Name a model from the hub or "
            "a folder."
        )


def load_similarity(
    name: str, layer: int | None, *, idf: bool = False, rescaled: bool = False
) -> tuple[Similarity, dict[str, Any]]:
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
    baseline = find_baseline(location, encoder.layer) if rescaled else None
    record = {
        "name": name,
        "revision": encoder.revision,
        "layer": encoder.layer,
        "idf": idf,
        "baseline": list(baseline) if baseline else None,
    }
    return bert_similarity(encoder, idf=idf, baseline=baseline), record


def find_baseline(location: str, layer: int) -> tuple[float, float, float]:
    """Return (P, R, F) of unrelated English texts that bert-score measured for this encoder.

    Its tables are for models of the hub, by name; layer 0 is their embeddings.
    """
    import bert_score

    folder = Path(bert_score.__file__).parent / "rescale_baseline" / "en"
    path = folder / f"{location}.tsv"
    known = path.resolve().is_relative_to(folder.resolve()) and path.is_file()
    table = pd.read_csv(path, sep="\t" if "\t" in path.read_text() else ",") if known else None
    if table is None or layer not in set(table["LAYER"]):
        raise ReportError(
            f"bert-score has no baseline for “{location}”, layer {layer}, that scores could be "
            "rescaled by. Leave them as they are, or take an encoder such as "
            "microsoft/deberta-large-mnli."
        )
    row = table[table["LAYER"] == layer].iloc[0]
    return float(row["P"]), float(row["R"]), float(row["F"])


def encoder_lines(encoder: dict[str, Any] | None) -> list[Provenance]:
    """Return the encoder of a report's record, if any."""
    if encoder is None:
        return []
    return [("Encoder", f"{encoder['name']}, layer {encoder['layer']}", encoder["revision"])]
