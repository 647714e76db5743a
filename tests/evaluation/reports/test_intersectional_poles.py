"""Intersectional reports on single adjectives, whose answers follow by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from annotation.library.paired_groups import create_paired_groups
from annotation.models import GroupSet, SocialGroup
from evaluation.models import Report
from evaluation.reports.parts.document import Document
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from probing.measures.stimuli import Group, Stimuli, Template, Trait
from probing.models import Run, ShardStatus
from probing.runs.parameters import to_parquet
from tests.evaluation.reports.computing import compute

pytestmark = pytest.mark.django_db

PAIR = "teenager--wealthy"
TRAITS = (
    Trait("cold-warm", "cold", "warm", "communion"),
    Trait("powerless-powerful", "powerless", "powerful", "agency"),
    Trait("poor-wealthy", "poor", "wealthy", "agency"),
)
TEMPLATES = (
    Template("that-group-is-trait", "That {singular} is {trait}."),
    Template("all-groups-are-trait", "All {plural} are {trait}."),
)
# Scores of cold, warm; powerless, powerful; poor, wealthy.
POLES = {
    "teenager": (1.0, 2.0, 3.0, 4.0, 0.0, 0.0),
    "wealthy": (2.0, 1.0, 1.0, 3.0, 0.0, 0.0),
    PAIR: (5.0, 4.0, 0.5, 3.5, 0.0, 0.0),
}
NORMS = "first,second,dimension,pole\nteenager,wealthy,communion,low\n"


def pair_scores() -> dict[str, dict[str, float]]:
    return {
        group: {
            trait.slug: values[2 * i + 1] - values[2 * i] for i, trait in enumerate(TRAITS)
        }
        for group, values in POLES.items()
    }  # fmt: skip


def rows(template: Template, shift: float) -> pd.DataFrame:
    """A shard's rows; the templates lie `shift` to either side of the scores above."""
    return pd.DataFrame(
        [
            (template.slug, group, trait.slug, pole, word, values[2 * i + j] + shift, "")
            for group, values in POLES.items()
            for i, trait in enumerate(TRAITS)
            for j, (pole, word) in enumerate((("low", trait.low), ("high", trait.high)))
        ],
        columns=["template", "group", "trait", "pole", "word", "value", "reason"],
    )


@pytest.fixture
def run(scored_run) -> Run:
    group_set = GroupSet.objects.create(slug="few", title="Few")
    group_set.groups.set(SocialGroup.objects.filter(slug__in=["teenager", "wealthy"]))
    create_paired_groups(group_set=group_set)
    made = scored_run(scores=pair_scores())
    stimuli = Stimuli(
        groups=tuple(Group(slug, slug, f"{slug}s", slug.capitalize()) for slug in POLES),
        traits=TRAITS,
        templates=TEMPLATES,
    )
    made.stimuli, made.stimuli_hash = stimuli.to_dict(), stimuli.content_hash()
    made.save()
    for index, (template, shift) in enumerate(zip(TEMPLATES, (-0.25, 0.25), strict=True)):
        made.shards.create(
            index=index,
            title=template.text,
            payload={},
            status=ShardStatus.STORED,
            result=to_parquet(rows(template, shift)),
        )
    return made


def lay_out(run: Run, **options) -> tuple[Report, Document]:
    return compute("intersectional", Chosen(runs=(run,)), resamples=200, **options)


def found(document: Document, name: str) -> list[tuple[str, float]]:
    frame = document.frames[name]
    return list(zip(frame["adjective"], frame["excess"], strict=True))


def test_both_poles_of_a_trait_emerge_where_both_exceed_the_components(run):
    """Cold is 5 against 1 and 2, warm 4 against 2 and 1; powerless 0.5 against 3 and 1."""
    _, document = lay_out(run, traits="poles")
    assert found(document, "emergent") == [("cold", 3.0), ("warm", 2.0)]
    assert found(document, "vanishing") == [("powerless", 0.5)]
    scores = document.frames["emergent"][["score", "first_score", "second_score"]]
    assert scores.to_numpy().tolist() == [[5.0, 1.0, 2.0], [4.0, 2.0, 1.0]]
    # Pair scores: warm − cold is −1 against 1 and −1, powerful − powerless 3 against 1 and 2.
    _, document = lay_out(run)
    assert found(document, "emergent") == [("powerful", 1.0)]
    assert "vanishing" not in document.frames


def test_orders_and_words_are_those_of_adjectives(run):
    _, document = lay_out(run, traits="poles")
    (row,) = document.frames["orders"].to_dict("records")
    pair, teenager, wealthy = (POLES[slug] for slug in (PAIR, "teenager", "wealthy"))
    assert row["tau_first"] == pytest.approx(plain_tau(pair, teenager))
    assert row["tau_second"] == pytest.approx(plain_tau(pair, wealthy))
    method = " ".join(document.method)
    assert "A score is that of one adjective by itself" in method
    assert "tau-b over 6 adjectives" in method
    assert "2 templates: “That [group] is [adjective].” and “All [group] are" in method


def plain_tau(first, second) -> float:
    """Tau-b from its definition, pair by pair."""
    signs = [
        ((a > b) - (a < b), (x > y) - (x < y))
        for i, (a, x) in enumerate(zip(first, second, strict=True))
        for b, y in list(zip(first, second, strict=True))[i + 1 :]
    ]
    untied = [sum(1 for pair in signs if pair[side]) for side in (0, 1)]
    return sum(a * b for a, b in signs) / (untied[0] * untied[1]) ** 0.5


def test_norms_are_met_by_the_adjectives_that_emerge(run):
    """Both poles of communion emerge, the list names one: precision 1/2, recall 1."""
    report, document = lay_out(run, traits="poles", norms=NORMS)
    (row,) = document.frames["norms"].to_dict("records")
    assert (row["precision"], row["recall"], row["n_predicted"]) == (0.5, 1.0, 2)
    assert report.inputs["hashes"]["poles"]


@pytest.mark.parametrize("why", ["measure", "rows"])
def test_run_without_scores_of_adjectives_is_refused_with_the_remedy(run, why):
    if why == "measure":
        run.measure = "ceat"
    else:
        run.shards.all().delete()
    with pytest.raises(ReportError, match=r"no scores of single adjectives.*Choose “pairs”"):
        lay_out(run, traits="poles")
