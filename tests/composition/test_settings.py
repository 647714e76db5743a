"""The test run's own ground: a folder apart from the checkout's."""

from __future__ import annotations

from django.conf import settings


def test_tests_do_not_use_the_checkouts_var_folder():
    assert settings.VAR_DIR != settings.BASE_DIR / "var"
    assert settings.BASE_DIR not in settings.VAR_DIR.parents
