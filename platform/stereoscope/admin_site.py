"""The site of researchers' pages: the theme's, without work that no page shows."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext_lazy as _
from unfold.forms import AuthenticationForm
from unfold.sites import UnfoldAdminSite


class ResearcherLogInForm(AuthenticationForm):
    """One sentence for whatever does not fit, so that nobody learns which accounts there are."""

    error_messages: ClassVar[dict[str, Any]] = {
        **AuthenticationForm.error_messages,
        "invalid_login": _(
            "User name and password do not match a researcher’s account. Both distinguish capitals."
        ),
    }


class ResearcherSite(UnfoldAdminSite):
    """Every page is given the list of all models with rights and addresses; hardly one shows it."""

    login_form = ResearcherLogInForm

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> Any:
        """Return the list, which is made where somebody looks at it."""
        return SimpleLazyObject(partial(super().get_app_list, request, app_label))
