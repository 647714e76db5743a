"""What the tests' server of language models writes: texts of a checkpoint, token by token.

Every number is read off the checkpoint's own logits in float64, by a plain loop that shares
nothing with the platform's batched passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from probing.lm.question_protocols import Question

if TYPE_CHECKING:
    from probing.lm.causal import CausalModel
    from tests.openai_server import OpenAIServer


class ServedWriter:
    """Answers the bodies of requests with one causal checkpoint."""

    def __init__(self, model: CausalModel, state: OpenAIServer) -> None:
        self._model, self._state = model, state
        self._tokenizer = model.tokenizer

    def chat(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return a chat completion, with log-probabilities where they are asked for and told."""
        ignored = self._state.ignores
        ids = self._read_turns(body["messages"])
        bias = {} if "logit_bias" in ignored else body.get("logit_bias") or {}
        top = body.get("top_logprobs", 0) if body.get("logprobs") else 0
        stop = tuple(body.get("stop") or ())
        most = body.get("max_tokens") or body["max_completion_tokens"]
        rng = np.random.default_rng(body["seed"])
        written: list[int] = []
        told = []
        text, finish = "", "length"
        for _ in range(most):
            raw = self._logprobs([*ids, *written])
            shifted = raw.clone()
            for token, value in bias.items():
                shifted[int(token)] += float(value)
            token = _draw(shifted, body["temperature"], rng)
            written.append(token)
            told.append(self._tell(token, raw, torch.log_softmax(shifted, 0), top))
            text = self._model.tokenizer.decode(written)
            if token in self._model._ending.end_ids:
                text, finish = self._tokenizer.decode(written[:-1]), "stop"
                break
            if cut := [at for one in stop if (at := text.find(one)) >= 0]:
                text, finish = text[: min(cut)], "stop"
                break
        shown = bool(body.get("logprobs")) and "logprobs" not in ignored
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text.strip()},
            "finish_reason": finish,
            "logprobs": {"content": told} if shown else None,
        }
        return _reply("chat.completion", body, [choice], len(ids), len(written))

    def complete(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return completions that echo their prompts with the log-probability of every token."""
        prompts = [body["prompt"]] if isinstance(body["prompt"], str) else body["prompt"]
        shown = body.get("logprobs") is not None and "logprobs" not in self._state.ignores
        choices, read = [], 0
        for index, prompt in enumerate(prompts):
            ids = self._tokenizer.encode(prompt)
            read += len(ids)
            echoed = body.get("echo") and "echo" not in self._state.ignores
            tokens = [self._tokenizer.decode([token]) for token in ids] if echoed else []
            values = [
                None if place == 0 else float(self._logprobs(ids[:place])[token])
                for place, token in enumerate(ids)
            ]
            choices.append(
                {
                    "index": index,
                    "text": prompt if echoed else "",
                    "finish_reason": "length",
                    "logprobs": {
                        "tokens": tokens,
                        "token_logprobs": values if echoed else [],
                        "top_logprobs": None,
                        "text_offset": np.cumsum([0, *map(len, tokens)])[: len(tokens)].tolist(),
                    }
                    if shown
                    else None,
                }
            )
        return _reply("text_completion", body, choices, read, 0)

    def _read_turns(self, messages: list[dict[str, str]]) -> list[int]:
        turns = {turn["role"]: turn["content"] for turn in messages}
        opening = "" if "opening" in self._state.ignores else turns.get("assistant", "")
        if not self._tokenizer.has_chat_template:
            return self._tokenizer.encode(turns["user"])
        question = Question(turns["user"], turns.get("system", ""), opening)
        return list(self._tokenizer.encode_question(question))

    @torch.inference_mode()
    def _logprobs(self, ids: list[int]) -> torch.Tensor:
        logits = self._model._model(input_ids=torch.tensor([ids])).logits[0, -1]
        return torch.log_softmax(logits.double(), 0)

    def _tell(
        self, token: int, raw: torch.Tensor, shifted: torch.Tensor, top: int
    ) -> dict[str, Any]:
        shown = raw if self._state.raw_logprobs else shifted
        best = shown.topk(max(top, 1)).indices.tolist()[:top]

        def entry(one: int) -> dict[str, Any]:
            return {"token": self._tokenizer.decode([one]), "logprob": float(shown[one])}

        return {**entry(token), "top_logprobs": [entry(one) for one in best]}


def _draw(logprobs: torch.Tensor, temperature: float, rng: np.random.Generator) -> int:
    if temperature == 0:
        return int(logprobs.argmax())
    cumulated = torch.softmax(logprobs / temperature, 0).cumsum(0)
    drawn = rng.random() * float(cumulated[-1])
    return int(torch.searchsorted(cumulated, torch.tensor(drawn), right=True))


def _reply(
    kind: str, body: Mapping[str, Any], choices: list[dict[str, Any]], read: int, made: int
) -> dict[str, Any]:
    return {
        "id": "completion-1",
        "object": kind,
        "created": 0,
        "model": body["model"],
        "choices": choices,
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": made,
            "total_tokens": read + made,
        },
    }
