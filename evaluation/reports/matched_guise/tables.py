"""The tables of the matched guise report: Fig. 2 and Extended Data of Hofmann et al. (2024)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.analyses.guise_association import TOP, GuiseAnalysis
from evaluation.reports.parts.document import Block, KeyNumber
from evaluation.reports.parts.formatting import number
from evaluation.reports.parts.guise_tables import crossed_table, p_columns
from evaluation.reports.parts.table import Column, ReportTable, beside, pivot

#: Models whose full ranking is drawn, and how many attributes of either end.
DRAWN, ENDS = 6, 10
MODEL = (Column("Model", "model"), Column("Probe", "probe"))


def model_of(row: Any) -> str:
    return f"{row.model}, {row.probe}"


class GuiseTables:
    """Every table of the report, and what is shown of each."""

    def __init__(
        self,
        result: GuiseAnalysis,
        names: Mapping[str, str],
        wordings: Mapping[str, str],
        level: str,
    ) -> None:
        """`names` of the norms and `wordings` of the prompts by slug."""
        self.result = result
        self.tops = tops_table(result)
        self.agreement = agreement_table(result, names, level)
        self.favourability = favourability_table(result, level)
        self.scores = score_table(result, level)
        self.prompts = prompt_table(result, wordings)
        self.left_out = left_out_table(result, wordings)
        self.variance = variance_table(result)
        self.crossed = crossed_table(result.crossed, level, name="Attribute or δ")
        self.variation = variation_table(result, names, wordings)
        self.nulls = null_table(result, level)

    @property
    def downloads(self) -> tuple[ReportTable, ...]:
        return (
            self.tops,
            self.agreement,
            self.favourability,
            self.scores,
            self.prompts,
            self.left_out,
            self.variance,
            *(table for table in (self.crossed, self.variation, self.nulls) if table.rows),
        )

    def keys(self) -> tuple[KeyNumber, ...]:
        covert = [row for row in self.agreement.rows if row.estimate.is_defined][:4]
        study = self.agreement.column("study_title").read
        return tuple(
            self.agreement.key(
                "map",
                row,
                f"{number(row.chance, 3)} by chance",
                label=f"Agreement, {model_of(row)}, {study(row)}",
            )
            for row in covert
        )

    def top_blocks(self) -> tuple[Block, ...]:
        first = self.result.tops[:1]
        ranks = range(1, 1 + max((row.rank for row in self.result.tops), default=0))
        if not first:
            return ()
        columns = (
            Column("Source", value=lambda row: row.first.title),
            Column("", value=lambda row: _source(row.first)),
            *(
                Column(
                    str(rank), value=beside(rank, _top_cell), style="strong" if rank == 1 else ""
                )
                for rank in ranks
            ),
        )
        rows = pivot(self.result.tops, lambda row: (row.source, row.title), "rank")
        return (
            self.tops.printed(
                "The first five attributes of every study and model: per cent of people who named "
                "them, or q.",
                rows=rows,
                columns=columns,
            ),
        )

    def agreement_blocks(self) -> tuple[Block, ...]:
        if not self.agreement.rows:
            return ()
        return (
            self.agreement.figure(
                "agreement",
                "Agreement of every model’s ranking with every study: mean average precision over "
                f"prompts, with {self.agreement.level} intervals over texts and prompts. The line "
                f"is chance, {number(self.result.chance, 3)}.",
                "map",
                label="study_title",
                panel=model_of,
                tone=lambda row: "model" if row.probe == "covert" else "ink",
                reference=self.result.chance,
                axis="mean average precision",
                n="prompts",
            ),
            self.agreement.printed(
                "Agreement with people. p (t) is the paper’s test, p (permutation) exchanges the "
                "attributes alike in all prompts; both after Holm’s correction over the tests of "
                "one probe. Least and most: one prompt left out."
            ),
        )

    def favourability_blocks(self) -> tuple[Block, ...]:
        if not self.favourability.rows:
            return ()
        return (
            self.favourability.figure(
                "favourability",
                "Mean favourability of the first five attributes, −2 to 2, with "
                f"{self.favourability.level} intervals over texts and prompts for models.",
                "unweighted",
                label=lambda row: f"{row.title}{_probe(row)}",
                tone=lambda row: "model" if row.source in ("covert", "overt") else "human",
                title="Favourability of the first five",
                axis="favourability",
                n="attributes",
                left="← unfavourable",
                right="favourable →",
            ),
            self.favourability.printed(
                "Favourability of the first five attributes, plain and weighted by percentage or q."
            ),
        )

    def score_blocks(self) -> tuple[Block, ...]:
        shown = self.result.models[:DRAWN]
        drawn, printed = [], []
        for model, probe in shown:
            rows = sorted(
                (row for row in self.scores.rows if (row.model, row.probe) == (model, probe)),
                key=lambda row: (row.rank is None, row.rank or 0),
            )
            ends = [*rows[:ENDS], *rows[ENDS:][-ENDS:]]
            drawn += [row for row in ends if row.rank is not None]
            printed += rows
        return (
            self.scores.figure(
                "scores",
                f"Attributes at both ends of every ranking; {self.scores.level} intervals.",
                "q",
                label="attribute",
                rows=drawn,
                panel=model_of,
                axis="q, log ratio",
                n="prompts",
                left="← second variety",
                right="first variety →",
            ),
            self.scores.printed("Association scores, the highest first.", rows=printed),
            *self.nulls.printed_if_any(
                "What chance gives, beside which agreement is read: random rankings."
            ),
        )

    def sensitivity_blocks(self) -> tuple[Block, ...]:
        ends = {
            (row.model, row.probe, row.attribute)
            for row in self.scores.rows
            if row.rank and min(row.rank, 1 + self.result.n_attributes - row.rank) <= TOP
        }
        return (
            self.variance.printed(
                "What q varies with: shares of its variance over prompts and attributes."
            ),
            *self.crossed.printed_if_any(
                f"The first and last {TOP} attributes, and δ, with what single values vary with; "
                "the download has every attribute.",
                rows=[
                    row
                    for row in self.crossed.rows
                    if row.name.startswith("δ") or (row.model, row.part, row.name) in ends
                ],
            ),
            *self.left_out.printed_if_any(
                "What stays when one prompt is left out: how many of the first five, τ between "
                "both rankings, and the largest change of q."
            ),
        )

    def variation_blocks(self) -> tuple[Block, ...]:
        rows = self.variation.rows
        if not rows:
            return ()
        by_prompt = [row for row in rows if row.factor in ("all", "prompt")]
        others = [row for row in rows if row.factor in ("all", "version", "setting")]
        found: list[Block] = []
        for name, what, some in (
            ("versions", "version and setting", others),
            ("wordings", "prompt", by_prompt),
        ):
            if any(row.factor != "all" for row in some):
                found.append(
                    self.variation.figure(
                        name,
                        f"Agreement with people by {what}; bars are one standard error over "
                        "versions, settings and prompts, whose number is n. The line is chance.",
                        "agreement",
                        label=lambda row: self.variation.column("level_name").read(row) or "all",
                        rows=some,
                        panel=lambda row: (
                            f"{model_of(row)}: {self.variation.column('study_title').read(row)}"
                        ),
                        bold=lambda row: row.factor == "all",
                        reference=self.result.chance,
                        title=f"Agreement by {what}",
                        axis="mean average precision",
                        n="cells",
                    )
                )
        overall = [row for row in rows if row.factor == "all"]
        return (
            *found,
            self.variation.printed(
                "Agreement and strength over all versions, settings and prompts, with one "
                "standard error; the download has every version, setting and prompt.",
                rows=overall,
                columns=("Model", "Probe", "study_title", "agreement", "strength", "n"),
            ),
        )


def variation_table(
    result: GuiseAnalysis, names: Mapping[str, str], wordings: Mapping[str, str]
) -> ReportTable:
    return ReportTable.of(
        "variation",
        "Agreement and strength by version, setting and prompt",
        result.variations,
        *MODEL,
        Column("", "study", meaning="slug of the norm"),
        Column("Study", "study_title", lambda row: names.get(row.study, row.study)),
        Column("", "factor", meaning="what is held: version, setting, prompt, or all"),
        Column("", "level", meaning="which of them; slug of a prompt"),
        Column("Held", "level_name", lambda row: wordings.get(row.level, row.level)),
        Column.estimate("MAP", "agreement", decimals=3, style="strong"),
        Column.estimate("δ", "strength", decimals=3, prefix="strength_"),
        Column("Cells", "n", "agreement.n", 0, meaning="versions × settings × prompts"),
        level="standard error",
    )


def null_table(result: GuiseAnalysis, level: str) -> ReportTable:
    return ReportTable.of(
        "nulls",
        "What chance gives",
        result.nulls,
        Column("Model", "model", lambda row: row.model or "any"),
        Column("Probe", "probe", lambda row: row.probe or "any"),
        Column("Quantity", "quantity"),
        Column("Mean", "mean", decimals=4, signed=True),
        Column("sd", "sd", decimals=4),
        Column(f"{level} from", "low", decimals=4, signed=True),
        Column("to", "high", decimals=4, signed=True),
        Column("Draws", "n", decimals=0),
    )


def tops_table(result: GuiseAnalysis) -> ReportTable:
    return ReportTable.of(
        "tops",
        "The first five of every study and model",
        result.tops,
        Column("", "source", meaning="slug of a study, or covert or overt for a model"),
        Column("Source", "title"),
        Column("Rank", "rank", decimals=0),
        Column("Attribute", "attribute"),
        Column("Value", "value", decimals=3, meaning="per cent of people, or q of a model"),
    )


def agreement_table(result: GuiseAnalysis, names: Mapping[str, str], level: str) -> ReportTable:
    return ReportTable.of(
        "agreement",
        "Agreement with people",
        result.agreements,
        *MODEL,
        Column("", "study", meaning="slug of the norm"),
        Column("Study", "study_title", lambda row: names.get(row.study, row.study)),
        Column.estimate(
            "MAP",
            "map",
            "estimate",
            3,
            style="strong",
            meaning="mean average precision, mean over prompts",
        ),
        Column(
            "Chance", "chance", decimals=3, style="quiet", meaning="mean MAP of random rankings"
        ),
        Column("Prompts", "n_prompts", "estimate.n", 0),
        Column("sd", "sd", decimals=3, meaning="over prompts, ddof 1"),
        Column("", "sd_released", _released_sd, meaning="over prompts, ddof 0"),
        Column("t", "t", "statistic", 2),
        Column("", "df", decimals=0),
        Column("", "p_t"),
        Column.p("p (t)", "p_t_holm"),
        Column("", "p_permutation"),
        Column.p("p (permutation)", "p_permutation_holm"),
        Column("Least", "least", decimals=3, meaning="MAP with one prompt left out, at least"),
        Column("Most", "most", decimals=3, meaning="MAP with one prompt left out, at most"),
        Column("Shared", "shared", decimals=0, meaning="of the first five"),
        Column("", "p_shared", meaning="chance of sharing as many, hypergeometric"),
        Column.estimate(
            "δ",
            "strength",
            decimals=3,
            prefix="strength_",
            signed=True,
            meaning="mean q of the study’s first five minus that of all others",
        ),
        level=level,
        reason="reason",
    )


def favourability_table(result: GuiseAnalysis, level: str) -> ReportTable:
    return ReportTable.of(
        "favourability",
        "Favourability of the first five attributes",
        result.favourabilities,
        Column("", "source"),
        Column("Source", "title", lambda row: f"{row.title}{_probe(row)}"),
        Column.effect("Mean", "unweighted", decimals=2),
        Column.estimate("Weighted", "weighted", decimals=2, prefix="weighted_", signed=True),
        Column("Attributes", "n", "unweighted.n", 0),
        level=level,
        reason="weighted.reason",
    )


def score_table(result: GuiseAnalysis, level: str) -> ReportTable:
    return ReportTable.of(
        "scores",
        "Association scores",
        result.scores,
        *MODEL,
        Column("Rank", "rank", decimals=0),
        Column("Attribute", "attribute"),
        Column.effect(
            "q",
            "q",
            "estimate",
            4,
            meaning="association score, mean over prompts",
            unit="log ratio",
        ),
        Column("Prompts", "n_prompts", "estimate.n", 0),
        Column("sd of prompts", "prompt_sd", decimals=4),
        *p_columns(),
        Column("", "reason", lambda row: row.estimate.reason or row.why_no_p),
        level=level,
    )


def prompt_table(result: GuiseAnalysis, wordings: Mapping[str, str]) -> ReportTable:
    return ReportTable.of(
        "prompts",
        "Association scores in every prompt",
        result.prompts,
        *MODEL,
        Column("", "prompt", meaning="slug of the prompt"),
        Column("Prompt", "wording", lambda row: wordings.get(row.prompt, "")),
        Column("Attribute", "attribute"),
        Column("q", "q", "value", 4, signed=True, unit="log ratio"),
    )


def left_out_table(result: GuiseAnalysis, wordings: Mapping[str, str]) -> ReportTable:
    return ReportTable.of(
        "left_out_prompts",
        "Each prompt left out",
        result.left_out,
        *MODEL,
        Column("", "prompt"),
        Column("Left out", "wording", lambda row: wordings.get(row.prompt, ""), wide=True),
        Column("Shared", "shared", decimals=0, meaning="of the first five"),
        Column("τ", "tau", decimals=2, meaning="Kendall’s tau-b of both rankings"),
        Column("Largest change", "change", decimals=4, unit="log ratio"),
        reason="reason",
    )


def variance_table(result: GuiseAnalysis) -> ReportTable:
    return ReportTable.of(
        "variance",
        "Shares of the variance of q",
        result.variances,
        *MODEL,
        Column("Attributes, %", "attributes", decimals=0, scale=100),
        Column("Wording, %", "prompts", decimals=0, scale=100),
        Column("Wording × attribute, %", "interaction", decimals=0, scale=100),
        reason="reason",
    )


def _source(row: Any) -> str:
    return row.source if row.source in ("covert", "overt") else "people"


def _probe(row: Any) -> str:
    return f", {row.source}" if row.source in ("covert", "overt") else ""


def _top_cell(row: Any) -> str:
    value = number(row.value, 3, signed=True) if _probe(row) else f"{number(row.value, 0)} %"
    return f"{row.attribute} ({value})"


def _released_sd(row: Any) -> float:
    n = row.estimate.n
    return float(row.sd * (1 - 1 / n) ** 0.5) if n else float("nan")
