"""Every family of models through the engine, with the tokenizer that its checkpoints come with.

Expected values are transformers' own: one unpadded sentence at a time, straight from methods.md.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from scipy.optimize import minimize_scalar

from probing.measures.registry import MEASURES
from probing.measures.stimuli import Stimuli
from probing.models import LanguageModel, Run, RunStatus
from probing.runs.creation import create_run, dry_run
from probing.runs.language_models import register_model
from probing.runs.stimuli import load_stimuli
from probing.runs.worker import work
from tests.probing.runs.family_checkpoints import FAMILIES, save_checkpoint
from tests.probing.runs.fixtures import scores_of
from tests.probing.runs.sentence_fixtures import GROUPS, TRAITS, make_sentence_run

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

IN_TEMPLATES = [name for name, one in MEASURES.items() if one.stimuli_type is Stimuli]


@pytest.fixture(scope="module", params=FAMILIES)
def folder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, checkpoints: Path
) -> Path:
    target = tmp_path_factory.mktemp("families") / str(request.param)
    return save_checkpoint(target, request.param, shared=checkpoints)


@pytest.fixture
def model(db: None, folder: Path) -> LanguageModel:
    return register_model(location=str(folder))


def stimuli() -> Stimuli:
    return load_stimuli(
        groups=["man", "elderly"],
        templates=["that-group-is-trait", "the-trait-people-are-groups"],
        traits=["unconfident-confident", "low-status-high-status"],
    )


def finished(run: Run) -> Run:
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    return run


def start(
    measure: str, model: LanguageModel, *, on: Stimuli | None = None, **parameters: Any
) -> Run:
    return create_run(
        measure=measure,
        model=model,
        stimuli=on or stimuli(),
        parameters=parameters,
        seed=0,
        created_by=None,
    )


@pytest.mark.parametrize("measure", IN_TEMPLATES)
def test_every_family_is_scored_in_templates(model: LanguageModel, measure: str) -> None:
    tried = dry_run(measure=measure, model=model, stimuli=stimuli(), parameters={})
    assert tried.problems == ()
    scores = scores_of(finished(start(measure, model)))
    assert len(scores) == 2 * 2 * (2 + 1)
    assert all(value is not None and np.isfinite(value) for value, _, _ in scores.values())


def test_every_family_gives_embeddings(model: LanguageModel) -> None:
    scores = scores_of(finished(make_sentence_run(model)))
    found = {
        group: scores["pair_score", group, trait, ""][0] for group in GROUPS for trait in TRAITS
    }
    assert [group for group, value in found.items() if value is None] == ["elderly"]


@pytest.mark.parametrize("slot", ["replaced", "written"])
def test_ilps_star_is_the_chain_rule_of_every_familys_own_model(
    model: LanguageModel, folder: Path, slot: str
) -> None:
    scores = scores_of(finished(start("ilps_star", model, slot=slot)))
    loaded = transformers.AutoModelForMaskedLM.from_pretrained(folder, **_head(folder)).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    mask = tokenizer.mask_token
    texts = {
        "that-group-is-trait": ("That {} is ", "."),
        "the-trait-people-are-groups": ("The ", " people are {}."),
    }
    forms = {
        "man": {"that-group-is-trait": "man", "the-trait-people-are-groups": "men"},
        "elderly": {
            "that-group-is-trait": "elderly person",
            "the-trait-people-are-groups": "elderly people",
        },
    }

    def open_slot(before: str, word: str, after: str) -> tuple[list[int], list[int], list[int]]:
        """The sentence with its slot open, the slot's places, and the word's own ids."""
        text = before.replace(mask, "person") + word + after.replace(mask, "person")
        found = tokenizer(text, return_offsets_mapping=True)

        def places(start: int, stop: int) -> list[int]:
            pairs = enumerate(found["offset_mapping"])
            return [n for n, (a, b) in pairs if a < stop and b > max(start - 1, 0) and b > a]

        ids, start = found["input_ids"], text.index(word, len(before) - 1)
        mine = places(start, start + len(word))
        pieces = [ids[place] for place in mine]
        if slot == "written":
            ids = tokenizer(before + " ".join([mask] * len(pieces)) + after)["input_ids"]
            masks = [place for place, token in enumerate(ids) if token == tokenizer.mask_token_id]
            return ids, masks[before.count(mask) :][: len(pieces)], pieces
        opened = [tokenizer.mask_token_id if n in mine else one for n, one in enumerate(ids)]
        if mask in before + after:
            where = before.find(mask) if mask in before else text.rindex("person")
            group = places(where, where + len("person"))
            opened[group[0] : group[-1] + 1] = [tokenizer.mask_token_id]
            mine = [n - (len(group) - 1) * (n > group[0]) for n in mine]
        return opened, mine, pieces

    def logprob(template: str, filler: str, word: str) -> float:
        """ln P(word) in the template, its masks filled from left to right."""
        before, after = (part.replace("{}", filler) for part in texts[template])
        ids, mine, pieces = open_slot(before, word, after)
        total = 0.0
        for place, piece in zip(mine, pieces, strict=True):
            with torch.inference_mode():
                logits = loaded(input_ids=torch.tensor([ids])).logits[0, place]
            total += float(torch.log_softmax(logits.double(), dim=0)[piece])
            ids[place] = piece
        return total

    def score(template: str, group: str, word: str) -> float:
        prior = logprob(template, mask, word)
        return logprob(template, forms[group][template], word) - prior

    for template in texts:
        for group in forms:
            for low, high in (("unconfident", "confident"), ("low-status", "high-status")):
                expected = score(template, group, high) - score(template, group, low)
                value, _, _ = scores["pair_score", group, f"{low}-{high}", template]
                assert value == pytest.approx(expected, abs=1e-4), (template, group, high)


def _head(folder: Path) -> dict[str, Any]:
    return {"legacy": False} if folder.name.startswith("deberta") else {}


# --- causal models --------------------------------------------------------------------------------


@pytest.fixture(params=["gpt2", "opt", "llama"])
def causal(request: pytest.FixtureRequest, db: None, checkpoints: Path) -> LanguageModel:
    return register_model(location=str(checkpoints / f"tiny-{request.param}"))


def left_to_right() -> Stimuli:
    return load_stimuli(
        groups=["man", "elderly"],
        templates=["that-group-is-trait"],
        traits=["unconfident-confident", "low-status-high-status"],
    )


@cache
def own_model(location: str) -> tuple[Any, Any]:
    model = transformers.AutoModelForCausalLM.from_pretrained(location)
    return model.eval(), transformers.AutoTokenizer.from_pretrained(location)


def steps(model: LanguageModel, group: str, word: str) -> list[tuple[Any, Any, int, bool]]:
    """Hidden state, logits and next token for each subword of the word after “That … is”."""
    loaded, tokenizer = own_model(model.location)
    ids = tokenizer.encode(f"That {group} is")
    found = []
    for piece in tokenizer.encode(f"x {word}", add_special_tokens=False)[
        len(tokenizer.encode("x", add_special_tokens=False)) :
    ]:
        head = loaded.get_output_embeddings()
        with torch.no_grad():
            output = loaded(input_ids=torch.tensor([ids]), output_hidden_states=True)
            hidden, logits = output.hidden_states[-1][0, -1], output.logits[0, -1]
            # The last hidden state is the head's own input, after the final norm.
            np.testing.assert_allclose(head(hidden), logits, atol=1e-4)
        found.append((hidden.double().numpy(), logits.double(), piece, head.bias is not None))
        ids.append(piece)
    return found


def test_causal_models_have_ilps_star_by_the_chain_rule(causal: LanguageModel) -> None:
    run = finished(start("ilps_star", causal, on=left_to_right(), prior="noun"))
    scores = scores_of(run)

    def logprob(group: str, word: str) -> float:
        return sum(
            float(torch.log_softmax(logits, dim=0)[piece])
            for _, logits, piece, _ in steps(causal, group, word)
        )

    for group, form in (("man", "man"), ("elderly", "elderly person")):
        for low, high in (("unconfident", "confident"), ("low-status", "high-status")):
            # The prior's “person” is the same for both poles' difference, and stays in it.
            expected = (logprob(form, high) - logprob("person", high)) - (
                logprob(form, low) - logprob("person", low)
            )
            value, _, _ = scores["pair_score", group, f"{low}-{high}", ""]
            assert value == pytest.approx(expected, abs=2e-4)


def test_causal_models_have_set_by_its_definition(causal: LanguageModel) -> None:
    """Δ by minimizing methods.md §5.3 (*) over m alone, with no closed form in it."""
    scores = scores_of(finished(start("set", causal, on=left_to_right(), prior="noun")))

    def change(group: str, word: str) -> float:
        changes = []
        for hidden, logits, piece, has_bias in steps(causal, group, word):
            rivals = np.delete(logits.numpy(), piece)
            u = rivals - float(logits[piece]) + 1.0
            found = minimize_scalar(
                lambda m, u=u: m * m + np.square(np.maximum(0.0, u - m)).sum(),
                bounds=(0.0, max(float(u.max()), 1e-9)),
                method="bounded",
                options={"xatol": 1e-10},
            )
            changes.append(found.fun / (hidden @ hidden + has_bias))
        return max(changes)

    for group, form in (("man", "man"), ("elderly", "elderly person")):
        for low, high in (("unconfident", "confident"), ("low-status", "high-status")):
            expected = np.log(change("person", high) / change(form, high)) - np.log(
                change("person", low) / change(form, low)
            )
            value, _, _ = scores["pair_score", group, f"{low}-{high}", ""]
            assert value == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("measure", IN_TEMPLATES)
def test_a_causal_model_is_told_what_it_cannot_do_before_any_work(
    causal: LanguageModel, measure: str
) -> None:
    masked = {"prior": "mask"}
    tried = dry_run(measure=measure, model=causal, stimuli=left_to_right(), parameters=masked)
    assert [problem.where for problem in tried.fatal] == ["parameter prior"]
    backwards = load_stimuli(groups=["man"], templates=["the-trait-people-are-groups"])
    tried = dry_run(measure=measure, model=causal, stimuli=backwards, parameters={"prior": "noun"})
    assert [problem.where for problem in tried.fatal] == ["template the-trait-people-are-groups"]
    assert "reads from left to right" in tried.fatal[0].message
