"""A made-up dialect with one fixed rule, and a tiny model that can copy but does not know the rule.

The rule: a progressive loses its copula, and its -ing becomes -in', so that “the boy is walking at
home” is “the boy walkin' at home”. It imitates no speech of anybody. A model that repeats its
input gets most words right and all progressives wrong.

A model of this size must first learn to read and write at all, so it is trained before on copying
other sentences; none of those is in the pairs of the dialect.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from rouge_score.rouge_scorer import RougeScorer
from transformers import T5Config, T5ForConditionalGeneration, T5Tokenizer

from probing.training.rewriting_examples import EncodedExample
from probing.training.schedule import TrainingSettings
from probing.training.trainable import WritingTask
from probing.training.trainer import run_training
from probing.training.weights import save_weights

SUBJECTS = {
    **dict.fromkeys(("he", "she", "the boy", "the girl", "my friend", "the teacher"), "is"),
    **dict.fromkeys(("they", "we", "you", "our dogs"), "are"),
}
VERBS = (
    *("walk", "read", "play", "sing", "cook", "draw", "paint", "work"),
    *("jump", "eat", "look", "call", "wait", "clean", "turn", "help"),
)
PLACES = (
    *("at home", "in the park", "near the river", "by the lake", "after school"),
    *("on the street", "all day", "every night", "with friends", "outside"),
)
PROMPT = "rewrite {source} as {target} : {text}"
VARIETIES = ("DIALECT", "STANDARD")
TRAINING, EVALUATION, COPIES = 72, 40, 700


@dataclass(frozen=True)
class DialectPair:
    """A sentence in the dialect and in the standard."""

    dialect: str
    standard: str


@dataclass(frozen=True)
class Sentences:
    """Pairs to train on, pairs to evaluate, and others that are only copied."""

    training: tuple[DialectPair, ...]
    evaluation: tuple[DialectPair, ...]
    copied: tuple[DialectPair, ...]


def compose_sentences() -> Sentences:
    """Return all sentences of the grammar, in an order by lot, cut into three."""
    pairs = [
        DialectPair(f"{who} {verb}in' {where}", f"{who} {SUBJECTS[who]} {verb}ing {where}")
        for who in SUBJECTS
        for verb in VERBS
        for where in PLACES
    ]
    random.Random(1).shuffle(pairs)
    first, second = TRAINING, TRAINING + EVALUATION
    return Sentences(
        tuple(pairs[:first]), tuple(pairs[first:second]), tuple(pairs[second : second + COPIES])
    )


def build_copying_model(folder: Path) -> None:
    """Train a tiny T5 to copy sentences after the prompt, a few seconds on one thread."""
    tokenizer = _tokenizer()
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=64,
        d_kv=16,
        d_ff=128,
        num_layers=2,
        num_decoder_layers=2,
        num_heads=4,
        dropout_rate=0.0,
        decoder_start_token_id=tokenizer.pad_token_id,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    copies = [
        EncodedExample(tuple(tokenizer.encode(prompt)), tuple(tokenizer.encode(text)))
        for pair in compose_sentences().copied
        for text, prompt in zip((pair.dialect, pair.standard), prompts_of(pair), strict=True)
    ]
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model = T5ForConditionalGeneration(config)
        run_training(
            WritingTask(model, "seq2seq", copies, padding=tokenizer.pad_token_id),
            train=range(len(copies)),
            held_out=(),
            settings=TrainingSettings(
                learning_rate=0.01, epochs=9, batch_size=32, warmup_share=0.1
            ),
            workspace=folder.parent / f"{folder.name}-checkpoints",
            recipe="copying",
            report=lambda point: None,
        )
    finally:
        torch.set_num_threads(before)
    model.config.dropout_rate = 0.05  # so that what is trained from it depends on random numbers
    save_weights(model, tokenizer, folder)


def prompts_of(pair: DialectPair) -> tuple[str, str]:
    """Return the prompts that ask for the standard and for the dialect."""
    dialect, standard = VARIETIES
    return (
        PROMPT.format(source=dialect, target=standard, text=pair.dialect),
        PROMPT.format(source=standard, target=dialect, text=pair.standard),
    )


def mean_rouge(folder: Path, pairs: Sequence[DialectPair]) -> tuple[float, float]:
    """Return the mean Rouge-1 F of what the model in `folder` writes, into each variety.

    Written greedily with transformers and scored with rouge-score: nothing of the platform.
    """
    tokenizer = T5Tokenizer.from_pretrained(folder)
    model = T5ForConditionalGeneration.from_pretrained(folder).eval()
    asked = [prompts_of(pair) for pair in pairs]
    scores = []
    for direction in (0, 1):
        batch = tokenizer([both[direction] for both in asked], return_tensors="pt", padding=True)
        with torch.no_grad():
            written = model.generate(**batch, max_new_tokens=20, do_sample=False, num_beams=1)
        texts = tokenizer.batch_decode(written, skip_special_tokens=True)
        wanted = [(pair.standard, pair.dialect)[direction] for pair in pairs]
        scores.append(rouge_1(texts, wanted))
    return scores[0], scores[1]


def rouge_1(texts: Sequence[str], wanted: Sequence[str]) -> float:
    scorer = RougeScorer(["rouge1"])
    found = [scorer.score(b, a)["rouge1"].fmeasure for a, b in zip(texts, wanted, strict=True)]
    return sum(found) / len(found)


def _tokenizer() -> T5Tokenizer:
    """Cover every word; progressives are a stem and an ending."""
    words = {word for text in (*SUBJECTS, *SUBJECTS.values(), *PLACES) for word in text.split()}
    words |= {*VERBS, *VARIETIES, "rewrite", "as", ":"}
    special = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", -20.0)]
    pieces = [*(f"▁{word}" for word in sorted(words)), "ing", "in'"]
    vocabulary = [*special, *((piece, -2.0) for piece in pieces), ("▁", -9.0)]
    return T5Tokenizer(vocab=vocabulary, extra_ids=0)
