"""The judgment report as a document.

Its tables and figures are those of Deas et al. (2023): Tables 7, 10 and 12 to 19, Figures 3 and 6.
"""

from __future__ import annotations

from typing import Any

from evaluation.analyses.judgment_analysis import HUMAN, JudgmentResult
from evaluation.models import Report
from evaluation.reports.cells import to_frame
from evaluation.reports.data_statement import read_statement
from evaluation.reports.direction_figures import gaps_figure, means_figure
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
)
from evaluation.reports.document import (
    Column,
    DataTable,
    Document,
    KeyNumber,
    Prose,
    Section,
    TableBuilder,
)
from evaluation.reports.formatting import count, interval, number
from evaluation.reports.judgments_agreement import (
    NAMES,
    agreement_data,
    agreement_section,
    measurement_of,
)
from evaluation.reports.kinds.options import NO_WORD_LIST
from evaluation.reports.provenance import (
    access_caveats,
    banners,
    closing_lines,
    corpus_lines_bare,
    study_lines,
    word_list_lines,
)

AXIS = "Mean rating, 1 to 5"


def lay_out_judgments(report: Report, result: JudgmentResult) -> Document:
    """Return the document of a report whose analysis is given."""
    record, stored = report.inputs, report.result or {}
    models = sorted(name for name in result.producers if name != HUMAN)
    view = DirectionsView(
        options=result.options,
        producers=(*((HUMAN,) if HUMAN in result.producers else ()), *models),
        metrics=NAMES,
        cells=result.cells,
        gaps=result.gaps,
        contrasts=result.contrasts,
        decimals=2,
    )
    return Document(
        title=report.title,
        question=(
            f"{count(result.n_judges, 'judge')} rated {count(result.n_items, 'counterpart')} of "
            f"{count(result.n_pairs, 'pair')} from 1 to 5, without knowing who wrote them. This "
            "report sets models beside people, and one direction beside the other."
        ),
        banners=banners(origin=record["study"]["origin"]),
        facts=(f"Study: {record['study']['title']}", f"Corpus: {record['corpus']['name']}"),
        keys=_keys(view, result),
        sections=tuple(_sections(view, result, stored, report.parameters["seed"])),
        tables=(
            *direction_tables(view, baseline=HUMAN),
            *agreement_data(result),
            DataTable("examples", "The texts that were drawn as examples", _example_frame(stored)),
        ),
        method=_method(view, result, record),
        caveats=_caveats(record, result),
        left_out=tuple(_left_out(record)),
        statement=read_statement(record["statement"]),
        provenance=(
            (
                *study_lines(
                    record["study"],
                    what=count(result.n_judgments, "judgment"),
                    digest=record["hashes"]["judgments"],
                ),
                *corpus_lines_bare(record["corpus"]),
                *(
                    (label, found["producer"], found["run"] and f"run {found['run']}")
                    for label, found in record["producers"].items()
                    if label != HUMAN
                ),
                *word_list_lines(record["word_list"]),
            ),
            closing_lines(report),
        ),
    )


def _sections(
    view: DirectionsView, result: JudgmentResult, stored: dict[str, Any], seed: int
) -> list[Section]:
    source, target = view.varieties
    n = resampled(view)
    found = [
        Section(
            "Ratings",
            (
                means_figure(
                    view,
                    caption=f"Mean ratings of counterparts in {source} (filled) and {target} "
                    f"(outlined). Intervals: {n}.",
                    axis=AXIS,
                ),
                means_table(view, caption="Mean ratings; judges of one counterpart count once."),
            ),
            why="Higher is better. People’s own counterparts are the baseline: no text asks for "
            "more.",
        ),
        Section(
            "The gap between the directions",
            (
                gaps_figure(
                    view,
                    caption=f"Rating of counterparts in {source} less that in {target}. "
                    f"Intervals: {n}; n is the number of pairs with both.",
                    axis=f"{source} − {target}",
                ),
                gap_table(
                    view,
                    caption=f"Gaps ({source} − {target}); p by {TESTS[view.options.test]}, Holm "
                    "over all gaps.",
                ),
            ),
        ),
    ]
    if view.contrasts:
        found.append(
            Section(
                "Against people",
                (
                    contrast_table(
                        view, caption="Every model less people; p as above, Holm over all."
                    ),
                ),
            )
        )
    if view.has_toxic_split:
        found.append(
            toxic_section(view, what="Gaps", table="Ratings and gaps in both kinds of texts.")
        )
    found.append(agreement_section(view, result))
    for name, heading, word in (
        ("above", "Examples: a model rated above people", "above"),
        ("below", "Examples: a model rated below people", "below"),
    ):
        found.append(_examples(stored[name], heading, word, stored[f"n_{name}"], seed))
    return found


def _keys(view: DirectionsView, result: JudgmentResult) -> tuple[KeyNumber, ...]:
    source, target = view.varieties
    found = [
        KeyNumber(
            "Judgments",
            str(result.n_judgments),
            "",
            (
                f"{count(result.n_items, 'counterpart')} of {count(result.n_pairs, 'pair')}",
                f"{count(result.n_judges, 'judge')}, {result.n_twice} judged twice or more",
            ),
        )
    ]
    for metric, label in (("linguistic_match", "Match"), ("meaning_preservation", "Meaning")):
        gaps = [g for p in view.producers if p != HUMAN and (g := view.gap(p, metric))]
        known = [g for g in gaps if not g.estimate.reason]
        if not known:
            continue
        low = min(known, key=lambda gap: gap.estimate.value).estimate.value
        high = max(known, key=lambda gap: gap.estimate.value).estimate.value
        value = number(low, signed=True)
        if value != number(high, signed=True):
            value = interval(low, high, signed=True)
        found.append(
            KeyNumber(
                f"{label}, {source} − {target}, of models",
                value,
                "",
                (f"{count(len(known), 'model')}; intervals below",),
            )
        )
    alphas = [row.alpha for row in result.agreement if not row.alpha.reason]
    found.append(
        KeyNumber(
            f"{measurement_of(result).capitalize()} α of judges",
            interval(min(a.value for a in alphas), max(a.value for a in alphas)) if alphas else "–",
            "",
            (f"over {count(len(alphas), 'aspect')}",)
            if alphas
            else (f"{str(result.agreement[0].alpha.reason).capitalize()}.",),
        )
    )
    return tuple(found)


def _examples(
    examples: list[dict[str, Any]], heading: str, word: str, n_eligible: int, seed: int
) -> Section:
    if not examples:
        line = f"No text was drawn; {count(n_eligible, 'text')} would fit."
        return Section(heading, (Prose((line,)),))
    blocks = []
    for example in examples:
        table = TableBuilder(
            f"{example['pair']}, rewritten in {example['variety']}. Original: "
            f"“{example['original']}”",
            "examples",
            (
                Column("Written by"),
                Column("Counterpart", wide=True),
                *(Column(name, number=True) for name in NAMES.values()),
            ),
        )
        for row in example["rows"]:
            ratings = (number(value, 1) for value in row["ratings"])
            table.add(producer_name(row["producer"]), row["body"], *ratings)
        blocks.append(table.build())
    return Section(
        heading,
        tuple(blocks),
        why=f"{count(len(examples), 'text')} drawn with seed {seed} from the {n_eligible} on which "
        f"the total of some model is {word} that of people.",
    )


def _example_frame(stored: dict[str, Any]) -> Any:
    rows = (
        {
            "drawn_from": name,
            "pair": example["pair"],
            "variety": example["variety"],
            "original": example["original"],
            "producer": row["producer"],
            "counterpart": row["body"],
        }
        | dict(zip(NAMES, row["ratings"], strict=True))
        for name in ("above", "below")
        for example in stored[name]
        for row in example["rows"]
    )
    columns = ("drawn_from", "pair", "variety", "original", "producer", "counterpart", *NAMES)
    return to_frame(rows, columns)


def _method(
    view: DirectionsView, result: JudgmentResult, record: dict[str, Any]
) -> tuple[str, ...]:
    options, words = result.options, record["word_list"]
    return (
        "Judges saw the original and one counterpart in random order, never who wrote it, and "
        "never a text that they had rewritten themselves. They rated human-likeness, how well the "
        "language matches the variety, meaning and tone, each from 1 to 5.",
        f"{record['study']['overlap_percent']:g} % of the counterparts went to two judges. Ratings "
        "of one counterpart are averaged first, so that it counts once.",
        f"{rests_on(view)} {intervals_and_tests(options)}",
        f"Agreement is Krippendorff’s {measurement_of(result)} alpha over the counterparts with "
        "two judges or more; ratings that are missing are left out.",
        f"Texts are split by whether the text in {options.source_variety} holds a word of "
        f"“{words['title']}”."
        if words
        else NO_WORD_LIST,
    )


def _caveats(record: dict[str, Any], result: JudgmentResult) -> tuple[str, ...]:
    found = [
        "Ratings are of these judges. Others, with other lives in the variety, may judge "
        "otherwise.",
        "A test treats ratings as independent numbers; ratings of one judge and one pair are not.",
        "“Human-likeness” asks judges to guess; it says how a text reads, not who wrote it.",
        "A mean hides disagreement: look at the agreement of judges before small differences.",
        NO_VERDICT,
    ]
    if result.n_judges < 3:
        found.append(f"Only {count(result.n_judges, 'judge')} took part.")
    return (*found, *access_caveats(record["corpus"]))


def _left_out(record: dict[str, Any]) -> list[str]:
    lines = []
    for entry in record["study"]["left_out"]:
        if isinstance(entry, dict):
            n, reason = entry.get("n", 0), entry.get("reason", "")
            lines.append(f"{count(int(n), 'pair')}: {reason}.")
        else:
            lines.append(str(entry))
    if n := record["study"].get("open"):
        lines.append(f"{count(n, 'judgment')}: assigned, but not given yet.")
    return lines
