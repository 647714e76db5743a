"""A checkpoint of BERT's architecture with weights by chance, and a tokenizer that fits.

Speed depends on the size of a model, not on what it has learned. The tokenizer knows the words of
the sentences, and cuts about a third of the 32 adjectives into two or three pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from annotation.library.abc_model import ALL_GROUPS, GROUP_SETS, TRAIT_PAIRS
from probing.measures.stimuli import Group, Stimuli, Trait
from probing.measures.template_library import get_template

SEED = 0
TEMPLATES = ("that-group-is-trait", "all-groups-are-trait", "groups-should-be-trait")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
#: How the tokenizer cuts 11 of the 32 adjectives; all others are one piece.
PIECES = {
    "low-status": ("low", "-", "status"),
    "high-status": ("high", "-", "status"),
    "science-oriented": ("science", "-", "oriented"),
    "unconfident": ("un", "##conf", "##ident"),
    "unassertive": ("un", "##assert", "##ive"),
    "untrustworthy": ("un", "##trust", "##worthy"),
    "trustworthy": ("trust", "##worthy"),
    "repellent": ("repel", "##lent"),
    "likable": ("lik", "##able"),
    "egotistic": ("ego", "##tistic"),
    "altruistic": ("altru", "##istic"),
}


@dataclass(frozen=True)
class Size:
    """The size of a model of BERT's architecture, and of the run that it is measured on."""

    layers: int
    hidden: int
    heads: int
    vocabulary: int
    groups: int

    def __str__(self) -> str:
        return f"{self.layers} layers of {self.hidden}, {self.vocabulary:,} words"


BERT_LARGE = Size(layers=24, hidden=1024, heads=16, vocabulary=30_522, groups=51)


def make_stimuli(groups: int) -> Stimuli:
    """Return 16 trait pairs, three templates, and the first of the 51 groups of the release."""
    released = next(entry for entry in GROUP_SETS if entry.slug == "cao-2022-released")
    entries = {entry.slug: entry for entry in ALL_GROUPS}
    return Stimuli(
        groups=tuple(Group(*entries[slug][:4]) for slug in released.groups[:groups]),
        traits=tuple(Trait(entry.slug, *entry[:3]) for entry in TRAIT_PAIRS),
        templates=tuple(get_template(slug) for slug in TEMPLATES),
    )


def make_vocabulary(size: int) -> dict[str, int]:
    """Return what the tokenizer knows, filled up with made-up words; ValueError if too small."""
    texts = [template.text for template in make_stimuli(1).templates]
    texts += [form for entry in ALL_GROUPS for form in entry[1:4]]
    texts += [word for entry in TRAIT_PAIRS for word in entry[:2] if word not in PIECES]
    text = " ".join(texts).lower().replace(".", " . ").replace("-", " - ")
    pieces = [piece for cut in PIECES.values() for piece in cut]
    known = dict.fromkeys([*SPECIAL, *pieces, *text.split()])
    if len(known) > size:
        raise ValueError(f"the vocabulary holds {size} words, and {len(known)} are needed")
    made_up = (f"madeup{number}" for number in range(size - len(known)))
    return {word: index for index, word in enumerate([*known, *made_up])}


def save_checkpoint(folder: Path, size: Size) -> None:
    """Write model and tokenizer from a process of its own, so that its memory is not counted."""
    process = get_context("spawn").Process(target=_save, args=(folder, size))
    process.start()
    process.join()
    if process.exitcode:
        raise RuntimeError(f"the checkpoint was not made (exit status {process.exitcode})")


def _save(folder: Path, size: Size) -> None:
    import torch
    from transformers import BertConfig, BertForMaskedLM, BertTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.manual_seed(SEED)
    config = BertConfig(
        vocab_size=size.vocabulary,
        hidden_size=size.hidden,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        intermediate_size=4 * size.hidden,
        max_position_embeddings=512,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    vocabulary = make_vocabulary(size.vocabulary)
    BertTokenizer(vocab=vocabulary, model_max_length=512).save_pretrained(folder)
