"""What a paper on a report cites: sources of its kind and measures, models, the platform.

Entries are BibTeX. Models and the platform are cited as they were: by revision and code version.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from evaluation.models import Report
from evaluation.reports.parts.document import Document
from evaluation.reports.parts.formatting import listing
from evaluation.reports.parts.latex import escape
from evaluation.reports.parts.provenance import record_runs
from evaluation.reports.parts.records import RunRecord
from probing.measures.prompting import describe_prompting

CAO, HOFMANN, DEAS = "cao2022theory", "hofmann2024ai", "deas2023evaluation"
NORMS, COUNTERFACTUAL = "kohankhaki2024impact", "czarnowska2021quantifying"
TAU, HOLM = "kendall1945treatment", "holm1979simple"
ALPHA, STATEMENT = "krippendorff2019content", "bender2018data"

#: Kind of report → what its analysis is taken from.
BY_KIND: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("alignment", "alignment_comparison", "alignment_subgroups"), (CAO, TAU, HOLM)),
    "intersectional": (CAO,),
    "markedness": (NORMS,),
    "template_selection": (CAO, TAU),
    "rating_agreement": (CAO, ALPHA),
    "dataset": (DEAS,),
    "agreement": (DEAS, ALPHA, "braylan2022measuring"),
    "counterparts": (DEAS, "lin2004rouge", "zhang2020bertscore"),
    "judgments": (DEAS, ALPHA),
    "spans": (DEAS,),
    **dict.fromkeys(
        (
            "matched_guise",
            "guise_occupations",
            "guise_decisions",
            "guise_features",
            "guise_controls",
            "guise_models",
            "guise_ratings",
            "guise_intelligence",
        ),
        (HOFMANN,),
    ),
    "covert_overt_human": (HOFMANN, CAO, TAU),
    "fpr_gaps": (NORMS, COUNTERFACTUAL),
    "fpr_comparison": (NORMS, COUNTERFACTUAL),
}
#: Measure → where it is defined.
BY_MEASURE: dict[str, tuple[str, ...]] = {
    "ilps": (CAO, "kurita2019measuring"),
    "ilps_star": (CAO, "kurita2019measuring"),
    "set": (CAO,),
    "ceat": (CAO, "guo2021detecting"),
    "direct_rating": (CAO,),
    "counterpart_generation": (DEAS, "gonen2022demystifying"),
    "span_prediction": (DEAS,),
    "matched_guise": (HOFMANN,),
    "perplexity": (HOFMANN, "salazar2020masked"),
    "fine_tuning": (DEAS,),
    "classification": (NORMS,),
    "classifier_fine_tuning": (NORMS,),
    "prompted_classification": (NORMS,),
    "label_likelihood": (NORMS, "zhao2021calibrate"),
    "mention_surprisal": (NORMS,),
}
_ENTRY = re.compile(r"^@\w+\{(?P<key>[^,]+),.*?^\}\n", re.MULTILINE | re.DOTALL)
# What a key of BibTeX may not hold.
_NOT_IN_KEYS = re.compile(r"[^a-z0-9]+")


@cache
def read_publications() -> dict[str, str]:
    """Return the entries of publications.bib by their keys."""
    text = (Path(__file__).parent / "publications.bib").read_text()
    return {found["key"]: found[0] for found in _ENTRY.finditer(text)}


def find_references(report: Report) -> dict[str, str]:
    """Return what a paper on a final report cites by key: publications, models, the platform."""
    record: dict[str, Any] = report.inputs
    runs = record_runs(record)
    keys = [
        *BY_KIND.get(report.kind, ()),
        *(key for run in runs for key in BY_MEASURE.get(run.get("measure", ""), ())),
        *([STATEMENT] if record.get("statement") else []),
    ]
    found = {key: read_publications()[key] for key in keys}
    for run in runs:
        name, revision = run["model"], run["model_revision"]
        key = _key("model", name, revision.removeprefix("sha256:")[:8])
        found[key] = _entry(
            "misc",
            key,
            title=f"{{{escape(name)}}}",
            howpublished="Language model",
            note=f"Revision {escape(revision)}" if revision else "Revision not recorded",
        )
    found["stereoscope"] = _entry(
        "software",
        "stereoscope",
        title="{Stereoscope}: people's and language models' pictures of social groups",
        version=escape(report.code_version),
        year=f"{report.built_at:%Y}",
        note=f"Report {report.public_id}",
    )
    return found


def to_bibtex(report: Report) -> bytes:
    """Return the references as a file that BibTeX and BibLaTeX read."""
    return "\n".join(find_references(report).values()).encode()


def methods_text(report: Report, document: Document) -> str:
    """Return the paragraph for a paper's section on methods: what was done, with which code."""
    libraries = ", ".join(f"{name} {text}" for name, text in report.library_versions.items())
    closing = (
        f"All numbers were computed with Stereoscope {report.code_version} ({libraries}) on "
        f"{report.built_at:%-d %B %Y}; report {report.public_id}."
    )
    return " ".join((*document.method, *prompting_sentences(record_runs(report.inputs)), closing))


def prompting_sentences(runs: Sequence[RunRecord]) -> list[str]:
    """Return how prompts were put to the models, once for all runs that were asked alike."""
    asked: dict[str, list[str]] = {}
    for run in runs:
        if told := describe_prompting(run.get("parameters", {})):
            asked.setdefault(told, []).append(str(run.get("label", run["model"])))
    if len(asked) == 1:
        return list(asked)
    return [f"{listing(list(dict.fromkeys(names)))}: {told}" for told, names in asked.items()]


def _entry(sort: str, key: str, **fields: str) -> str:
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@{sort}{{{key},\n{lines}\n}}\n"


def _key(*parts: str) -> str:
    words = (_NOT_IN_KEYS.sub("-", part.lower()).strip("-") for part in parts)
    return "-".join(filter(None, words))
