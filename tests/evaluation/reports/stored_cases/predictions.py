"""Cases of classified texts."""

from __future__ import annotations

import pandas as pd

from probing.measures.class_prompt_library import CLASS_PROMPTS
from probing.measures.probe_stimuli import ProbeStimuli
from probing.measures.prompted_stimuli import PromptedStimuli, vars_of
from probing.models import Run, Shard
from probing.runs.parameters import from_parquet, to_parquet
from tests.evaluation.reports.predictions import make_runs as make_prediction_runs
from tests.evaluation.reports.stored_cases.case import FEW, Case, Inputs, names_of, renumber


def _predictions(*models: str) -> tuple[Run, ...]:
    """Return imported predictions of these models, with numbers and names of their own."""
    for number, run in enumerate(make_prediction_runs(models), start=1):
        names = names_of(number)
        renumber(Run, run.pk, names["id"])
        Run.objects.filter(pk=names["id"]).update(public_id=names["public_id"], code_version="0.1")
    return tuple(Run.objects.select_related("model").order_by("pk"))


def _prompted() -> tuple[Run, ...]:
    """Return predictions as a model’s answers: two wordings, three seeds, some without a class."""
    (run,) = _predictions("m1")
    wordings = (CLASS_PROMPTS[0], CLASS_PROMPTS[3])
    stimuli = PromptedStimuli(**vars_of(ProbeStimuli.from_json(run.stimuli)), wordings=wordings)
    shards = list(run.shards.order_by("index"))
    said = [from_parquet(shard.result)["predicted"].tolist() for shard in shards]
    for shard, wording in zip(shards, wordings, strict=True):
        parts = [
            pd.DataFrame(
                {
                    "repeat": f"{wording.slug} · {seed}",
                    "wording": wording.slug,
                    "order": "negative, neutral, positive",
                    "seed": seed,
                    "sentence": range(len(said[0])),
                    "predicted": said[(shard.index + seed) % 2],
                    "matched": [(place + seed) % 5 > 0 for place in range(len(said[0]))],
                    "answer": "",
                }
            )
            for seed in (2024, 2025, 2026)
        ]
        Shard.objects.filter(pk=shard.pk).update(result=to_parquet(pd.concat(parts)))
    Run.objects.filter(pk=run.pk).update(
        measure="prompted_classification",
        parameters={},
        stimuli=stimuli.to_dict(),
        stimuli_hash=stimuli.content_hash(),
    )
    return tuple(Run.objects.select_related("model").order_by("pk"))


CASES: dict[str, Case] = {
    "fpr_gaps": Case("fpr_gaps", lambda: Inputs(runs=_predictions("m1")), FEW),
    "fpr_gaps-prompted": Case("fpr_gaps", lambda: Inputs(runs=_prompted()), FEW),
    "fpr_comparison": Case("fpr_comparison", lambda: Inputs(runs=_predictions("m1", "m2")), FEW),
    "fpr_comparison-released": Case(
        "fpr_comparison",
        lambda: Inputs(runs=_predictions("m1", "m2")),
        {**FEW, "interval": "t", "released_eps": True},
    ),
}
