"""The prompts that come with the platform.

The first is that of Deas et al. (2023), Figure 1: an instruction, the text, and “=>” for models
that continue a text; the line break follows the figure. The paper names the varieties African
American Vernacular English and Standard American English, since all GPT models found these names
more likely than African American Language and White Mainstream English (§4.1); both are here, so
that the choice can be repeated. The instruction without an arrow (ours) is for models that turn one
text into another, such as Flan-T5, and the one that asks for the rewritten text alone (ours) for
models that are asked in a chat.
"""

from __future__ import annotations

from probing.measures.text_stimuli import PromptStimulus

_VERNACULAR = {"AAL": "African American Vernacular English", "WME": "Standard American English"}
_MAINSTREAM = {"AAL": "African American Language", "WME": "White Mainstream English"}
_ARROW = "Translate the following {source} into {target}:\n{text} =>"
_INSTRUCTION = "Translate the following {source} into {target}:\n{text}"

_REWRITE = (
    "Rewrite the following text in {target}. Keep its meaning. Answer with the rewritten text "
    "alone.\n\n{text}"
)

PAPER_PROMPT = "translate-arrow-aave-sae"
INSTRUCTION_PROMPT = "translate-aave-sae"
CHAT_PROMPT = "rewrite-aave-sae"

PROMPTS: tuple[PromptStimulus, ...] = (
    PromptStimulus(PAPER_PROMPT, _ARROW, _VERNACULAR),
    PromptStimulus("translate-arrow-aal-wme", _ARROW, _MAINSTREAM),
    PromptStimulus(INSTRUCTION_PROMPT, _INSTRUCTION, _VERNACULAR),
    PromptStimulus("translate-aal-wme", _INSTRUCTION, _MAINSTREAM),
    PromptStimulus(CHAT_PROMPT, _REWRITE, _VERNACULAR),
)
