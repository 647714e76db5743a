"""What the documentation says about commands, variables and files is so."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands, load_command_class

ROOT = Path(__file__).resolve().parents[2]
# Variables of other programs that the image and the compose file set.
OF_OTHERS = {
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONPATH",
    "DJANGO_SETTINGS_MODULE",
    "HF_HOME",
    "XDG_CACHE_HOME",
}
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]


def read_variables() -> set[str]:
    """Return every variable that the code asks the environment for."""
    names: set[str] = set()
    for name in ("settings.py", "server.py"):
        tree = ast.parse((ROOT / "platform" / "stereoscope" / name).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and ast.unparse(node.func.value) in {"env", "os.environ"}
                and node.func.attr != "parser_for"
                and node.args
                and isinstance(node.args[0], ast.Constant)
            ):
                names.add(node.args[0].value)
    return names


def documented_variables() -> set[str]:
    text = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\| `([A-Z_]+)` \|", text, flags=re.M))


def test_the_table_of_variables_is_the_one_that_settings_read():
    read = read_variables()
    assert {"DATABASE_URL", "SECRET_KEY", "WEB_PROCESSES"} <= read
    assert documented_variables() == read


def test_image_and_compose_file_set_only_known_variables():
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    # One ENV instruction over several lines; ARGs are not settings.
    block = re.search(r"^ENV (.*?)\n\n", dockerfile, flags=re.M | re.S)
    assert block
    names = set(re.findall(r"([A-Z_]+)=", block[1]))
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    for service in ("web", "worker", "worker-gpu", "migrate"):
        names |= set(compose["services"][service]["environment"])
    assert names <= documented_variables() | OF_OTHERS


def test_commands_in_the_documentation_exist_with_their_options():
    commands = get_commands()
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for name, rest in re.findall(r"manage\.py ([a-z_]+)([^\n`#]*)", text):
            assert name in commands, f"{document.name}: manage.py {name}"
            command = load_command_class(commands[name], name)
            help_text = command.create_parser("manage.py", name).format_help()
            for option in re.findall(r"--[a-z-]+", rest):
                if name == "report":  # its options belong to its kinds
                    continue
                assert option in help_text, f"{document.name}: manage.py {name} {option}"


def test_make_targets_in_the_documentation_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    for document in DOCUMENTS:
        named = set(re.findall(r"\bmake ([a-z-]+)\b(?! sure)", document.read_text("utf-8")))
        # “make” is a word as well: only what stands in code counts.
        quoted = {name for name in named if f"`make {name}" in document.read_text("utf-8")}
        assert quoted <= targets, document.name


def test_links_between_documents_lead_somewhere():
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
            if target.startswith("docs/images/"):
                continue
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


# The changelog also tells of what is no more.
GUIDES = [document for document in DOCUMENTS if document.name != "CHANGELOG.md"]
# Entries of the checkout that paths in the documentation begin with; `var` holds what runs make.
FOLDERS = ("annotation", "evaluation", "platform", "probing", "static", "templates", "tests")
FOLDERS += ("docs", ".ci")
FILE_NAME = re.compile(r"[a-z_]+\.(?:py|html|js|css|po|toml|yaml|txt)")


def named_paths(text: str) -> set[str]:
    """Return what looks like a path of the repository; `my_…` is a reader's own file."""
    quoted = re.findall(r"`([^`\s]+)`", text)
    return {
        path
        for path in quoted
        if (path.split("/")[0] in FOLDERS and "/" in path) or FILE_NAME.fullmatch(path)
        if not Path(path).name.startswith("my_")
    }


@pytest.mark.parametrize("document", GUIDES, ids=lambda document: document.name)
def test_paths_in_the_documentation_exist(document: Path):
    missing = {
        path
        for path in named_paths(document.read_text(encoding="utf-8"))
        if not (ROOT / path).exists() and ("/" in path or path not in file_names())
    }
    assert not missing


@cache
def file_names() -> frozenset[str]:
    """Return the names of all files of the repository's folders and of its top level."""
    found = {entry.name for entry in ROOT.iterdir()}
    for folder in FOLDERS:
        found |= {file.name for file in (ROOT / folder).rglob("*.*")}
    return frozenset(found)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_commands_are_written_as_they_are_typed_in_a_clone(document: Path) -> None:
    """The README has ``.venv/bin/python manage.py``; a bare ``manage.py`` is no command."""
    bare = re.findall(r"^manage\.py .*", document.read_text(encoding="utf-8"), re.MULTILINE)
    assert not bare
