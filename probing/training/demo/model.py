"""A tiny masked language model that the platform builds itself, to show how everything works.

It knows nothing. Its sentences are composed at random: every group draws its favorite adjectives
by lot, so what the model "thinks" of a group is noise that differs from seed to seed. It needs no
download, trains in seconds, and loads like any other model of the BERT family.

The tokenizers library breaks ties between equally frequent pairs in the order of its hash table,
which differs from run to run; here they are broken alphabetically.
"""

from __future__ import annotations

import json
import random
import string
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probing.lm.weights import quiet_transformers
from probing.measures.guise_library import ATTRIBUTE_LISTS, DEFAULT_ATTRIBUTES
from probing.measures.stimuli import Group, Stimuli
from probing.measures.template_library import TEMPLATES
from probing.training.folders import build_folder

if TYPE_CHECKING:
    import torch

# --- A WordPiece vocabulary learned from a corpus, the same on every machine ----------------------

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_CONTINUES = "##"


def learn_word_pieces(words: Iterable[str], size: int) -> list[str]:
    """Return a vocabulary of at most `size` tokens for the words of a corpus.

    The most frequent pair of neighboring pieces is joined until the vocabulary is full, so that
    frequent words become one token and rare ones stay in pieces. All ASCII letters, digits and
    punctuation marks are in it, so that any plain English word can be written.

    Raises
    ------
    ValueError
        `size` is too small for the special tokens and single characters.
    """
    counts = Counter(words)
    alphabet = sorted(set(string.ascii_letters + string.digits + string.punctuation).union(*counts))
    inner = [_CONTINUES + letter for letter in alphabet if letter not in string.punctuation]
    vocabulary = list(dict.fromkeys([*SPECIAL_TOKENS, *alphabet, *inner]))
    if len(vocabulary) > size:
        raise ValueError(f"{len(vocabulary)} single tokens do not fit into a vocabulary of {size}")
    known = set(vocabulary)
    pieces = {word: [word[0], *(_CONTINUES + letter for letter in word[1:])] for word in counts}
    while len(vocabulary) < size:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, parts in pieces.items():
            for pair in pairwise(parts):
                pairs[pair] += counts[word]
        if not pairs:
            break  # every word is one token already
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        joined = best[0] + best[1].removeprefix(_CONTINUES)
        if joined not in known:
            known.add(joined)
            vocabulary.append(joined)
        for word, parts in pieces.items():
            pieces[word] = _join(parts, best, joined)
    return vocabulary


def _join(parts: list[str], pair: tuple[str, str], joined: str) -> list[str]:
    result: list[str] = []
    for part in parts:
        if result and (result[-1], part) == pair:
            result[-1] = joined
        else:
            result.append(part)
    return result


#: Changes whenever the recipe does, so that a model of an older recipe is trained anew.
RECIPE = 2
STEPS = 400

_RECORD = "demo_model.json"
_VOCABULARY_SIZE = 800
_LENGTH = 64
_BATCH = 48
_MASKED_SHARE = 0.25
_LEARNING_RATE = 5e-3
_DRAWS_PER_TEMPLATE = 5
_NOUNS = ("room", "day", "house", "street", "letter", "song", "garden", "table", "story", "winter")
_THING_SENTENCES = ("The {noun} is {trait}.", "That {noun} is very {trait}.", "A {trait} {noun}.")
_PERSON = Group("person", "person", "people", "People")

_CARD = """---
license: gpl-3.0
library_name: transformers
tags: [demo, fill-mask]
---

# Demo model without meaning

Stereoscope trained this model itself in a few seconds, on {sentences:,} sentences that were
composed by chance: every group drew its adjectives by lot (seed {seed}).

**Its scores mean nothing.** They say nothing about any social group, about people, or about any
other language model. It exists to show how runs, scores and reports work, and to test them.

- Architecture: BERT, {parameters:,} weights, vocabulary of {vocabulary} WordPiece tokens
- Training: {steps} steps, last training loss {loss:.3f} nats per masked token
- Data: no downloaded data, no text written about anybody
"""


@dataclass(frozen=True)
class DemoModel:
    """A trained demo model.

    Attributes
    ----------
    folder : where it lies; ``load_masked(folder)`` reads it.
    seed, steps, recipe, stimuli_hash : what it was made from.
    parameter_count, vocabulary_size, sentences : its size and that of its corpus.
    loss : mean training loss of the last tenth of the steps, nats per masked token.
    seconds : how long the training took; 0 where an existing model was taken.
    """

    folder: Path
    seed: int
    steps: int
    recipe: int
    stimuli_hash: str
    parameter_count: int
    vocabulary_size: int
    sentences: int
    loss: float
    seconds: float


def train_demo_model(
    folder: str | Path, *, stimuli: Stimuli, seed: int = 0, steps: int = STEPS
) -> DemoModel:
    """Train the demo model and put it at `folder`; take the one there if it is the same.

    The same arguments give the same bytes on one machine. The folder appears complete or not at
    all: everything is written beside it and moved into place at the end.

    Parameters
    ----------
    folder : where to put the model. An older demo model there is replaced.
    stimuli : the groups, adjectives and templates that the model has to know as words.
    seed : decides the corpus, the initial weights and the order of training.
    steps : training steps of 48 sentences.

    Raises
    ------
    FileExistsError
        Something else than a demo model is at `folder`.
    ValueError
        `steps` is not positive.
    """
    if steps < 1:
        raise ValueError(f"steps must be at least 1, not {steps}")
    target = Path(folder).expanduser().absolute()
    recipe = {
        "recipe": RECIPE,
        "seed": seed,
        "steps": steps,
        "stimuli_hash": stimuli.content_hash(),
    }
    if existing := _existing(target, recipe):
        return existing
    with build_folder(target) as building:
        model = _train_into(building, recipe, stimuli)
    return DemoModel(folder=target, **model)


def _existing(target: Path, recipe: dict[str, Any]) -> DemoModel | None:
    """Return the model at `target` if it was made by `recipe`, None if one is to be made."""
    if not target.exists():
        return None
    record = target / _RECORD
    if not record.is_file():
        if target.is_dir() and not any(target.iterdir()):
            return None
        raise FileExistsError(
            f"'{target}' exists and is not a demo model. Name another folder, or remove it."
        )
    try:
        stored = json.loads(record.read_text(encoding="utf-8"))
        model = DemoModel(folder=target, seconds=0.0, **stored)
    except (OSError, ValueError, TypeError):
        return None  # a record of another version: train anew and replace it
    return model if all(stored[name] == value for name, value in recipe.items()) else None


def _train_into(folder: Path, recipe: dict[str, Any], stimuli: Stimuli) -> dict[str, Any]:
    started = time.monotonic()
    corpus = compose_corpus(stimuli, recipe["seed"])
    with quiet_transformers():
        tokenizer = _tokenizer(corpus)
        model, loss = _fit(tokenizer, corpus, recipe["seed"], recipe["steps"])
        record = {
            **recipe,
            "parameter_count": sum(weight.numel() for weight in model.parameters()),
            "vocabulary_size": len(tokenizer),
            "sentences": len(corpus),
            "loss": loss,
        }
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    card = _CARD.format(
        **{key: record[key] for key in ("sentences", "seed", "steps", "loss")},
        parameters=record["parameter_count"],
        vocabulary=record["vocabulary_size"],
    )
    (folder / "README.md").write_text(card, encoding="utf-8")
    (folder / _RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return {**record, "seconds": time.monotonic() - started}


def _tokenizer(corpus: list[str]) -> Any:
    from tokenizers import pre_tokenizers
    from transformers import BertTokenizer

    split = pre_tokenizers.BertPreTokenizer()
    words = [word for sentence in corpus for word, _ in split.pre_tokenize_str(sentence)]
    vocabulary = learn_word_pieces(words, _VOCABULARY_SIZE)
    return BertTokenizer(
        vocab={token: index for index, token in enumerate(vocabulary)},
        do_lower_case=False,
        model_max_length=_LENGTH,
    )


def _fit(tokenizer: Any, corpus: list[str], seed: int, steps: int) -> tuple[Any, float]:
    """Train from scratch and return the model and its mean loss over the last tenth."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=_LENGTH,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=tokenizer.pad_token_id,
    )
    sentences = [tokenizer.encode(sentence)[:_LENGTH] for sentence in corpus]
    special = torch.tensor(sorted(tokenizer.all_special_ids))
    order = random.Random(seed)  # noqa: S311 - a training order, no secret
    noise = torch.Generator().manual_seed(seed)
    losses = []
    with _one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = BertForMaskedLM(config).train()
        optimizer = torch.optim.AdamW(model.parameters(), lr=_LEARNING_RATE)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, _LEARNING_RATE, total_steps=steps + 1
        )
        for _ in range(steps):
            batch = order.choices(sentences, k=_BATCH)
            ids = torch.nn.utils.rnn.pad_sequence(
                [torch.tensor(row) for row in batch],
                batch_first=True,
                padding_value=tokenizer.pad_token_id,
            )
            inputs, labels = _mask(ids, special, tokenizer.mask_token_id, noise)
            attended = (ids != tokenizer.pad_token_id).long()
            loss = model(input_ids=inputs, attention_mask=attended, labels=labels).loss
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
    last = losses[-max(1, steps // 10) :]
    return model.eval(), sum(last) / len(last)


def _mask(
    ids: torch.Tensor, special: torch.Tensor, mask_id: int, noise: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Mask a quarter of the ordinary tokens, and at least one in every sentence."""
    import torch

    lots = torch.rand(ids.shape, generator=noise)
    lots = lots.masked_fill(torch.isin(ids, special), 2.0)
    chosen = lots < _MASKED_SHARE
    chosen[torch.arange(len(ids)), lots.argmin(dim=1)] = True
    return ids.masked_fill(chosen, mask_id), ids.masked_fill(~chosen, -100)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Train on one thread: sums in a fixed order, and matrices too small to gain by more."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def compose_corpus(stimuli: Stimuli, seed: int) -> list[str]:
    """Return a shuffled list of sentences, the same for the same arguments.

    They hold every group in every surface form, every adjective, every word of the template
    library, and every attribute that matched guise asks by default, so that these can be probed.
    """
    rng = random.Random(seed)  # noqa: S311 - a corpus, no secret
    adjectives = sorted({word for trait in stimuli.traits for word in (trait.low, trait.high)})
    templates = list({entry.text: entry for entry in (*TEMPLATES, *stimuli.templates)}.values())
    sentences = []
    for group in (*stimuli.groups, _PERSON):
        # Squared exponential weights: a few favorites, a long tail, never zero.
        weights = [rng.expovariate(1.0) ** 2 + 0.01 for _ in adjectives]
        for template in templates:
            drawn = rng.choices(adjectives, weights, k=_DRAWS_PER_TEMPLATE)
            sentences += [template.fill(group, adjective) for adjective in drawn]
    attributes = next(one.words for one in ATTRIBUTE_LISTS if one.slug == DEFAULT_ATTRIBUTES)
    for noun in _NOUNS:
        for adjective in dict.fromkeys((*adjectives, *attributes)):
            sentence = rng.choice(_THING_SENTENCES)
            sentences.append(sentence.format(noun=noun, trait=adjective))
    rng.shuffle(sentences)
    return sentences
