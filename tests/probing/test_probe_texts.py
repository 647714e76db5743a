"""``manage.py probe`` on the texts of a corpus."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Corpus, Counterpart
from probing.models import Run, RunStatus
from tests.probing.runs.fixtures import one_thread  # noqa: F401
from tests.probing.runs.text_fixtures import ARROW, add_pair, corpus  # noqa: F401

pytestmark = [pytest.mark.django_db, pytest.mark.shared]


def probe(*arguments: str) -> str:
    """Run the command as the shell does and return what it printed."""
    out = StringIO()
    call_command("probe", *arguments, stdout=out)
    return out.getvalue()


def test_counterparts_are_written_here_and_printed(
    corpus: Corpus,  # noqa: F811
    checkpoints: Path,
) -> None:
    add_pair(corpus, "odd", ("[bold]he be here", "[bold]he is here"))
    printed = probe(
        *("--measure", "counterpart_generation", "--model", str(checkpoints / "tiny-t5")),
        *("--corpus", corpus.name, "--prompt", ARROW, "--local", "--seed", "5"),
        *("--param", "max_new_tokens=5", "--param", "directions=to_target"),
    )
    run = Run.objects.get()
    assert run.status == RunStatus.FINISHED
    assert run.corpus == corpus
    assert "5 pairs of texts, prompts short-arrow, 1 shard." in printed
    assert "Into WME: 5 written" in printed
    assert "[bold]he be here" in printed
    assert f"Run {run.pk} is finished: 5 counterparts stored." in printed
    assert Counterpart.objects.count() == 5


def test_span_scores_are_printed_for_each_variety(
    corpus: Corpus,  # noqa: F811
    checkpoints: Path,
) -> None:
    printed = probe(
        *("--measure", "span_prediction", "--model", str(checkpoints / "tiny-t5"), "--local"),
        *("--corpus", corpus.public_id, "--source", "blogs", "--param", "conditions=random"),
    )
    # 2 quantities x 2 pairs x 2 varieties x 5 trials.
    assert "40 scores stored" in printed
    assert printed.count("span_perplexity") == printed.count("top5_entropy") == 2


def test_a_dry_run_on_texts_stores_nothing(
    corpus: Corpus,  # noqa: F811
    checkpoints: Path,
) -> None:
    printed = probe(
        *("--measure", "counterpart_generation", "--model", str(checkpoints / "tiny-t5")),
        *("--corpus", corpus.name, "--limit", "3", "--dry-run"),
    )
    # A sequence model is asked with the instruction alone; 3 texts in 2 directions.
    assert "3 pairs of texts, prompts translate-aave-sae: 2 shards, 6 forward passes" in printed
    assert not Run.objects.exists()


def test_pairs_are_drawn_per_source(
    corpus: Corpus,  # noqa: F811
    checkpoints: Path,
) -> None:
    probe(
        *("--measure", "counterpart_generation", "--model", str(checkpoints / "tiny-t5")),
        *("--corpus", corpus.name, "--per-source", "1", "--no-wait"),
    )
    pairs = Run.objects.get().stimuli["pairs"]
    assert sorted(pair["origin"] for pair in pairs) == sorted({pair["origin"] for pair in pairs})
    assert {"blogs", "CORAAL"} <= {pair["origin"] for pair in pairs}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Choose a corpus"),
        (["--corpus", "nothing"], "There is no corpus “nothing”, expected one of: “Short texts”"),
        (["--corpus", "Short texts", "--prompt", "x"], "There is no prompt “x”"),
        (["--corpus", "Short texts", "--source", "x"], "drawn from “x”"),
        (["--corpus", "Short texts", "--param", "temperature=hot"], "temperature is “hot”"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    corpus: Corpus,  # noqa: F811
    checkpoints: Path,
    arguments: list[str],
    said: str,
) -> None:
    model = ["--model", str(checkpoints / "tiny-t5")]
    with pytest.raises(CommandError) as caught:
        probe("--measure", "counterpart_generation", *model, *arguments)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not Run.objects.exists()
