"""Servers that nobody here wrote: how they are started, and measures run on what they serve."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import httpx
from django.core.management import call_command

from annotation.models import SocialGroup, Study, TraitPair
from annotation.studies.creation import create_study
from probing.models import LanguageModel, Run
from tests.waiting import wait_until

HOST = "127.0.0.1"


@contextmanager
def run_server(command: Sequence[str | Path], *, port: int, asked: str) -> Iterator[str]:
    """Run a server until the block ends; yields its address once it answers at ``asked``."""

    def answers() -> bool:
        assert process.poll() is None, "the server has ended"
        try:
            return httpx.get(f"http://{HOST}:{port}{asked}").is_success
        except httpx.TransportError:
            return False

    with subprocess.Popen(command) as process:
        try:
            wait_until(answers, seconds=240)
            yield f"http://{HOST}:{port}/v1"
        finally:
            process.terminate()


def register(address: str, served_name: str, *told: str) -> LanguageModel:
    """Register the model as “s”; the command has to print what is ``told``."""
    out = StringIO()
    call_command("register_model", address, "--served-name", served_name, "--name", "s", stdout=out)
    assert [one for one in told if one not in out.getvalue()] == []
    return LanguageModel.objects.get()


def probe(measure: str, *arguments: str) -> Run:
    chosen = ("--model", "s", "--measure", measure, "--local")
    call_command("probe", *chosen, *arguments, stdout=StringIO())
    return Run.objects.get()


def import_pair(folder: Path, aal: str, wme: str) -> str:
    """Import a corpus of one pair; returns its name."""
    file = folder / "pairs.tsv"
    file.write_text(f"AAL\tWME\n{aal}\t{wme}\n", encoding="utf-8")
    named = ("--name", "My pairs", "--license", "CC BY 4.0")
    call_command("import_corpus", str(file), *named, stdout=StringIO())
    return "My pairs"


def make_pilot() -> Study:
    """Return the study “Pilot” of one group and one trait pair."""
    return create_study(
        title="Pilot",
        owner=None,
        contact_email="you@example.org",
        groups=list(SocialGroup.objects.filter(slug="woman")),
        trait_pairs=list(TraitPair.objects.filter(slug="cold-warm")),
    )
