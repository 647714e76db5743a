"""Words that the house has retired do not return: spelling is American, a thing has one name."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VERBS = "normal capital neutral organ random general optim summar recogn serial token minim maxim"
RETIRED = re.compile(
    r"(?:labell(?:ed(?!by)|er|ing)|colour|centre|licence|favour|behaviour|neighbour|judgement"
    rf"|(?:{'|'.join(VERBS.split())})is(?:e[drs]?(?![a-z])|ing|ation)|analys(?:ed|ing|er)"
    r"|cancell|signall|travell|practis)"
    r"|\b(?:grey|whilst|learnt|towards|per cent|artefacts?|defence|honour|fulfil)\b",
    re.IGNORECASE,
)
#: Names of classes and functions that the glossary replaced.
RETIRED_NAMES = {
    *("Books", "BookLine", "wake_payer", "drop_undecided", "explain_misfit", "tick_boxes"),
    *("Turns", "Begun", "Again", "StudyAction", "build_actions", "own_buttons"),
}
#: Names that keep their spelling: they are hashed with stimuli and settings, or others gave them.
NAMES = {
    *("plural_capitalised", "capitalised_plural", "labelled_texts", "labelled_templates"),
    *(
        "normalise",
        "adjective_favourability",
        "ilps_star_renormalised",
        "isCancelled",
        "isFromCancelledTransition",
    ),
}
#: Values that are stored, or that files of others hold: kept where they stand in quotes.
VALUES = {"cancelled", "was_cancelled", "randomised", "favourability", "licence"}
#: Files of words rather than about them.
WORD_LISTS = {
    "annotation/corpora/features.py",
    "annotation/library/english_forms.py",
    "probing/measures/answer_reading.py",
    "tests/composition/test_words.py",
}


def texts_of_the_house() -> list[str]:
    """Return the files that people write here: no migrations, records, or work of others."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [
        name
        for name in listed.stdout.splitlines()
        if Path(name).suffix in {".py", ".html", ".js", ".css", ".md", ".po"}
        if not {"migrations", "vendor", "golden"} & set(Path(name).parts)
        if name not in WORD_LISTS and (ROOT / name).exists()
    ]


def retired_words(text: str) -> list[str]:
    """Return the words in their order, each once."""
    words = dict.fromkeys(re.findall(r"\w+(?: cent\b)?[\"'`]?", text))
    return [
        word
        for word in words
        if RETIRED.search(word)
        if word.strip("\"'`") not in NAMES and word[:-1] not in VALUES
    ]


def test_no_retired_name_returns() -> None:
    defined = re.compile(rf"\b(?:class|def) (?:{'|'.join(RETIRED_NAMES)})\b")
    code = [name for name in texts_of_the_house() if name.endswith(".py")]
    assert not [name for name in code if defined.search((ROOT / name).read_text(encoding="utf-8"))]


def test_no_retired_word_returns() -> None:
    files = texts_of_the_house()
    assert len(files) > 1000
    found = {name: retired_words((ROOT / name).read_text(encoding="utf-8")) for name in files}
    assert not {name: words for name, words in found.items() if words}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A labelled grey centre", ["labelled", "grey", "centre"]),
        ("Favourability, normalising", ["Favourability", "normalising"]),
        ('status == "cancelled"', []),
        ("was cancelled, 3 per cent", ["cancelled", "per cent"]),
        ("analyses in general is emphasis, aria-labelledby", []),
    ],
)
def test_finds_british_forms_alone(text: str, words: list[str]) -> None:
    assert retired_words(text) == words
