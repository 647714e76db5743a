"""Tokens of the API in the admin: made here, shown once, taken back by deleting them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy as _
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from unfold.admin import ModelAdmin
from unfold.decorators import display

from annotation.researcher.pages.fields import WholeNumberField
from annotation.researcher.pages.page import staff_user
from stereoscope.api_tokens import MOST_DAYS, USUAL_DAYS, create_token
from stereoscope.models import ApiToken, Scope

DAY = "j M Y"


class ApiTokenForm(forms.ModelForm):
    scopes = forms.MultipleChoiceField(
        label=_("Good for"),
        choices=Scope.choices,
        initial=[Scope.READ],
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Within the rights of the account."),
    )
    days = WholeNumberField(
        label=_("Days until it expires"), initial=USUAL_DAYS, min_value=1, max_value=MOST_DAYS
    )

    class Meta:
        model = ApiToken
        fields = ("name",)


# Whoever reads a second factor's secret has it; accounts change their own on their own page.
for secret in (StaticDevice, TOTPDevice):
    if admin.site.is_registered(secret):
        admin.site.unregister(secret)


@admin.register(ApiToken)
class ApiTokenAdmin(ModelAdmin):
    form = ApiTokenForm
    list_display = ("name", "user", "scope_list", "created_on", "ends_on", "last_used_on")
    list_filter = ("expires_at", "last_used_at")
    search_fields = ("name", "user__username")
    list_per_page = 50
    fields = ("name", "scopes", "days")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiToken]:
        tokens = super().get_queryset(request).select_related("user")
        return tokens if request.user.is_superuser else tokens.filter(user=request.user.pk)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_staff)

    # Everybody on the staff makes tokens of their own: they hold no right that the account lacks.
    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_module_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        return self.has_module_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        return self.has_module_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        return False

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        # The page that follows shows the key, once.
        once = {"show_save_and_add_another": False, "show_save_and_continue": False}
        return super().changeform_view(
            request, object_id, form_url, {**(extra_context or {}), **once}
        )

    def get_fields(self, request: HttpRequest, obj: ApiToken | None = None) -> Any:
        return self.list_display if obj else self.fields

    def get_readonly_fields(self, request: HttpRequest, obj: ApiToken | None = None) -> Any:
        return self.list_display if obj else ()

    def save_model(self, request: HttpRequest, obj: ApiToken, form: Any, change: bool) -> None:
        account: User = staff_user(request)
        values = {name: form.cleaned_data[name] for name in ("name", "scopes", "days")}
        token, key = create_token(user=account, **values)
        obj.__dict__.update(token.__dict__)
        request.shown_key = key  # type: ignore[attr-defined]

    def response_add(
        self, request: HttpRequest, obj: ApiToken, post_url_continue: Any = None
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("New API token"),
            "token": obj,
            "key": request.shown_key,  # type: ignore[attr-defined]
        }
        return TemplateResponse(request, "admin/stereoscope/token.html", context)

    @display(description=_("created"), ordering="created_at")
    def created_on(self, token: ApiToken) -> str:
        return date_format(token.created_at, DAY)

    @display(description=_("ends"), ordering="expires_at")
    def ends_on(self, token: ApiToken) -> str:
        day = date_format(token.expires_at, DAY)
        return day if token.expires_at > timezone.now() else str(_("%(day)s, ended") % {"day": day})

    @display(description=_("last used"), ordering="last_used_at")
    def last_used_on(self, token: ApiToken) -> str:
        return date_format(token.last_used_at, DAY) if token.last_used_at else str(_("never"))

    @display(description=_("good for"))
    def scope_list(self, token: ApiToken) -> str:
        return ", ".join(str(Scope(scope).label) for scope in token.scopes)
