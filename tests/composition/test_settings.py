"""The test run's own ground: a folder apart from the checkout's."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

from django.conf import settings

from tests.conftest import ROOT


def test_tests_do_not_use_the_checkouts_var_folder():
    assert settings.VAR_DIR != settings.BASE_DIR / "var"
    assert settings.BASE_DIR not in settings.VAR_DIR.parents


def test_whatever_is_written_is_for_the_platforms_account_alone(tmp_path):
    """Also what no code sets a mode of, started by an account that shares its files."""
    program = (
        "import pathlib, django\n"
        "django.setup()\n"
        "from django.conf import settings\n"
        "(settings.VAR_DIR / 'table.csv').write_text('x')\n"
        "(settings.VAR_DIR / 'exports').mkdir()\n"
    )
    environment = {
        **os.environ,
        "VAR_DIR": str(tmp_path / "var"),
        "DJANGO_SETTINGS_MODULE": "stereoscope.settings",
        "PYTHONPATH": ".:platform",
    }
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, umask=0, check=True)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "var").iterdir()}
    assert (modes["table.csv"], modes["exports"]) == (0o600, 0o700)
    assert modes["secret-key"] == 0o600
