"""Every report says by which options of its measure a run was made, and what mention explains."""

from __future__ import annotations

import pytest

from annotation.models import DemographicAnswer
from evaluation.reports.parts.document import Document
from evaluation.reports.parts.kind import Chosen
from evaluation.reports.parts.score_words import options_in_words, remarks, short_options
from probing.models import Run
from tests.evaluation.reports.computing import compute

pytestmark = pytest.mark.django_db

FEW = {"resamples": 100}
RELEASED = {
    "prior": "noun", "adjectives": "pole", "list_average": "mean", "groups_per_shard": 9,
    "gamma": 1.0, "bias": "append", "subword": "max_change", "variant": "released",
}  # fmt: skip
REMARK = "In 3 of 96 adjective scores a word already won by the margin."
PUBLISHED = RELEASED | {"prior": "mask", "variant": "paper"}
# man and woman deviate alike from the unmarked sentence: mention explains all of it.
ALIKE = {
    group: {"powerless-powerful": high, "poor-wealthy": high, "cold-warm": low}
    for group, (high, low) in {
        "man": (3.0, 1.0), "woman": (3.0, 1.0), "unmarked": (1.0, 2.0)
    }.items()
}  # fmt: skip


def with_options(run: Run, options: dict) -> Run:
    run.parameters, run.notices = options, [REMARK]
    run.save()
    return run


def provenance(document: Document) -> dict[str, str]:
    return {name: code or text for part in document.provenance for name, text, code in part}


@pytest.fixture
def study(rated_study):
    """12 people, 6 of each of two genders."""
    made = rated_study()
    question = made.instruments.get().questions.get(slug="gender")
    for i, submission in enumerate(made.submissions.order_by("pk")):
        DemographicAnswer.objects.create(
            submission=submission, question=question, value=["Man" if i % 2 else "Woman"]
        )
    return made


@pytest.fixture
def released(scored_run) -> Run:
    return with_options(scored_run(scores=ALIKE), RELEASED)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("alignment", {"splits": 100}),
        ("alignment_subgroups", {}),
        ("template_selection", {"splits": 100, "pilot_groups": "man"}),
        ("markedness", {}),
    ],
    ids=["alignment", "subgroups", "selection", "markedness"],
)
def test_report_names_the_options_that_are_not_the_defaults(study, released, kind, options):
    people = None if kind == "markedness" else study
    _, document = compute(kind, Chosen(study=people, runs=(released,)), **FEW, **options)
    assert (
        "with the options prior “noun” and variant “released”, all others at their defaults"
        in " ".join(document.method)
    )
    (line,) = (text for name, text in provenance(document).items() if name.startswith("Options of"))
    assert line == (
        "prior noun, adjectives pole, list_average mean, gamma 1.0, bias append, "
        "subword max_change, variant released"
    )
    assert f"Run {released.pk} remarks: {REMARK}" in document.caveats
    if kind != "template_selection":  # whose tables name them all
        assert "2 templates: “That [group] is [adjective].” and “All [group] are [adjective].”" in (
            " ".join(document.method)
        )


def test_an_option_that_was_left_empty_is_left_out(study, released):
    """An empty arm stands for all: “arm , level 0.95” named it without a value."""
    _, document = compute(
        "alignment", Chosen(study=study, runs=(released,)), **FEW, splits=100, arm=""
    )
    options = provenance(document)["Options"]
    assert "level 0.95" in options
    assert "arm" not in options


def test_runs_that_differ_in_an_option_have_labels_that_say_so(study, scored_run, released):
    published = with_options(scored_run(scores=ALIKE), PUBLISHED)
    _, document = compute(
        "alignment_comparison", Chosen(study=study, runs=(published, released)), **FEW, splits=100
    )
    overall = document.frames["overall"]
    assert sorted(overall["run_name"]) == ["SeT (noun, released), tiny", "SeT, tiny"]
    assert list(overall["options"].str.contains("variant released")) == [
        name.startswith("SeT (") for name in overall["run_name"]
    ]
    assert "SeT, sensitivity test, with all options at their defaults" in " ".join(document.method)
    for run in (published, released):
        assert f"Run {run.pk} remarks: {REMARK}" in document.caveats


def test_many_remarks_are_counted_once_and_cut() -> None:
    run = {"number": 4, "notices": ["first", "first", *(f"group {i}" for i in range(9))]}
    found = remarks([run, {"number": 5}])
    assert found[:2] == ("Run 4 remarks: first", "Run 4 remarks: group 0")
    assert found[8:] == ("Run 4 has 2 more remarks on its page.",)


@pytest.mark.parametrize(
    ("measure", "options", "short", "words"),
    [
        ("set", {"gamma": 2.0}, "margin 2.0", "with the options margin “2.0”, all others at"),
        ("ilps_star", {"renorm": None}, "", "with all options at their defaults"),
        ("ilps_star", {"renorm": "class"}, "class", "options renormalization “class”, all"),
        ("measure_of_old", {"prior": "noun"}, "", "with the options prior noun"),
    ],
    ids=["number", "none", "choice", "unregistered"],
)
def test_options_in_words(measure, options, short, words):
    run = {"measure": measure, "parameters": options}
    assert short_options(run) == short
    assert words in options_in_words(run)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("alignment_subgroups", {}),
        ("template_selection", {"splits": 100, "pilot_groups": "man"}),
    ],
    ids=["subgroups", "selection"],
)
def test_report_on_templates_says_what_mention_explains(study, released, kind, options):
    _, document = compute(kind, Chosen(study=study, runs=(released,)), **FEW, **options)
    assert any("mere mention explains 100 %" in line for line in document.caveats)


def test_comparison_says_for_every_run_what_mention_explains(study, scored_run, released):
    without = {group: row for group, row in ALIKE.items() if group != "unmarked"}
    bare = with_options(scored_run(scores=without), PUBLISHED)
    _, document = compute(
        "alignment_comparison", Chosen(study=study, runs=(bare, released)), **FEW, splits=100
    )
    mention = document.frames["mention"].set_index("run")
    assert list(mention.index) == [released.public_id]
    assert mention.loc[released.public_id, "explained"] == pytest.approx(1)
    assert mention.loc[released.public_id, "n_cells"] == 2 * 3
    assert any("no unmarked sentence" in str(block) for block in document.blocks)
    other = with_options(scored_run(scores=without), RELEASED)
    _, document = compute(
        "alignment_comparison", Chosen(study=study, runs=(bare, other)), **FEW, splits=100
    )
    assert "mention" not in document.frames
