"""Matched guise: what models associate with the speakers of two varieties, beside people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from evaluation.analyses.guise_association import GuiseAnalysis, HumanStudy, analyze_guises
from evaluation.analyses.guise_cells import GuiseOptions
from evaluation.models import NormKind, Report
from evaluation.reports.matched_guise import prose, tables
from evaluation.reports.parts.document import Document, Section
from evaluation.reports.parts.formatting import MISSING, percent
from evaluation.reports.parts.guise_inputs import (
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
from evaluation.reports.parts.kind import Chosen, Loaded
from evaluation.reports.parts.options import IntervalParameters, names_in
from probing.measures.guise_library import OVERT, TRAITS

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
    favourability: str | None = Field(
        None,
        title="Norm of favourability",
        description="Norm of favourability; without one, the first that is stored.",
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
    meanings = prose.MEANINGS
    Parameters = MatchedGuiseParameters
    Result = GuiseAnalysis
    asks = "What do guises tell of the associations of {models}?"
    purposes = (TRAITS, OVERT)
    remedy = "Choose runs with prompts on traits; occupations and verdicts have their own reports."
    norms = {"favourability": NormKind.FAVOURABILITY}
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
        favour = first_norm(NormKind.FAVOURABILITY, parameters.favourability)
        data = (
            [one.run for one in loaded],
            attributes,
            [HumanStudy(norm.slug, norm.title, norm.year, norm.values) for norm in studies],
            favour[0].values if favour else {},
        )
        title = favour[0].title if favour else ""
        return gather(chosen, loaded, [*studies, *favour], data, favourability=title)

    def analyze(self, loaded: Loaded, parameters: MatchedGuiseParameters) -> GuiseAnalysis:
        options = GuiseOptions(
            matching=parameters.matching,
            n_permutations=parameters.permutations,
            **parameters.bootstrap,
        )
        runs, attributes, studies, favour = loaded.data
        return analyze_guises(runs, attributes, studies, favour, options)

    def lay_out(self, report: Report, result: GuiseAnalysis, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        level = percent(result.options.level)
        names = {norm["slug"]: norm["title"] for norm in record["norms"]}
        wordings = prompt_wordings(record["runs"])
        shown = tables.GuiseTables(result, names, wordings, level)
        sections = (
            Section("The first five", shown.top_blocks(), prose.WHY_TOPS),
            Section("Agreement with people", shown.agreement_blocks(), prose.why_agreement(result)),
            Section("Favourability", shown.favourability_blocks(), prose.WHY_FAVOURABILITY),
            Section(
                "Versions, settings and prompts", shown.variation_blocks(), prose.WHY_VARIATION
            ),
            Section("Every attribute", shown.score_blocks(), prose.why_scores(result, record)),
            Section("What the wording does", shown.sensitivity_blocks(), prose.why_wording(result)),
        )
        return Document(
            question=prose.question(result, record),
            banners=prose.disagreements(result, names),
            keys=shown.keys(),
            sections=sections,
            tables=shown.downloads,
            method=prose.method(result, record),
            caveats=prose.CAVEATS,
            left_out=prose.left_out(result),
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
