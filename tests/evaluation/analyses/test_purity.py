"""The numbers and charts can be used in a notebook: no Django, no torch."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("package", ["metrics", "analyses", "charts"])
def test_package_imports_without_django_and_torch(package, pytestconfig):
    code = (
        f"import sys, evaluation.{package}\n"
        "found = sorted({'django', 'torch', 'transformers'} & set(sys.modules))\n"
        "sys.exit(f'imported: {found}' if found else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=pytestconfig.rootpath,
        env={"PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
