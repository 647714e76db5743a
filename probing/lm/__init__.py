"""Language models behind narrow interfaces: no Django, and no torch before a model is loaded."""

from probing.lm.errors import (
    ContextTooLongError,
    DeviceError,
    LanguageModelError,
    MaskCountError,
    ModelFilesError,
    ModelNotFoundError,
    TokenizerError,
    UnknownWordError,
    WrongModelKindError,
)
from probing.lm.loading import load_masked, load_tokenizer
from probing.lm.protocols import SlotBatch, SlotContext, SlotModel, SlotTokenizer, Subwords
from probing.lm.sources import ModelFacts, inspect_model

__all__ = [
    "ContextTooLongError",
    "DeviceError",
    "LanguageModelError",
    "MaskCountError",
    "ModelFacts",
    "ModelFilesError",
    "ModelNotFoundError",
    "SlotBatch",
    "SlotContext",
    "SlotModel",
    "SlotTokenizer",
    "Subwords",
    "TokenizerError",
    "UnknownWordError",
    "WrongModelKindError",
    "inspect_model",
    "load_masked",
    "load_tokenizer",
]
