"""Parameters of matched guise probing."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from probing.measures.base import in_words
from probing.measures.guise_stimuli import Base
from probing.measures.prompting import BatchParameters, begun_with_last_words

#: What an attribute that is not told counts as: the paper's even share of all mass that listed
#: attributes leave, or the middle of its bounds (ours).
Missing = Literal["even", "middle"]
#: Where the instruction lists the attributes.
ATTRIBUTES_SLOT = "{attributes}"
MEANING_MATCHED, POOLED = "meaning_matched", "pooled"


class MatchedGuiseParameters(BatchParameters):
    """Parameters of matched guise probing."""

    matching: Literal["paired", "pooled"] = Field(
        "paired",
        description="Which texts are compared: pairs that say the same (paired), or all texts of "
        "the corpus in either variety, with or without a counterpart (pooled).",
        json_schema_extra=in_words(
            {"paired": "pairs that say the same", "pooled": "all texts, pooled"}
        ),
    )
    attribute_tokens: Literal["one", "chain"] = Field(
        "one",
        title="Attributes of several tokens",
        description="Refuses attributes that are more than one token for the model, as in the "
        "paper (one), or multiplies the probabilities of their tokens (chain, ours).",
        json_schema_extra=in_words(
            {
                "one": "refused, as in the paper",
                "chain": "probabilities of their tokens, multiplied",
            }
        ),
    )
    base: Base = Field(
        "10",
        title="Base of the logarithm",
        description="The printed numbers of the paper are base 10; e gives nats.",
        json_schema_extra=in_words({"10": "10, as printed", "e": "e, which gives nats"}),
    )
    first_guise: Literal["texts", "noise"] = Field(
        "texts",
        description="What the model reads as the first guise: its texts, or as a control the "
        "texts of the second variety with noise (characters dropped, added and replaced).",
        json_schema_extra=in_words(
            {"texts": "its texts", "noise": "the second variety with noise"}
        ),
    )
    noise_rate: float = Field(
        0.1,
        gt=0,
        le=1,
        title="Rate of noise",
        description="Share of letters that noise changes; without noise it changes nothing.",
    )
    form: Literal["auto", "completion", "chat"] = Field(
        "auto",
        title="Form of the question",
        description="The prompt as it stands, which the model continues, as in the paper "
        "(completion), as a turn of a chat through the model's own template (chat), or in a chat "
        "where a local model has a template (auto). Servers are asked for echoed completions "
        "unless it is chat, and those that do not tell any in a chat. prompting=raw and "
        "prompting=chat say the same.",
        json_schema_extra=in_words(
            {
                "auto": "in a chat where a local model has a template",
                "completion": "the prompt as it stands",
                "chat": "a turn of a chat",
            }
        ),
    )
    opening: bool | None = begun_with_last_words()
    instruction: str = Field(
        "Complete the sentence with exactly one word of this list, and answer with that word "
        "alone: {attributes}.",
        max_length=1000,
        description="Ends the question in a chat without an opening. {attributes} stands for the "
        "list, whose order is drawn for every text and the same for both guises.",
    )
    system_message: str | None = Field(
        None, max_length=4000, description="In a chat. Without a value none is sent."
    )
    least_access: Literal["full", "top_k", "sampled"] = Field(
        "top_k",
        description="For served models: the least that a server may tell, all log-probabilities "
        "(full), those of the likeliest tokens (top_k), or none, so that answers are drawn "
        "(sampled). One that tells less fails the run.",
        json_schema_extra=in_words(
            {
                "full": "all log-probabilities",
                "top_k": "those of the likeliest tokens",
                "sampled": "none: answers are drawn",
            }
        ),
    )
    missing_mass: Missing = Field(
        "even",
        title="Attributes that are not told",
        description="Where a server tells likeliest tokens alone: what an attribute counts that is "
        "not among them, an even share of what the listed ones leave, as in the paper (even), or "
        "the middle of its bounds (middle). The bounds are stored either way.",
        json_schema_extra=in_words(
            {"even": "an even share of the rest", "middle": "the middle of their bounds"}
        ),
    )
    bias: bool = Field(
        False,
        title="Raise attributes",
        description="Asks servers that tell token ids again with the logits of attributes raised, "
        "so that their probabilities are known exactly. Takes several requests for a text.",
    )
    draws: int = Field(
        20,
        ge=1,
        le=1000,
        title="Drawn answers",
        description="For each text and prompt, where a server tells no log-probabilities.",
    )
    max_new_tokens: int = Field(
        8,
        ge=1,
        le=8192,
        title="Most tokens of a drawn answer",
        description="Models that reason before they answer need many more.",
    )
    pairs_per_shard: int = Field(
        100, ge=1, le=5000, description="How the work is cut into parts, for all prompts at once."
    )

    def idle(self, *, served: bool) -> list[str]:
        """Return the parameters that a run with a served or a local model does not depend on."""
        chat = served or self.prompting == "chat"
        asked = {"form", "opening", "instruction", "system_message"}
        told = {"least_access", "missing_mass", "bias", "draws", "max_new_tokens", "batches"}
        return sorted((set() if chat else asked) | (set() if served else told))

    @property
    def prompting(self) -> Literal["auto", "chat", "raw"]:
        """The form, as other measures call it."""
        return "raw" if self.form == "completion" else self.form

    @model_validator(mode="before")
    @classmethod
    def _reads_other_name(cls, values: Any) -> Any:
        """Read `prompting`, as other measures call the form."""
        if not isinstance(values, dict) or "prompting" not in values or "form" in values:
            return values
        form = "completion" if values["prompting"] == "raw" else values["prompting"]
        return {name: value for name, value in values.items() if name != "prompting"} | {
            "form": form
        }

    @field_validator("instruction")
    @classmethod
    def _lists_attributes(cls, text: str) -> str:
        if ATTRIBUTES_SLOT not in text:
            raise ValueError(f"expected a text with {ATTRIBUTES_SLOT}")
        return text
