"""The forms of annotators: of their accounts, and what their pages post."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

from django import forms
from django.contrib.auth import get_user_model, password_validation
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

# --- What the pages of annotators post: texts, and the time that a page was in front

MOST_SECONDS = 3600.0  # of one stretch between two messages of the browser


def clean_text(text: str) -> str:
    """Return a text as it is stored: line ends as ``\\n``, no blanks around it, and without control
    characters, which some databases refuse."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = (
        letter
        for letter in lines
        if letter in "\n\t" or unicodedata.category(letter) not in {"Cc", "Cs"}
    )
    return "".join(kept).strip()


def read_seconds(sent: QueryDict) -> float:
    """Return the seconds that a page posted, 0 where it posted none that can be read."""
    try:
        return float(sent.get("seconds", "") or 0)
    except ValueError:
        return 0.0


def bound_seconds(seconds: float) -> float:
    """Return a stretch of time as it is counted: 0 to an hour, 0 for NaN and infinity."""
    return min(max(seconds, 0.0), MOST_SECONDS) if math.isfinite(seconds) else 0.0


# --- Forms


def _password(label: Any, *, autocomplete: str, help_text: Any = "") -> forms.CharField:
    return forms.CharField(
        label=label,
        strip=False,
        help_text=help_text,
        widget=forms.PasswordInput(attrs={"autocomplete": autocomplete, "class": "input"}),
    )


class JoinForm(forms.Form):
    """User name and password of a new account."""

    username = forms.CharField(
        label=gettext_lazy("User name"),
        max_length=150,
        validators=[UnicodeUsernameValidator()],
        help_text=gettext_lazy(
            "Letters, digits and @ . + - _ only. It is for the log-in: neither the researchers’ "
            "pages nor results show it."
        ),
        widget=forms.TextInput(
            attrs={"autocomplete": "username", "autocapitalize": "none", "class": "input"}
        ),
    )
    password = _password(
        gettext_lazy("Password"),
        autocomplete="new-password",
        help_text=gettext_lazy("8 characters or more, and not a common one."),
    )
    repeated = _password(gettext_lazy("Password again"), autocomplete="new-password")

    def clean_username(self) -> str:
        username = get_user_model().normalize_username(self.cleaned_data["username"])
        if get_user_model().objects.filter(username__iexact=username).exists():
            raise ValidationError(
                _("“%(name)s” is taken. Choose another, or log in if it is yours.")
                % {"name": username}
            )
        return username

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        password = cleaned.get("password")
        if password:
            try:
                password_validation.validate_password(
                    password, User(username=cleaned.get("username", ""))
                )
            except ValidationError as error:
                self.add_error("password", error)
            if cleaned.get("repeated") and cleaned["repeated"] != password:
                self.add_error("repeated", _("The two passwords differ."))
        return cleaned


class LogInForm(AuthenticationForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs["class"] = "input"
        self.fields["username"].label = _("User name")
        self.fields["username"].widget.attrs.pop("autofocus", None)
        self.error_messages["invalid_login"] = _(
            "User name and password do not match an account. Both distinguish capitals."
        )


class ChangePasswordForm(PasswordChangeForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs["class"] = "input"
            field.widget.attrs.pop("autofocus", None)
        self.fields["new_password1"].help_text = _("8 characters or more, and not a common one.")
        self.fields["new_password2"].help_text = ""
