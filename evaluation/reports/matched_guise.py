"""Matched guise: what models associate with the speakers of two varieties, beside people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from evaluation.analyses.guise_association import (
    TOP,
    Agreement,
    AttributeScore,
    FavorabilityLine,
    GuiseAnalysis,
    HumanStudy,
    LeftOutPrompt,
    NullLine,
    PromptScore,
    TopAttribute,
    VarianceShares,
    analyze_guises,
)
from evaluation.analyses.guise_cells import GuiseOptions
from evaluation.analyses.guise_variation import VariationLine
from evaluation.models import NormKind, Report
from evaluation.reports.parts.document import Block, Document, KeyNumber, Section
from evaluation.reports.parts.formatting import MISSING, count, listing, number, p_value, percent
from evaluation.reports.parts.guise_inputs import (
    access_in_words,
    common_attributes,
    load_guise_run,
    load_norms,
    model_label,
)
from evaluation.reports.parts.guise_kind import (
    GuiseKind,
    first_norm,
    gather,
    guise_runs,
    prompt_wordings,
)
from evaluation.reports.parts.guise_tables import (
    FEW_PROMPTS,
    METHOD_CROSSED,
    WHY_CROSSED,
    crossed_table,
    disagreement,
    p_columns,
)
from evaluation.reports.parts.kind import Chosen, Loaded
from evaluation.reports.parts.options import IntervalParameters, names_in
from evaluation.reports.parts.table import Column, ReportTable, beside, pivot, shown
from probing.measures.guise_library import OVERT, TRAITS

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
        self.favorability = favorability_table(result, level)
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
            self.favorability,
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
            Column("", value=lambda row: _probe(row.first)[2:] or "people"),
            *(
                Column(
                    str(rank), value=beside(rank, _top_cell), style="strong" if rank == 1 else ""
                )
                for rank in ranks
            ),
        )
        return (
            self.tops.printed(
                "The first five attributes of every study and model: percent of people who named "
                "them, or q.",
                rows=pivot(self.result.tops, lambda row: (row.source, row.title), "rank"),
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
                f"prompts. The line is chance, {number(self.result.chance, 3)}.",
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

    def favorability_blocks(self) -> tuple[Block, ...]:
        if not self.favorability.rows:
            return ()
        return (
            self.favorability.figure(
                "favorability",
                "Mean favorability of the first five attributes, −2 to 2.",
                "unweighted",
                label=lambda row: f"{row.title}{_probe(row)}",
                tone=lambda row: "model" if row.source in ("covert", "overt") else "human",
                title="Favorability of the first five",
                axis="favorability",
                n="attributes",
                left="← unfavorable",
                right="favorable →",
            ),
            self.favorability.printed(
                "Favorability of the first five attributes, plain and weighted by percentage or q."
            ),
        )

    def score_blocks(self) -> tuple[Block, ...]:
        drawn, printed = [], []
        for model, probe in self.result.models[:DRAWN]:
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
    return ReportTable.of_rows(
        "variation",
        "Agreement and strength by version, setting and prompt",
        result.variations,
        VariationLine,
        *MODEL,
        Column("", "study", meaning="slug of the norm"),
        Column("Study", "study_title", lambda row: names.get(row.study, row.study)),
        *("factor", "level"),
        Column("Held", "level_name", lambda row: wordings.get(row.level, row.level)),
        *("agreement", "strength"),
        Column("Cells", "n", "agreement.n", 0, meaning="versions × settings × prompts"),
        level="standard error",
    )


def null_table(result: GuiseAnalysis, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "nulls",
        "What chance gives",
        result.nulls,
        NullLine,
        Column("Model", "model", lambda row: row.model or "any"),
        Column("Probe", "probe", lambda row: row.probe or "any"),
        *("quantity", "mean", "sd", "low", "high", "n"),
        labels={"level": level},
    )


def tops_table(result: GuiseAnalysis) -> ReportTable:
    title = "The first five of every study and model"
    return ReportTable.of_rows("tops", title, result.tops, TopAttribute)


def agreement_table(result: GuiseAnalysis, names: Mapping[str, str], level: str) -> ReportTable:
    return ReportTable.of_rows(
        "agreement",
        "Agreement with people",
        result.agreements,
        Agreement,
        *MODEL,
        Column("", "study", meaning="slug of the norm"),
        Column("Study", "study_title", lambda row: names.get(row.study, row.study)),
        *("estimate", "chance"),
        Column("Prompts", "n_prompts", "estimate.n", 0),
        "sd",
        Column("", "sd_released", _released_sd, meaning="over prompts, ddof 0"),
        *("statistic", "df", "p_t", "p_t_holm", "p_permutation", "p_permutation_holm"),
        *("least", "most", "shared", "p_shared", "strength"),
        level=level,
        reason="estimate.note",
        note="reason",
    )


def favorability_table(result: GuiseAnalysis, level: str) -> ReportTable:
    return ReportTable.of(
        "favorability",
        "Favorability of the first five attributes",
        result.favorabilities,
        Column("", "source"),
        Column("Source", "title", lambda row: f"{row.title}{_probe(row)}"),
        *shown(FavorabilityLine),
        Column("Attributes", "n", "unweighted.n", 0),
        level=level,
        reason="weighted.note",
        note="weighted.reason",
    )


def score_table(result: GuiseAnalysis, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "scores",
        "Association scores",
        result.scores,
        AttributeScore,
        *MODEL,
        *("rank", "attribute", "estimate", "prompt_sd"),
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
        *shown(PromptScore),
    )


def left_out_table(result: GuiseAnalysis, wordings: Mapping[str, str]) -> ReportTable:
    return ReportTable.of(
        "left_out_prompts",
        "Each prompt left out",
        result.left_out,
        *MODEL,
        Column("", "prompt"),
        Column("Left out", "wording", lambda row: wordings.get(row.prompt, ""), wide=True),
        *shown(LeftOutPrompt),
        reason="reason",
    )


def variance_table(result: GuiseAnalysis) -> ReportTable:
    return ReportTable.of(
        "variance",
        "Shares of the variance of q",
        result.variances,
        *MODEL,
        *shown(VarianceShares),
        reason="reason",
    )


def _probe(row: Any) -> str:
    return f", {row.source}" if row.source in ("covert", "overt") else ""


def _top_cell(row: Any) -> str:
    value = number(row.value, 3, signed=True) if _probe(row) else f"{number(row.value, 0)} %"
    return f"{row.attribute} ({value})"


def _released_sd(row: Any) -> float:
    n = row.estimate.n
    return float(row.sd * (1 - 1 / n) ** 0.5) if n else float("nan")


#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Agreement, …": (
        "How far up the attributes that people named in this study stand in the model’s order "
        "(mean average precision): 1 if they come first, the chance value if the order is "
        "random."
    ),
}


WHY_TOPS = (
    "The attributes that most people named in each study, and those that a model associates most "
    "with the first variety."
)
WHY_FAVORABILITY = (
    "Whether what comes first is good or bad to be called. The weighted mean is not defined where "
    "one of the five scores is not above zero."
)
WHY_SENSITIVITY = (
    "Prompts are a choice of wordings, not the question itself. Where one wording decides, the "
    "result is about that wording."
)
WHY_VARIATION = (
    "How much hangs on one version of a model, one set of texts or one wording. A standard error "
    "over prompts says how far wordings differ; it is no interval for other wordings."
)
CAVEATS = (
    "They describe models under stated prompts. They say nothing about the people who speak a "
    "variety.",
    "A score compares two guises: it does not say that an attribute is likely, or unlikely, after "
    "either.",
    "Prompts, texts and versions of a model are no independent samples. Agreement and favorability "
    "have no interval: noise moves ranks, and what comes first, to one side.",
    FEW_PROMPTS,
    "The paper’s test takes random rankings for a sample of its own, so that its degrees of "
    "freedom grow with their number; read the permutation test beside it.",
    "Pairs may differ in more than the variety, such as length, and an effect may be that of such "
    "a difference.",
)


def question(result: GuiseAnalysis, record: dict[str, Any]) -> str:
    covert = [run for run in record["runs"] if run["probe"] == "covert"]
    first, second = (covert or record["runs"])[0]["varieties"]
    both = 0 < len(covert) < len(record["runs"])
    named = " Names of groups are asked about beside them." if both else ""
    return (
        f"After a text in {first} rather than in {second}, which of "
        f"{count(result.n_attributes, 'attribute')} does a model find likelier of its author, and "
        f"how does that agree with what people said in published studies?{named}"
    )


def disagreements(result: GuiseAnalysis, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return where the paper's test and the permutation test come to different ends."""
    told = [
        f"{row.model} ({row.probe}) and {names.get(row.study, row.study)}: "
        f"{p_value(row.p_t_holm)} against {p_value(row.p_permutation_holm)}"
        for row in result.agreements
        if row.tests_disagree
    ]
    return disagreement(
        "The paper’s t-test and the permutation test disagree on agreement with people", told
    )


def why_agreement(result: GuiseAnalysis) -> str:
    return (
        "How early the attributes that people named come in a model’s ranking. A random ranking "
        f"has {number(result.chance, 3)} on average."
    )


def why_wording(result: GuiseAnalysis) -> str:
    return f"{WHY_SENSITIVITY} {WHY_CROSSED}" if result.crossed else WHY_SENSITIVITY


def why_scores(result: GuiseAnalysis, record: dict[str, Any]) -> str:
    first = record["runs"][0]["varieties"][0]
    above = f"Above zero an attribute is likelier after {first}."
    if all(math.isnan(row.p_value) for row in result.scores):
        reasons = dict.fromkeys(row.why_no_p for row in result.scores)
        return f"{above} There is no p: {listing([str(why) for why in reasons if why])}."
    return (
        f"{above} Interval and p are for the question that the row names; p (Holm) is "
        "corrected over the attributes of a model."
    )


def method(result: GuiseAnalysis, record: dict[str, Any]) -> tuple[str, ...]:
    options = result.options
    pairs = options.matching == "meaning_matched"
    form = (
        "the mean over pairs of the logarithm of the ratio of its probabilities"
        if pairs
        else "the logarithm of the ratio of its mean probabilities"
    )
    unpaired = [str(run["number"]) for run in record["runs"] if pairs and not run["paired"]]
    pooled = f" Runs without pairs ({listing(unpaired)}) are pooled." if unpaired else ""
    bases = {run["parameters"].get("base", "10") for run in record["runs"]}
    base = "base 10" if bases == {"10"} else f"base {listing(sorted(bases))}"
    return (
        "Matched guise probing after Hofmann, Kalluri, Jurafsky and King (2024). A model reads a "
        "text within a prompt that speaks of its author, and the probability of each attribute is "
        f"read where the prompt ends, {access_in_words(record['runs'])}. The association "
        f"score q of an attribute is {form} after either guise ({base}), averaged over runs of a "
        f"model within each prompt and then over prompts.{pooled}",
        "Agreement is the mean over k = 1 to 5 of the average precision of a prompt’s ranking for "
        "the k attributes that most people named, averaged over prompts. The paper tests the "
        f"prompts’ values against {options.n_permutations:,} random rankings by a one-sided t-test "
        "with equal variances. The permutation test draws the attributes of people at random, "
        "alike for all prompts. Both are corrected by Holm over models and studies of one probe.",
        "δ is the mean score of a study’s first five attributes minus that of all others.",
        *((METHOD_CROSSED,) if result.crossed else ()),
    )


def left_out(result: GuiseAnalysis) -> tuple[str, ...]:
    unknown = {row.study for row in result.agreements if row.reason and not row.estimate.n}
    return tuple(f"{slug}: it names none of the attributes." for slug in sorted(unknown))


#: The studies of the paper; those that are stored are used.
USUAL_STUDIES = ("katz", "gilbert", "karlins", "bergsieker")


class MatchedGuiseParameters(IntervalParameters):
    """The options of a matched guise report."""

    matching: Literal["meaning_matched", "pooled"] = Field(
        "meaning_matched",
        title="Comparison of texts",
        description="How texts are compared: pair by pair, or the sets as a whole. Runs without "
        "pairs are always pooled.",
    )
    studies: str = Field(
        ", ".join(USUAL_STUDIES),
        max_length=500,
        title="Norms of people",
        description="Norms with percentages of people, by their slugs with commas; those of the "
        "paper by default, as far as they are stored.",
    )
    favorability: str | None = Field(
        None,
        title="Norm of favorability",
        description="Norm of favorability; without one, the first that is stored.",
    )
    average: Literal["model", "family"] = Field(
        "model",
        description="What is averaged: the runs of each model, or of all models of a family, "
        "which then are its versions, as in the paper.",
    )
    permutations: int = Field(
        10_000, ge=100, le=100_000, description="Random rankings that agreement is tested against."
    )

    @property
    def study_slugs(self) -> list[str]:
        return names_in(self.studies)


class MatchedGuise(GuiseKind[GuiseAnalysis]):
    name = "matched_guise"
    title = _("Matched guises")
    question = _("What do models associate with speakers of one variety rather than another?")
    meanings = MEANINGS
    Parameters = MatchedGuiseParameters
    Result = GuiseAnalysis
    asks = "What do guises tell of the associations of {models}?"
    purposes = (TRAITS, OVERT)
    remedy = "Choose runs with prompts on traits; occupations and verdicts have their own reports."
    norms = {"favorability": NormKind.FAVORABILITY}
    runs = guise_runs(
        _(
            "Runs of matched guise probing with one list of attributes: on texts (covert), and on "
            "names of groups (overt) to see both side by side."
        )
    )

    def check(self, chosen: Chosen, parameters: MatchedGuiseParameters) -> None:
        super().check(chosen, parameters)
        self._studies(parameters)

    def load(self, chosen: Chosen, parameters: MatchedGuiseParameters) -> Loaded:
        """Two queries a run, and two for the norms."""
        loaded = [load_guise_run(run, model_label(run, parameters.average)) for run in chosen.runs]
        attributes = common_attributes(loaded)
        studies = self._studies(parameters)
        favor = first_norm(NormKind.FAVORABILITY, parameters.favorability)
        data = (
            [one.run for one in loaded],
            attributes,
            [HumanStudy(norm.slug, norm.title, norm.year, norm.values) for norm in studies],
            favor[0].values if favor else {},
        )
        title = favor[0].title if favor else ""
        return gather(chosen, loaded, [*studies, *favor], data, favorability=title)

    def analyze(self, loaded: Loaded, parameters: MatchedGuiseParameters) -> GuiseAnalysis:
        options = GuiseOptions(
            matching=parameters.matching,
            n_permutations=parameters.permutations,
            **parameters.bootstrap,
        )
        runs, attributes, studies, favor = loaded.data
        return analyze_guises(runs, attributes, studies, favor, options)

    def lay_out(self, report: Report, result: GuiseAnalysis, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        level = percent(result.options.level)
        names = {norm["slug"]: norm["title"] for norm in record["norms"]}
        wordings = prompt_wordings(record["runs"])
        shown = GuiseTables(result, names, wordings, level)
        sections = (
            Section("The first five", shown.top_blocks(), WHY_TOPS),
            Section("Agreement with people", shown.agreement_blocks(), why_agreement(result)),
            Section("Favorability", shown.favorability_blocks(), WHY_FAVORABILITY),
            Section("Versions, settings and prompts", shown.variation_blocks(), WHY_VARIATION),
            Section("Every attribute", shown.score_blocks(), why_scores(result, record)),
            Section("What the wording does", shown.sensitivity_blocks(), why_wording(result)),
        )
        return Document(
            question=question(result, record),
            banners=disagreements(result, names),
            keys=shown.keys(),
            sections=sections,
            tables=shown.downloads,
            method=method(result, record),
            caveats=CAVEATS,
            left_out=left_out(result),
        )

    def headline(self, result: dict[str, Any]) -> str:
        first = [row for row in result["tops"] if row["source"] in ("covert", "overt")]
        return f"first: {first[0]['attribute']}" if first else MISSING

    @staticmethod
    def _studies(parameters: MatchedGuiseParameters) -> list[Any]:
        """Return the norms that were named; of the usual ones those that are stored."""
        slugs = parameters.study_slugs
        if tuple(slugs) != USUAL_STUDIES:
            return load_norms(NormKind.PERCENT, slugs)
        known = {norm.slug: norm for norm in load_norms(NormKind.PERCENT)}
        return [known[slug] for slug in slugs if slug in known]
