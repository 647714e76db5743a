"""The counterpart report as a document.

Its tables and figures are those of Deas et al. (2023): Tables 6, 8 and 9, Figures 2, 4, 5 and 8.
"""

from __future__ import annotations

from typing import Any

from evaluation.analyses.counterpart_metrics import CounterpartResult
from evaluation.analyses.counterpart_scores import HUMAN, REPEAT
from evaluation.models import Report
from evaluation.reports.counterparts_toxicity import (
    removed_tables,
    toxicity_by_source,
    toxicity_section,
)
from evaluation.reports.data_statement import read_statement
from evaluation.reports.direction_figures import (
    gaps_figure,
    means_figure,
    sources_figure,
)
from evaluation.reports.direction_words import (
    NO_VERDICT,
    intervals_and_tests,
    resampled,
    rests_on,
    toxic_section,
)
from evaluation.reports.directions import (
    TESTS,
    DirectionsView,
    contrast_table,
    direction_tables,
    gap_table,
    means_table,
    producer_name,
    source_table,
)
from evaluation.reports.document import Document, KeyNumber, Section
from evaluation.reports.examples import counterpart_examples, example_table
from evaluation.reports.formatting import count, interval, number, p_value
from evaluation.reports.kinds.encoders import NO_ENCODER
from evaluation.reports.kinds.options import NO_WORD_LIST
from evaluation.reports.missing import join_reasons
from evaluation.reports.provenance import (
    access_caveats,
    banners,
    closing_lines,
    corpus_lines_bare,
    run_lines,
    word_list_lines,
)
from evaluation.reports.run_settings import settings_data, settings_section

NAMES = {"rouge1": "Rouge-1", "rouge2": "Rouge-2", "rougeL": "Rouge-L", "bertscore": "BERTScore"}
LEAD = "rouge1"
AXIS = "Mean F, × 100"
POOLED = {
    "corpus": "of the sums over all texts",
    "mean": "as the mean over texts whose input has a hit",
}


def lay_out_counterparts(report: Report, result: CounterpartResult) -> Document:
    """Return the document of a report whose analysis is given."""
    record, stored = report.inputs, report.result or {}
    options = result.options.directions
    models = tuple(name for name in result.producers if name not in (HUMAN, REPEAT))
    view = DirectionsView(
        options=options,
        producers=(REPEAT, *models),
        metrics={name: NAMES[name] for name in result.metrics if name in NAMES},
        cells=result.cells,
        gaps=result.gaps,
        contrasts=result.contrasts,
        decimals=1,
    )
    return Document(
        title=report.title,
        question=(
            f"{count(len(models), 'model')} rewrote {count(result.n_pairs, 'pair')} of "
            f"{record['corpus']['name']} between {options.source_variety} and "
            f"{options.target_variety}. This report measures how close the results are to the gold "
            "texts, and whether one direction comes out better."
        ),
        banners=banners(record["runs"]),
        facts=(
            f"Corpus: {record['corpus']['name']}",
            *(f"Run {run['number']}: {run['label']}" for run in record["runs"]),
        ),
        keys=_keys(view, result),
        sections=tuple(_sections(view, result, stored, record["runs"], report.parameters["seed"])),
        tables=(
            *direction_tables(view, baseline=REPEAT),
            *(removed_tables(result) if result.removed else ()),
            example_table(stored["examples"]),
            settings_data(record["runs"]),
        ),
        method=_method(view, result, report),
        caveats=_caveats(record, result),
        left_out=_left_out(result),
        statement=read_statement(record["statement"]),
        provenance=(
            (
                *corpus_lines_bare(record["corpus"]),
                *run_lines(record["runs"], record["hashes"]),
                *word_list_lines(record["word_list"]),
                *_encoder_lines(stored["encoder"]),
            ),
            closing_lines(report),
        ),
    )


def _sections(
    view: DirectionsView,
    result: CounterpartResult,
    stored: dict[str, Any],
    runs: list[dict[str, Any]],
    seed: int,
) -> list[Section]:
    source, target = view.varieties
    n = resampled(view)
    found = [
        Section(
            "How close to the gold texts",
            (
                means_figure(
                    view,
                    caption=f"Mean scores; filled marks generate {source}, outlined ones {target}. "
                    f"“Repeat the input” gives back what it got. Intervals: {n}.",
                    axis=AXIS,
                    metrics=[m for m in view.metrics if m != "rouge2"],
                ),
                means_table(view, caption="Mean scores against the gold text, × 100."),
            ),
            why="A model that changes nothing already shares most words with the gold text: read "
            "every score beside the first row.",
        ),
        Section(
            "The gap between the directions",
            (
                gaps_figure(
                    view,
                    caption=f"Score for generating {source} less that for generating {target}. "
                    f"Intervals: {n}; n is the number of pairs with both.",
                    axis=f"{source} − {target}",
                    metrics=[m for m in view.metrics if m != "rouge2"],
                ),
                gap_table(
                    view,
                    caption=f"Gaps ({source} − {target}) over all texts; p by "
                    f"{TESTS[view.options.test]}, Holm over all gaps.",
                ),
            ),
            why=f"Below zero a model writes {target} closer to the gold text than {source}.",
        ),
        Section(
            "Against doing nothing",
            (
                contrast_table(
                    view, caption="Every model less “Repeat the input”; p as above, Holm over all."
                ),
            ),
        ),
    ]
    if result.removed:
        found.append(toxicity_section(view, result))
    if view.has_toxic_split:
        found.append(
            toxic_section(
                view,
                what="Rouge-1 gaps",
                table="Rouge-1 in both kinds of texts.",
                axis="Rouge-1, ",
                metrics=[LEAD],
            )
        )
    if view.sources:
        found.append(
            Section(
                "By source",
                (
                    sources_figure(
                        view,
                        caption=f"Rouge-1 gaps by source of the text. Intervals: {n} of all "
                        "sources.",
                        axis=f"Rouge-1, {source} − {target}",
                        metric=LEAD,
                    ),
                    source_table(view, caption="Rouge-1 by source.", metric=LEAD),
                ),
            )
        )
    if view.sources and result.removed and (toxic := toxicity_by_source(view, result)):
        found.append(toxic)
    found.append(
        counterpart_examples(stored["examples"], seed=seed, n_eligible=stored["n_eligible"])
    )
    found.append(settings_section(runs))
    return found


def _keys(view: DirectionsView, result: CounterpartResult) -> tuple[KeyNumber, ...]:
    gaps = [g for name in view.producers[1:] if (g := view.gap(name, LEAD)) is not None]
    found = [
        KeyNumber(
            f"Rouge-1 gap, {producer_name(gap.producer)}",
            number(gap.estimate.value, 1, signed=True),
            "",
            (
                f"{view.level} interval "
                f"{interval(gap.estimate.low, gap.estimate.high, 1, signed=True)}",
                f"{p_value(gap.p_corrected)}{'' if gap.test.reason else ' (Holm)'}, "
                f"{count(gap.estimate.n, 'pair')}",
            )
            if not gap.estimate.reason
            else (f"{gap.estimate.reason.capitalize()}.",),
        )
        for gap in gaps[:3]
    ]
    answered = sum(1 for _ in view.producers[1:])
    missing = sum(entry.n for entry in result.left_out if not entry.reason.startswith("no BERT"))
    found.append(
        KeyNumber(
            "Models",
            str(answered),
            "",
            (count(result.n_pairs, "pair"), f"{count(missing, 'text')} without a counterpart"),
        )
    )
    return tuple(found)


def _method(view: DirectionsView, result: CounterpartResult, report: Report) -> tuple[str, ...]:
    options, words = result.options.directions, report.inputs["word_list"]
    encoder = (report.result or {})["encoder"]
    stems = "Porter stems" if report.parameters["stemming"] else "without stemming"
    source, target = options.source_variety, options.target_variety
    return (
        f"Each model got the {target} text of a pair to make {source} of it, and the {source} text "
        f"to make {target}. The other text of the pair is the gold text. Prompts and settings "
        "stand under “How the models were asked”.",
        "Rouge is the F-measure of overlapping words (1), pairs of words (2) and the longest "
        f"common subsequence (L), lower-cased runs of a to z and digits, {stems}; means over "
        "texts, times 100. "
        + (
            f"BERTScore is the F of greedy matches of embeddings of {encoder['name']}, layer "
            f"{encoder['layer']}, {_weighed(encoder)}, padding kept out of it."
            if encoder
            else NO_ENCODER
        ),
        f"A gap is the mean for {source} less that for {target}. {rests_on(view)} "
        f"{intervals_and_tests(options)}",
        f"Toxicity T is the number of words of “{words['title']}” ({words['n_words']} entries) in "
        "a text. The share removed is (T of inputs − T of outputs) / T of inputs, "
        f"{POOLED[result.options.pooling]}. A pair belongs to the texts with a word of the list if "
        f"its text in {source} holds one."
        if words
        else NO_WORD_LIST,
    )


def _weighed(encoder: dict[str, Any]) -> str:
    weights = "tokens weighed by idf over the gold texts" if encoder.get("idf") else "without idf"
    baseline = encoder.get("baseline")
    if not baseline:
        return f"{weights}, not rescaled"
    return f"{weights}, rescaled by bert-score’s baseline F = {baseline[2]:g}"


def _caveats(record: dict[str, Any], result: CounterpartResult) -> tuple[str, ...]:
    found = [
        "A text has many good counterparts, and the gold text is one of them. A low score says "
        "that the words differ, not that the counterpart is wrong.",
        "Scores of the two directions compare only as far as the two varieties say the same in as "
        "many words; the dataset report shows that.",
        NO_VERDICT,
        "Gaps of several scores of one model are not independent findings: the scores overlap.",
    ]
    if record["word_list"]:
        found.append(
            "A hit says that a word of the list is there, not that the text is offensive: "
            "reclaimed words count like any other."
        )
    return (*found, *access_caveats(record["corpus"]))


def _left_out(result: CounterpartResult) -> tuple[str, ...]:
    entries = (((e.producer, e.variety), e.reason, e.n) for e in result.left_out)
    return tuple(
        f"{producer_name(producer)}, generating {variety}: {count(n, 'text')}, {reason}."
        for (producer, variety), reason, n in join_reasons(entries)
    )


def _encoder_lines(encoder: dict[str, Any] | None) -> list[tuple[str, str, str]]:
    if encoder is None:
        return []
    return [("Encoder", f"{encoder['name']}, layer {encoder['layer']}", encoder["revision"])]
