"""The command that registers models."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from probing.models import LanguageModel

pytestmark = [pytest.mark.django_db]


@pytest.mark.shared
def test_a_folder_is_registered_and_named(checkpoints: Path) -> None:
    said = StringIO()
    call_command("register_model", str(checkpoints / "tiny-t5"), "--name", "Small T5", stdout=said)
    assert LanguageModel.objects.get().name == "Small T5"
    assert "Small T5: Sequence to sequence" in said.getvalue()


def test_a_chat_model_is_registered() -> None:
    call_command(
        "register_model",
        "http://localhost:8001/v1",
        served_name="gpt-4",
        key_variable="MODEL_KEY_TEST",
        stdout=StringIO(),
    )
    model = LanguageModel.objects.get()
    assert (model.name, model.kind, model.key_variable) == ("gpt-4", "chat", "MODEL_KEY_TEST")


def test_what_is_wrong_is_said_in_one_line() -> None:
    with pytest.raises(CommandError, match="has a name there"):
        call_command("register_model", "http://localhost:8001/v1")
