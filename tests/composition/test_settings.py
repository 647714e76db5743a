"""The test run's own ground: a folder apart from the checkout's."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests.conftest import ROOT


def test_tests_do_not_use_the_checkouts_var_folder():
    assert settings.VAR_DIR != settings.BASE_DIR / "var"
    assert settings.BASE_DIR not in settings.VAR_DIR.parents


def at_home_in(folder: Path) -> dict[str, str]:
    """Return the environment of a platform of its own."""
    return {
        **os.environ,
        "VAR_DIR": str(folder / "var"),
        "DJANGO_SETTINGS_MODULE": "stereoscope.settings",
        "PYTHONPATH": ".:platform",
    }


def test_whatever_is_written_is_for_the_platforms_account_alone(tmp_path):
    """Also what no code sets a mode of, started by an account that shares its files."""
    program = (
        "import pathlib, django\n"
        "django.setup()\n"
        "from django.conf import settings\n"
        "(settings.VAR_DIR / 'table.csv').write_text('x')\n"
        "(settings.VAR_DIR / 'exports').mkdir()\n"
    )
    environment = at_home_in(tmp_path)
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, umask=0, check=True)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "var").iterdir()}
    assert (modes["table.csv"], modes["exports"]) == (0o600, 0o700)
    assert modes["secret-key"] == 0o600


@pytest.mark.parametrize("name", ["PANEL_KEY_HOSTS", "MODEL_KEY_HOSTS"])
@pytest.mark.parametrize("value", ["LAB_KEY", "LAB_KEY=", "A=a.example,LAB_KEY"])
def test_a_key_without_its_host_is_named_at_the_start(tmp_path, name, value):
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env={**at_home_in(tmp_path), name: value},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert f'"{name}" invalid: “{value}”, expected pairs such as LAB_KEY=api.' in done.stderr


def test_a_command_before_the_first_migrate_says_what_to_run(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "models"],
        cwd=ROOT,
        env=at_home_in(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.strip() == (
        "The database is empty or of an earlier version. Prepare it first: "
        ".venv/bin/python manage.py migrate"
    )
