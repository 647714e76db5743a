"""Which families are read right: python -m tests.probing.lm.zoo_table --write makes the page."""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from probing.lm.errors import LanguageModelError
from probing.lm.loaders import (
    load_slot_model,
    load_slot_tokenizer,
    load_text_model,
    load_text_tokenizer,
)
from probing.lm.protocols import SlotContext, SpanText
from probing.lm.text_protocols import GenerationSettings
from tests.probing.lm.zoo import (
    BEAMS,
    CONTEXTS,
    TEXTS,
    WORDS,
    WRITTEN,
    Family,
    Plain,
    all_families,
    build,
)

PAGE = Path(__file__).parents[3] / "docs" / "models.md"
TOLERANCE = 1e-4
_COLUMNS = ("slot", "sensitivity", "embedding", "end", "text", "writing")
_ABILITIES = ("word_logprobs", "slot", "embed", "end_word", "text_logprob", "generate")
_SCALED = "its output layer scales or caps its logits"

_HEAD = """# Model families

Every family of the installed transformers ({version}) that has a masked or causal language model,
or an encoder and decoder of texts, and can be built tiny. `make zoo` builds each with random
weights, reads it with Stereoscope, and compares with plain transformers reading each text alone.
*Right* means equal to 1e-4 (writing: the same tokens, greedy and by three beams); *no* means
refused before a run exists, with the reason in the last column. Masked models do not write, which
needs no reason.

| column | measures that need it |
| --- | --- |
| slot | ILPS, ILPS* and other measures that read a word in a template |
| sensitivity | SeT, which needs an output layer that does not scale or cap its logits |
| embedding | CEAT |
| end | matched guise, and answers read from probabilities |
| text | perplexity and pseudo-perplexity |
| writing | counterparts, direct rating, and other measures that generate text |

A family that is not listed, or published with its own code, goes through the same trial at
registration: `register_model` accepts it or states the reason.

| family | head | slot | sensitivity | embedding | end | text | writing | reason |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""


class _Checks:
    """What Stereoscope gives for a checkpoint beside what transformers gives."""

    def __init__(self, folder: Path, plain: Plain) -> None:
        self.folder, self.plain = folder, plain
        self.loaded: dict[str, Any] = {}

    def _model(self, load_facts: Any, load: Any, ability: str) -> Any:
        # The facts first: a refusal has to come before weights are read.
        facts = load_facts(self.folder)
        if ability not in getattr(facts, "abilities", (ability,)):
            return None
        if load.__name__ not in self.loaded:
            self.loaded[load.__name__] = load(self.folder, threads=1)
        return self.loaded[load.__name__]

    def check(self, ability: str) -> str:
        """Return "right", "no" or what is wrong; raises LanguageModelError for a refusal."""
        slot = ability in ("word_logprobs", "slot", "embed")
        load_facts: Any = load_slot_tokenizer if slot else load_text_tokenizer
        lm = self._model(load_facts, load_slot_model if slot else load_text_model, ability)
        if lm is None:
            return "no"
        given, wanted = getattr(self, f"_{ability}")(lm)
        if isinstance(wanted, list):
            return "right" if given == wanted else f"WRONG: {given}, expected {wanted}"
        if np.shape(given) != np.shape(wanted):
            return f"WRONG: {np.shape(given)} values, expected {np.shape(wanted)}"
        error = float(np.abs(given - wanted).max())
        return "right" if error <= TOLERANCE else f"WRONG by {error:.2g}"

    def _word_logprobs(self, lm: Any) -> Any:
        contexts = [SlotContext(before, after) for before, after in CONTEXTS]
        return lm.word_logprobs(contexts, WORDS), self.plain.words()

    def _slot(self, lm: Any) -> Any:
        contexts = [SlotContext(before, after) for before, after in CONTEXTS]
        found = np.zeros((len(CONTEXTS), len(WORDS)))
        head = self.plain.model.get_output_embeddings()
        for batch in lm.slot(contexts, WORDS):
            # The weights that SeT differentiates have to make the logits that it is given.
            with torch.inference_mode():
                logits = torch.nn.functional.linear(torch.from_numpy(batch.hidden), head.weight)
            bias = batch.logits[:, :1] * 0
            if batch.has_bias:
                bias = (batch.logits - logits.numpy()).mean(axis=0, keepdims=True)
            values = torch.log_softmax(logits.double() + torch.from_numpy(bias), dim=-1).numpy()
            np.add.at(found, (batch.context, batch.word), values[batch.row, batch.target])
        return found, self.plain.words()

    def _embed(self, lm: Any) -> Any:
        return lm.embed([SpanText(text, 0, 3) for text in TEXTS]), self.plain.states()

    def _end_word(self, lm: Any) -> Any:
        ends = lm.open_ends([before.rstrip() for before, _ in CONTEXTS], WORDS)
        return lm.end_logprobs(ends), self.plain.ends()

    def _text_logprob(self, lm: Any) -> Any:
        return np.concatenate(lm.token_logprobs(TEXTS)), self.plain.texts()

    def _generate(self, lm: Any) -> Any:
        found = []
        for beams in (1, BEAMS):
            asked = GenerationSettings(max_new_tokens=WRITTEN, temperature=0, beams=beams)
            found += [text.text for text in lm.generate(TEXTS, asked, seeds=[0] * len(TEXTS))]
        decode: Any = self.plain.tokenizer.decode
        wanted = [*self.plain.greedy(), *self.plain.beams()]
        return found, [decode(ids, skip_special_tokens=True).strip() for ids in wanted]


def row_of(family: Family, folder: Path) -> str:
    """Return the family's line of the table. Raises what transformers raises if it is not built."""
    _quiet()
    checks = _Checks(build(family, folder), Plain(family, folder))
    found, reasons = [], []
    for ability in _ABILITIES:
        try:
            found.append(checks.check(ability))
        except LanguageModelError as error:
            found.append("no")
            reasons.append(_short(str(error), folder))
    if found[:2] == ["right", "no"]:
        reasons.append(_SCALED)
    if not reasons and found[0] == "no":
        reasons.append("it has no hidden span, such as `<extra_id_0>`, that a word could fill")
    reason = "; ".join(dict.fromkeys(reasons))
    return f"| {family.name} | {family.architecture} | {' | '.join(found)} | {reason} |"


def _short(message: str, folder: Path) -> str:
    """Return the first sentence of a refusal without the name of the folder."""
    own = message.replace(f"'{folder}' is", "it is").replace(f"'{folder}'", "the model")
    return own.split(". ")[0].rstrip(".").replace("|", "/").replace("\n", " ")


def _quiet() -> None:
    warnings.simplefilter("ignore")
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()


def _rows() -> Iterator[tuple[Family, str]]:
    for family in all_families():
        with tempfile.TemporaryDirectory() as folder:
            try:
                yield family, row_of(family, Path(folder))
            except Exception as error:  # each family checks its settings in its own way
                yield family, f"not built: {str(error).splitlines()[0]}"


def main() -> int:
    """Print the table, or write the page; 1 if a value is wrong."""
    _quiet()
    torch.set_num_threads(1)
    lines, unbuilt, wrong = [], [], 0
    for family, row in _rows():
        if not row.startswith("|"):
            unbuilt.append(f"{family.name} ({family.kind})")
        else:
            lines.append(row)
            wrong += "WRONG" in row
        print(row if row.startswith("|") else f"{family.name}: {row}", flush=True)
    page = _HEAD.format(version=transformers.__version__) + "\n".join(lines) + "\n"
    page += f"\nNot built tiny, so not compared: {', '.join(unbuilt)}.\n"
    if "--write" in sys.argv:
        PAGE.write_text(page, encoding="utf-8")
    print(f"{len(lines)} compared, {wrong} wrong, {len(unbuilt)} not built")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
