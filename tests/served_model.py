"""Registers the model behind a test's server, with nothing of it left in the server's record."""

from __future__ import annotations

from typing import Any

from probing.models import LanguageModel
from probing.runs.language_models import register_model
from tests.openai_server import SERVED_NAME, OpenAIServer


def register_served(server: OpenAIServer, **options: Any) -> LanguageModel:
    """Return the registered model; faults of the server wait for what is asked afterwards."""
    ahead = list(server.faults)
    server.faults.clear()
    model = register_model(location=server.base_url, served_name=SERVED_NAME, **options)
    server.requests.clear()
    server.began.clear()
    server.faults.extend(ahead)
    return model
