"""The rules of the house that code can break without any other test noticing."""

from __future__ import annotations

import ast
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# An import only ever points down: what each room may import of ours.
ROOMS = {
    "annotation": {"annotation"},
    "probing": {"probing", "annotation"},
    "evaluation": {"evaluation", "probing", "annotation"},
    "stereoscope": {"stereoscope", "evaluation", "probing", "annotation"},
}
# Self-contained files, which no policy of ours reaches.
FILES = ("templates/evaluation/report_file.html", "templates/evaluation/report_paper.html")
PURE = (
    "probing.lm",
    "probing.measures",
    "probing.training",
    "evaluation.metrics",
    "evaluation.analyses",
    "evaluation.charts",
)


def room_folder(room: str) -> Path:
    return ROOT / "platform" / room if room == "stereoscope" else ROOT / room


def module_name(file: Path, root: Path = ROOT) -> str:
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules_of(package: str) -> list[str]:
    """Return the names of all modules of a package."""
    return [module_name(file) for file in sorted(ROOT.joinpath(*package.split(".")).rglob("*.py"))]


@cache
def imported_names(file: Path) -> tuple[tuple[int, str], ...]:
    """Return the line and the name of each import, read once for all rules."""
    return tuple(find_imports(file))


def find_imports(file: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno} is a relative import"
            yield node.lineno, node.module or ""


def test_platform_is_the_standard_librarys():
    assert not hasattr(platform, "__path__"), "platform/ must not have an __init__.py"
    assert platform.python_version() == ".".join(map(str, sys.version_info[:3]))


@pytest.mark.parametrize("room", ROOMS)
def test_imports_point_down(room):
    files = [file for file in room_folder(room).rglob("*.py") if "migrations" not in file.parts]
    assert len(files) > 5
    upward = [
        f"{file.relative_to(ROOT)}:{line} imports {name}"
        for file in files
        for line, name in imported_names(file)
        if name.split(".")[0] in ROOMS and name.split(".")[0] not in ROOMS[room]
    ]
    assert not upward, "\n".join(upward)


def lasting_imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield all imports, those inside functions too, but none that only serve typing."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node
    elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        yield from (found for child in node.orelse for found in lasting_imports(child))
    elif not isinstance(node, ast.expr):  # in which no statement stands
        for child in ast.iter_child_nodes(node):
            yield from lasting_imports(child)


def import_graphs() -> dict[str, dict[str, set[str]]]:
    """Return which files and which folders of the house import which others."""
    modules = {
        module_name(file, room_folder(room).parent): file
        for room in ROOMS
        for file in room_folder(room).rglob("*.py")
        if "migrations" not in file.parts
    }
    graphs: dict[str, dict[str, set[str]]] = {"file": {}, "folder": {}}
    for name, file in modules.items():
        imported = set()
        for node in lasting_imports(ast.parse(file.read_text(encoding="utf-8"))):
            for alias in node.names:
                whole = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
                found = {f"{whole}{alias.name}", whole.rstrip(".")} & set(modules)
                imported |= {max(found, key=len)} if found else set()
        graphs["file"][name] = imported
        folder = file.parent.relative_to(ROOT).as_posix()
        folders = {modules[other].parent.relative_to(ROOT).as_posix() for other in imported}
        graphs["folder"].setdefault(folder, set()).update(folders - {folder})
    return graphs


def test_imports_go_in_no_circle():
    for unit, graph in import_graphs().items():
        assert len(graph) > 30
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as circle:
            pytest.fail(f"a circle of {unit}s: {' ← '.join(circle.args[1])}")


def test_numerics_import_without_django():
    modules = [name for package in PURE for name in modules_of(package)]
    assert len(modules) > 3 * len(PURE)
    program = (
        "import importlib, os, sys\n"
        "os.environ.pop('DJANGO_SETTINGS_MODULE', None)\n"
        "guilty = set()\n"
        f"for name in {modules!r}:\n"
        "    importlib.import_module(name)\n"
        "    if 'django' in sys.modules: guilty.add(name); break\n"
        "guilty |= {m for m in sys.modules if m.split('.')[1:2] == ['models']\n"
        "           and m.split('.')[0] in ('annotation', 'probing', 'evaluation')}\n"
        "print(','.join(sorted(guilty)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""


def test_torch_is_imported_in_its_two_rooms_alone():
    elsewhere = [
        f"{file.relative_to(ROOT)}:{line}"
        for room in ROOMS
        for file in room_folder(room).rglob("*.py")
        if not file.relative_to(ROOT).as_posix().startswith(("probing/lm/", "probing/training/"))
        for line, name in imported_names(file)
        if name.split(".")[0] == "torch"
    ]
    assert not elsewhere, elsewhere


#: What Django does not document, and the modules that rely on it; each says why and what it costs.
INSIDES = re.compile(
    r"django\.db\.models\.(?:query|sql)\b|klass_info|get_compiler|_iterable_class|_prefetched_obj"
)
SEAMS = {"annotation/common/prepared_sql.py"}


def test_the_insides_of_django_are_used_behind_one_seam():
    found = {
        file.relative_to(ROOT).as_posix()
        for room in ROOMS
        for file in room_folder(room).rglob("*.py")
        if INSIDES.search(file.read_text(encoding="utf-8"))
    }
    assert found == SEAMS


INLINE = re.compile(
    r"<style|<script(?![^>]*\bsrc=)|\sstyle=|\son[a-z]+=|javascript:", re.IGNORECASE
)


def test_pages_hold_no_script_and_no_style_of_their_own():
    """The content security policy refuses both; the admin theme's pages have their own policy."""
    guilty = []
    for file in sorted((ROOT / "templates").rglob("*.html")):
        text = re.sub(r"\{#.*?#\}|\{% comment.*?endcomment %\}", "", file.read_text(), flags=re.S)
        guilty += [f"{file.relative_to(ROOT)}: {found}" for found in INLINE.findall(text)]
    allowed = {f for f in guilty if f.startswith(FILES)}
    assert set(guilty) <= allowed, guilty


def test_files_stay_short():
    """Rule 4 of the house: a file is one subject, at most 700 lines."""
    long = {
        file.relative_to(ROOT).as_posix(): count
        for room in ROOMS
        for file in room_folder(room).rglob("*.py")
        if "migrations" not in file.parts
        and (count := len(file.read_text(encoding="utf-8").splitlines())) > 700
    }
    assert not long


# What whoever opens the repository sees first: the rooms, what they share, and how to begin.
TOP_LEVEL = {
    *("annotation", "evaluation", "probing", "platform", "static", "templates", "tests", "docs"),
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "manage.py"),
    *("pyproject.toml", "Dockerfile", "compose.yaml"),
    *("requirements.txt", "requirements-dev.txt", "requirements-optional.txt", "constraints.txt"),
    "requirements-models.txt",
}


def test_the_top_level_holds_nothing_else():
    ignored = {
        line.strip("/") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    }
    names = {entry.name for entry in ROOT.iterdir() if not entry.name.startswith(".")}
    assert names - ignored == TOP_LEVEL


def test_packages_only_export_or_register():
    """Rule 5 of the house: an ``__init__.py`` defines neither functions nor classes."""
    guilty = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for room in ROOMS
        for file in room_folder(room).rglob("__init__.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    assert not guilty
