"""Short trials of a model: whether it reads from left to right, and whether its caches hold.

Architectures say too little: XLNet and BERT have heads named after causal ones, some caches cannot
be copied, and some output layers scale or cap their logits. A pass over a few tokens tells. What
does not depend on the weights is tried on a small model of the same configuration with random
ones, so that a model is refused before a run is stored and before gigabytes are read.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from textwrap import shorten
from threading import get_ident
from typing import Any

import torch

from probing.lm.errors import ModelFilesError, WrongModelKindError
from probing.lm.families import supported_families
from probing.lm.sources import ModelFacts
from probing.lm.weights import quiet_transformers, read_config

#: Tokens of a trial, and the share of the logits' spread by which two readings may differ.
_TOKENS = 12
_TOLERANCE, _HALF_TOLERANCE = 1e-3, 5e-2
#: Weights of the largest model that is built for a trial (0.8 GB), and the size of smaller ones.
MOST_WEIGHTS = 200_000_000
_FEW_LAYERS, _MOST_LAYERS, _FEW_TOKENS = 2, 8, 1024
#: By what a wide model is divided, and the width that it is brought down to.
_NARROW = (2, 4, 8, 16, 32)
_WIDTH = 512
#: Ends of names of settings that are divided together, and names of the widths between layers.
_WIDTHS = (
    *(
        "num_attention_heads",
        "n_head",
        "n_heads",
        "num_heads",
        "linear_num_value_heads",
        "linear_num_key_heads",
    ),
    *("hidden_size", "n_embd", "d_model", "word_embed_proj_dim", "lru_width", "d_ssm"),
)
_INNER_WIDTHS = ("ffn_dim", "d_ff", "inner_size", "n_inner", "ffn_hidden_size")
#: Times a hidden state, so that its logits are larger than any that a cap leaves alone.
_FAR = 100.0

#: What a pass may raise that a cache does not support; each family has its own.
PASS_ERRORS = (AttributeError, LookupError, RuntimeError, TypeError, ValueError)


@dataclass(frozen=True)
class Examination:
    """What the trials of a configuration found.

    Attributes
    ----------
    plain_head : whether logits are the products of hidden states and the output layer's weights.
    tried : whether any model could be built of it that is small enough for a trial.
    """

    plain_head: bool = True
    tried: bool = True


_examined: dict[str, Examination] = {}


def examine(facts: ModelFacts) -> Examination:
    """Try out the configuration of a causal model, once for each process and configuration.

    Raises
    ------
    WrongModelKindError
        It does not read from left to right, or transformers has no causal model of its family.
    ModelFilesError
        Its configuration makes no model that can read.
    """
    config = read_config(facts)
    key = config.to_json_string(use_diff=False)
    if key not in _examined:
        _examined[key] = _examine(facts, config)
    return _examined[key]


def build_copy(facts: ModelFacts) -> Any:
    """Return a model of random weights with the same kinds of layers, at most `MOST_WEIGHTS`.

    It has fewer layers and tokens and is narrower than its configuration says if that is too
    large. None if no such model can be built. Raises as :func:`examine` does.
    """
    return _build_causal(facts, read_config(facts))


def examine_masked(facts: ModelFacts) -> None:
    """Try out the configuration of a masked model whose head is in no table, once as above.

    Raises
    ------
    WrongModelKindError
        It cannot be read row by row in batches; the message says which trial failed.
    ModelFilesError
        Its configuration makes no model that can read.
    """
    from transformers import MODEL_FOR_MASKED_LM_MAPPING, AutoModelForMaskedLM

    config = read_config(facts)
    key = f"masked {config.to_json_string(use_diff=False)}"
    if key not in _examined:
        if type(config) not in MODEL_FOR_MASKED_LM_MAPPING:
            raise _unsupported(facts, "transformers has no masked language model of it")
        model = _build(config, AutoModelForMaskedLM)
        if model is None:
            raise _unsupported(facts, "it cannot be tried out on this machine")
        try:
            with torch.inference_mode():
                fault = _fault_of_masked(model)
        except PASS_ERRORS as error:
            raise _failed_trial(facts, error) from error
        if fault:
            raise _unsupported(facts, fault)
        _examined[key] = Examination()


def _fault_of_masked(model: Any) -> str | None:
    """Return why a masked model cannot be read in batches at its masks, None if it can."""
    if not isinstance(model.get_output_embeddings(), torch.nn.Linear):
        return "its output layer cannot be read at single places"
    ids = trial_ids(model, _TOKENS + 1)
    row = torch.tensor([ids[:_TOKENS]], device=model.device)
    other = torch.tensor([[*ids[: _TOKENS - 1], ids[_TOKENS]]], device=model.device)
    attended = torch.ones_like(row)
    alone = model(input_ids=row, attention_mask=attended).logits
    if not alike(alone, model(input_ids=row, attention_mask=attended).logits):
        return "the same text gives other values each time"
    changed = model(input_ids=other, attention_mask=attended).logits
    if alike(alone[:, :-1], changed[:, :-1]):
        return "a later token does not change the logits of earlier ones"
    padded = torch.nn.functional.pad(row, (0, _TOKENS), value=model.config.pad_token_id or 0)
    attended = torch.nn.functional.pad(attended, (0, _TOKENS))
    if not alike(alone, model(input_ids=padded, attention_mask=attended).logits[:, :_TOKENS]):
        return "padding beside a longer text changes its values"
    if not has_plain_head(model, input_ids=row):
        return "its output layer scales or caps its logits"
    return None


def _unsupported(facts: ModelFacts, reason: str) -> WrongModelKindError:
    return WrongModelKindError(
        f"'{facts.source}' is a masked language model of the family '{facts.family}', which is not "
        f"supported: {reason}. Supported families: {supported_families()}, and others that pass a "
        "trial of their values."
    )


def _failed_trial(facts: ModelFacts, error: Exception) -> ModelFilesError:
    from transformers import __version__

    return ModelFilesError(
        f"transformers {__version__} can't run a model of the family '{facts.family}' as the "
        f"configuration of '{facts.source}' describes it ({describe_fault(error)}). Check the "
        "sizes and kinds of layers in its config.json, or save the model again with this version."
    )


def describe_fault(error: Exception) -> str:
    """Return the kind and the first line of an error that a model's own code raised."""
    line = next(iter(str(error).strip().splitlines()), "").rstrip(".")
    return shorten(f"{type(error).__name__}: {line}", 160, placeholder=" …")


def require_left_to_right(model: Any, source: str) -> None:
    """Raise :class:`WrongModelKindError` if a later token changes the logits of an earlier one."""
    ids = trial_ids(model, _TOKENS + 1)
    rows = torch.tensor([ids[:_TOKENS], [*ids[: _TOKENS - 1], ids[_TOKENS]]], device=model.device)
    with torch.inference_mode():
        first, second = (model(input_ids=row[None]).logits[:, : _TOKENS - 1] for row in rows)
    if not alike(first, second):
        raise WrongModelKindError(
            f"'{source}' is no causal language model: a later token changes the logits of earlier "
            "ones, so it reads in both directions. Choose a model that reads from left to right, "
            "such as 'gpt2', or a masked checkpoint of this family."
        )


def trial_ids(model: Any, number: int) -> list[int]:
    """Return as many ids of tokens as a trial reads, none of which pads or ends a text."""
    embeddings = model.get_input_embeddings().weight
    config = model.config.get_text_config()
    special = {getattr(config, f"{name}_token_id", None) for name in ("pad", "bos", "eos")}
    usable = [token for token in range(min(len(embeddings), 4096)) if token not in special]
    return [usable[(7 + 13 * place) % len(usable)] for place in range(number)]


def alike(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Whether two readings of the same tokens differ by rounding alone."""
    half = torch.finfo(first.dtype).bits < 32
    one, other = first.double(), second.double()
    most = float(one.std()) * (_HALF_TOLERANCE if half else _TOLERANCE)
    return bool((one - other).abs().max() <= most)


def agrees(reading: Callable[[], torch.Tensor], expected: torch.Tensor) -> bool:
    """Whether a reading is possible and gives the expected logits."""
    try:
        return alike(expected, reading())
    except PASS_ERRORS:
        return False


def read_at(
    model: Any, places: torch.Tensor, **inputs: Any
) -> tuple[torch.Tensor | None, torch.Tensor]:
    """Return the output layer's input and the logits at one place of each row, (n_rows, …).

    Of several places, (n_rows, n_places), they are those at each: (n_rows, n_places, …).

    The logits are the model's own, scaled or capped as its family does. The output layer reads the
    places alone: all others would fill the memory. The input is None where the model's head is no
    module that could be watched.
    """
    seen: list[torch.Tensor] = []
    own = get_ident()
    apart = places if places.ndim > 1 else places[:, None]
    rows = torch.arange(len(places), device=places.device)[:, None]

    def choose(_: Any, given: tuple[Any, ...]) -> tuple[Any, ...] | None:
        if get_ident() != own:
            return None
        seen.append(given[0][rows, apart])
        return (seen[0], *given[1:])

    hook = model.get_output_embeddings().register_forward_pre_hook(choose)
    try:
        logits: torch.Tensor = model(**inputs).logits
    finally:
        hook.remove()
    chosen = logits if seen else logits[rows, apart]
    states = seen[0] if seen else None
    if places.ndim > 1:
        return states, chosen
    return None if states is None else states[:, 0], chosen[:, 0]


def body_of(model: Any) -> Any:
    """Return what is below a causal model's output layer; it gives states and caches.

    Some families name no attribute for it, and are their own decoder.
    """
    for body in (model.base_model, model.get_decoder(), getattr(model, "model", model)):
        if body is not model:
            return body
    raise WrongModelKindError(
        f"A model of the class '{type(model).__name__}' has no part below its output layer by "
        "itself, so its states cannot be read. Choose a model of another family."
    )


def _examine(facts: ModelFacts, config: Any) -> Examination:
    model = _build_causal(facts, config)
    if model is None:  # too large to try here: the weights themselves are tried when they load
        return Examination(tried=False)
    try:
        body_of(model)
        require_left_to_right(model, facts.source)
        return Examination(plain_head=has_plain_head(model, input_ids=trial_row(model)))
    except PASS_ERRORS as error:
        raise _failed_trial(facts, error) from error


def _build_causal(facts: ModelFacts, config: Any) -> Any:
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, AutoModelForCausalLM

    if type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        raise WrongModelKindError(
            f"'{facts.source}' is of the family '{facts.family}', of which transformers has no "
            "causal language model. Choose a model of another family."
        )
    return _build(config, AutoModelForCausalLM)


def _build(config: Any, loader: Any) -> Any:
    """Return a model with random weights, smaller than its configuration says if that is large."""
    for alter in (copy.deepcopy, narrow, _shorten):
        # Each family checks its settings in its own way, and not all can be made smaller.
        with quiet_transformers(), torch.random.fork_rng(devices=[]), suppress(Exception):
            settings = alter(config)
            with torch.device("meta"):
                weights = loader.from_config(settings, dtype=torch.float32)
            if sum(weight.numel() for weight in weights.parameters()) > MOST_WEIGHTS:
                continue
            torch.manual_seed(0)
            model = _spread(loader.from_config(settings, dtype=torch.float32))
            if alter is not copy.deepcopy:
                with torch.inference_mode():  # sizes that do not fit together show here
                    model(input_ids=trial_row(model))
            return model
    return None


def _shorten(config: Any) -> Any:
    """Return a configuration with fewer tokens and fewer layers, one of each kind among them."""
    small = copy.deepcopy(config)
    own = small.get_text_config()
    layers = getattr(own, "num_hidden_layers", None) or 0
    stated = vars(own)
    kinds = getattr(own, "layer_types", None) or []
    # Every so many layers are of another kind.
    every = [
        value
        for name, value in stated.items()
        if name.endswith(("_period", "_pattern", "_interval", "_freq", "_step"))
        and type(value) is int
        and value <= layers
    ]
    firsts = [kinds.index(kind) for kind in dict.fromkeys(kinds)]
    kept = sorted({*range(_FEW_LAYERS), *firsts})
    if every:  # which layer is of which kind follows from its place, so none may be skipped
        kept = list(range(min(max(*every, *kept) + 1, _MOST_LAYERS)))
    kept = [place for place in kept if place < layers]
    for name, value in list(stated.items()):
        if isinstance(value, list) and len(value) == layers:
            setattr(own, name, [value[place] for place in kept])
    own.num_hidden_layers = len(kept)
    own.vocab_size = min(own.vocab_size, _FEW_TOKENS)
    own.pad_token_id = None
    return small


def narrow(config: Any) -> Any:
    """Return a short configuration with fewer heads and experts, each as wide as before."""
    small = _shorten(config)
    own = small.get_text_config()
    stated = {name: value for name, value in vars(own).items() if type(value) is int and value > 1}
    size = own.hidden_size
    inner = [name for name in stated if "intermediate_size" in name or name in _INNER_WIDTHS]
    parts = [name for name in stated if name.endswith(_WIDTHS) and name not in inner]
    # The widest division after which heads are whole and as many as their keys.
    by = max(
        by
        for by in (1, *_NARROW)
        if size // by >= min(_WIDTH, size) and all(stated[name] % by == 0 for name in parts)
    )
    for name in parts:
        setattr(own, name, stated[name] // by)
    for name, value in stated.items():
        if name.endswith("key_value_heads") or name in ("num_kv_heads", "n_head_kv"):
            setattr(own, name, max(1, value // by))
        elif name in inner:
            setattr(own, name, min(value, 2 * size // by))
        elif name in ("num_experts", "num_local_experts", "n_routed_experts"):
            chosen = getattr(own, "num_experts_per_tok", None) or 1
            groups = getattr(own, "n_group", None) or 1
            setattr(own, name, min(value, max(4, 2 * chosen, 2 * groups)))
    return small


def _spread(model: Any) -> Any:
    """Give matrices numbers large enough that what is read shows in what comes out."""
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 2:
                weight.normal_(0.0, weight.shape[1] ** -0.5)
    return model.eval()


def has_plain_head(model: Any, **inputs: torch.Tensor) -> bool:
    """Whether logits are hidden states times weights, however far those lie from zero."""
    head = model.get_output_embeddings()
    seen: list[torch.Tensor] = []

    def enlarge(_: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
        seen.append(given[0] * _FAR)
        return (seen[0], *given[1:])

    hook = head.register_forward_pre_hook(enlarge)
    try:
        with torch.inference_mode():
            logits = model(**inputs).logits
    finally:
        hook.remove()
    with torch.inference_mode():
        return bool(seen) and alike(head(seen[0]), logits)


def trial_row(model: Any) -> torch.Tensor:
    """Return a short text for a trial, (1, n_tokens)."""
    return torch.tensor([trial_ids(model, _TOKENS)], device=model.device)
