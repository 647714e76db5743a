"""Token ids of a served model, from servers that tell them (vLLM, SGLang: ``/tokenize``)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from probing.lm.chat_errors import RefusedError, UnsupportedOptionError
from probing.lm.errors import LanguageModelError, ServerError
from probing.lm.server_connection import Reply, ServerConnection

if TYPE_CHECKING:
    from openai import OpenAI


class ServedTokenIds(ServerConnection):
    """A served model whose tokenizer may be asked."""

    #: (base URL, model, text) → the id of a text that is one token; asked once in a process.
    _known: ClassVar[dict[tuple[str, str, str], int | None]] = {}
    _tells_ids = True

    def single_tokens(self, texts: Sequence[str]) -> dict[str, int | None] | None:
        """Return the id of every text, None for one of several tokens.

        None altogether where the server does not tell ids.
        """
        place = (self.base_url, self.served_name)
        new = [text for text in dict.fromkeys(texts) if (*place, text) not in self._known]
        if new and self._tells_ids:
            try:
                found = self.ask_all([partial(self._tokenize, text) for text in new])
            except (LanguageModelError, RefusedError, UnsupportedOptionError):
                self._tells_ids = False
            else:
                self._known.update(
                    ((*place, text), one) for text, one in zip(new, found, strict=True)
                )
        if not self._tells_ids:
            return None
        return {text: self._known[(*place, text)] for text in texts}

    def _tokenize(self, text: str, client: OpenAI) -> Reply[int | None]:
        address = f"{self.base_url.rstrip('/').removesuffix('/v1')}/tokenize"
        body = {"model": self.served_name, "prompt": text, "add_special_tokens": False}
        told: Any = self.attempt(lambda: client.post(address, cast_to=object, body=body), client)
        ids = told.get("tokens") if isinstance(told, dict) else None
        if not isinstance(ids, list):
            raise ServerError(f"The server {self.device} does not tell token ids.")
        return Reply(int(ids[0]) if len(ids) == 1 else None, 0)
