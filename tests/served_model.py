"""A server of a module's checkpoint, and the model behind it, registered without a trace there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from probing.models import LanguageModel
from probing.runs.language_models import register_model
from tests.openai_server import SERVED_NAME, OpenAIServer, serve_openai


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[OpenAIServer]:
    """A server of the checkpoint in the module's own fixture ``folder``."""
    with serve_openai(folder) as server:
        yield server


@pytest.fixture
def server(running: OpenAIServer, settings: Any) -> OpenAIServer:
    """The server with nothing asked yet, which is asked as fast as it answers."""
    settings.CHAT_REQUESTS_PER_MINUTE = 0
    settings.CHAT_ATTEMPTS = 2
    running.forget()
    return running


def register_served(server: OpenAIServer, **options: Any) -> LanguageModel:
    """Return the registered model; faults of the server wait for what is asked afterwards."""
    ahead = list(server.faults)
    server.faults.clear()
    model = register_model(location=server.base_url, served_name=SERVED_NAME, **options)
    server.requests.clear()
    server.began.clear()
    server.faults.extend(ahead)
    return model
