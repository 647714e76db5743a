"""Reports on a run that read its groups in sentences: they name the corpus, not templates."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.library.paired_groups import create_paired_groups
from annotation.models import GroupSet, SocialGroup
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from evaluation.reports.requesting import request_report
from probing.models import Run, RunStatus
from probing.runs.language_models import register_model
from probing.runs.worker import work
from tests.evaluation.reports.computing import compute
from tests.probing.conftest import checkpoints  # noqa: F401
from tests.probing.runs.fixtures import one_thread  # noqa: F401
from tests.probing.runs.sentence_fixtures import SENTENCES, make_sentence_run

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

SOURCE = "in up to 1,000 sentences for each word, drawn from 11 of “Ten sentences”"


@pytest.fixture
def run(checkpoints: Path) -> Run:  # noqa: F811
    """CEAT on men, women and the unmarked word in eleven sentences; the elderly do not occur."""
    made = make_sentence_run(
        register_model(location=str(checkpoints / "tiny-bert")),
        sentences=(*SENTENCES, "A person is a person."),
        groups=("man", "woman", "teenager", "elderly", "unmarked"),
    )
    work(worker="w", run=made)
    made.refresh_from_db()
    assert made.status == RunStatus.FINISHED, made.error
    return made


def test_alignment_names_the_corpus_and_leaves_out_the_group_that_does_not_occur(
    rated_study, run: Run
) -> None:
    _, document = compute(
        "alignment", Chosen(study=rated_study(), runs=(run,)), resamples=100, splits=100
    )
    method = " ".join(document.method)
    assert "effect size, how much nearer the group’s embeddings are" in method
    assert SOURCE in method
    assert "template" not in method
    assert any("sentences of one corpus" in line for line in document.caveats)
    cells = document.frames["cells"]
    assert set(cells.loc[cells["model_mean"].notna(), "group"]) == {"man", "woman"}
    assert "elderly people: the group does not occur in the corpus." in document.left_out


def test_markedness_compares_with_the_unmarked_word_of_the_corpus(run: Run) -> None:
    _, document = compute("markedness", Chosen(runs=(run,)), resamples=200)
    method = " ".join(document.method)
    assert SOURCE in method
    assert "“person” or “people” in the same corpus" in method
    explained = document.frames["groups"].set_index("group")["explained"]
    assert explained[["man", "woman", "teenager"]].notna().all()
    assert "elderly" not in explained.dropna().index


def test_intersectional_names_the_corpus_and_the_pairs_that_do_not_occur(
    checkpoints: Path,  # noqa: F811
) -> None:
    group_set = GroupSet.objects.create(slug="few", title="Few")
    group_set.groups.set(SocialGroup.objects.filter(slug__in=["teenager", "wealthy", "veteran"]))
    create_paired_groups(group_set=group_set)
    made = make_sentence_run(
        register_model(location=str(checkpoints / "tiny-bert")),
        sentences=(
            *SENTENCES,
            "Wealthy people are cold.",
            "A wealthy teenager is warm.",
            "Many wealthy teenagers are poor.",
            "Nobody is powerless, and few are powerful.",
        ),
        groups=("teenager", "wealthy", "veteran", "wealthy--teenager", "wealthy--veteran"),
        traits=("powerless-powerful", "poor-wealthy", "cold-warm"),
    )
    work(worker="w", run=made)
    made.refresh_from_db()
    _, document = compute("intersectional", Chosen(runs=(made,)), resamples=200)
    assert "drawn from 14 of “Ten sentences”" in " ".join(document.method)
    orders = document.frames["orders"].set_index("pair")
    assert orders.loc["wealthy--teenager", ["tau_first", "tau_second"]].notna().all()
    assert "wealthy veterans: fewer than three traits have a score of both groups." in (
        document.left_out
    )


def test_there_are_no_templates_to_select(rated_study, run: Run) -> None:
    with pytest.raises(ReportError, match="nothing to choose"):
        request_report(
            kind="template_selection",
            study=rated_study(),
            runs=[run],
            parameters={"pilot_groups": "man"},
        )
