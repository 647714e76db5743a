"""The site of researchers' pages: the theme's, without work that no page shows."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject
from unfold.sites import UnfoldAdminSite


class ResearcherSite(UnfoldAdminSite):
    """Every page is given the list of all models with rights and addresses; hardly one shows it."""

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> Any:
        """Return the list, which is made where somebody looks at it."""
        return SimpleLazyObject(partial(super().get_app_list, request, app_label))
