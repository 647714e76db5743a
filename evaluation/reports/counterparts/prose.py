"""The words of the counterpart report."""

from __future__ import annotations

from typing import Any

from evaluation.analyses.counterpart_metrics import CounterpartResult
from evaluation.models import Report
from evaluation.reports.counterparts.encoder import NO_ENCODER
from evaluation.reports.parts.directions import NAMES, NO_VERDICT, Directions
from evaluation.reports.parts.features import CAVEAT, Features
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.missing import join_reasons
from evaluation.reports.parts.options import HITS_CAVEAT, NO_WORD_LIST, rouge_words

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "… gap, …": (
        "How much closer the producer comes to people’s counterparts in one direction than in "
        "the other. 0 would be equally close in both; the sign says which direction is "
        "better, as the figure’s axis does."
    ),
    "Models": (
        "How many models are compared on these pairs. Texts without a counterpart are left "
        "out of their means, and counted."
    ),
}


POOLED = {
    "corpus": "of the sums over all texts",
    "mean": "as the mean over texts whose input has a hit",
}
AGAINST_GOLD = (
    "The change against the gold counterparts is (T of outputs − T of gold counterparts) / T of "
    "gold counterparts, pooled alike. "
)
WHY_MEANS = (
    "A model that changes nothing already shares most words with the gold text: read every score "
    "beside the first row."
)
WHY_REMOVED = (
    "Hits of the input less hits of the output, as a share of the hits of the input. People stand "
    "for the gold texts."
)
WHY_REMOVED_BY_SOURCE = (
    "Inputs against outputs. Figure 8 of Deas et al. (2023) sets outputs against the gold "
    "counterparts, which is another quantity."
)
WHY_AGAINST_GOLD = (
    "Outputs against the counterparts that annotators wrote of the same texts, as in Figure 8 of "
    "Deas et al. (2023). A model can keep every hit of its input and still hold more, or fewer, "
    "than people wrote."
)


def question(view: Directions, record: dict[str, Any]) -> str:
    source, target = view.varieties
    return (
        f"{count(len(view.producers) - 1, 'model')} rewrote {count(view.result.n_pairs, 'pair')} "
        f"of {record['corpus']['name']} between {source} and {target}. This report measures how "
        "close the results are to the gold texts, and whether one direction comes out better."
    )


def why_gaps(view: Directions) -> str:
    source, target = view.varieties
    return f"Below zero a model writes {target} closer to the gold text than {source}."


def method(
    view: Directions, result: CounterpartResult, features: Features | None, report: Report
) -> tuple[str, ...]:
    words, encoder = report.inputs["word_list"], (report.result or {})["encoder"]
    stems = "Porter stems" if report.parameters["stemming"] else "without stemming"
    source, target = view.varieties
    similarity = NO_ENCODER
    if encoder:
        similarity = (
            f"BERTScore is the F of greedy matches of embeddings of {encoder['name']}, layer "
            f"{encoder['layer']}, {_weighed(encoder)}, padding kept out of it."
        )
    toxicity = NO_WORD_LIST
    if words:
        gold = AGAINST_GOLD if result.against_gold else ""
        toxicity = (
            f"Toxicity T is the number of words of “{words['title']}” ({words['n_words']} entries) "
            "in a text. The share removed is (T of inputs − T of outputs) / T of inputs, "
            f"{POOLED[result.options.pooling]}. {gold}A pair belongs to the texts with a word of "
            f"the list if its text in {source} holds one."
        )
    return (
        f"Each model got the {target} text of a pair to make {source} of it, and the {source} text "
        f"to make {target}. The other text of the pair is the gold text. Prompts and settings "
        "stand under “How the models were asked”.",
        "Rouge is the F-measure of overlapping words (1), pairs of words (2) and the longest "
        f"common subsequence (L), lower-cased {rouge_words(report.parameters)}, {stems}; means "
        f"over texts, times 100. {similarity}",
        f"A gap is the mean for {source} less that for {target}. {view.method}",
        toxicity,
        *((features.method,) if features else ()),
    )


def _weighed(encoder: dict[str, Any]) -> str:
    weights = "tokens weighed by idf over the gold texts" if encoder.get("idf") else "without idf"
    baseline = encoder.get("baseline")
    if not baseline:
        return f"{weights}, not rescaled"
    return f"{weights}, rescaled by bert-score’s baseline F = {baseline[2]:g}"


def caveats(record: dict[str, Any], features: Features | None) -> tuple[str, ...]:
    found = [
        "A text has many good counterparts, and the gold text is one of them. A low score says "
        "that the words differ, not that the counterpart is wrong.",
        "Scores of the two directions compare only as far as the two varieties say the same in as "
        "many words; the dataset report shows that.",
        NO_VERDICT,
        "Gaps of several scores of one model are not independent findings: the scores overlap.",
    ]
    if features:
        found.append(CAVEAT)
    if record["word_list"]:
        found.append(HITS_CAVEAT)
    return tuple(found)


def left_out(result: CounterpartResult) -> tuple[str, ...]:
    entries = (((e.producer, e.variety), e.reason, e.n) for e in result.left_out)
    return tuple(
        f"{NAMES.get(producer, producer)}, generating {variety}: {count(n, 'text')}, {reason}."
        for (producer, variety), reason, n in join_reasons(entries)
    )
