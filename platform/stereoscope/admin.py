"""Accounts of researchers, and tokens of the API: made here, shown once, taken back by deleting."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy as _
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from unfold.admin import ModelAdmin
from unfold.decorators import display
from unfold.widgets import UnfoldAdminEmailInputWidget, UnfoldAdminRadioSelectWidget

from annotation.admin.base import HasPages
from annotation.researcher.pages.fields import WholeNumberField
from annotation.researcher.pages.page import ResearcherPage, refusals_shown, staff_user
from stereoscope.accounts import (
    Rights,
    activate,
    deactivate,
    find_rights,
    give_rights,
    make_sign_in_link,
    send_sign_in_link,
)
from stereoscope.api_authentication import MOST_DAYS, USUAL_DAYS, create_token
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


ANNOTATES = "annotates"


class AccountForm(forms.ModelForm):
    """Name, address and the one choice; an administrator's account has no choice."""

    rights = forms.ChoiceField(label=_("This account"), widget=UnfoldAdminRadioSelectWidget)

    class Meta:
        model = User
        fields = ("username", "email")
        labels = {"username": _("Name"), "email": _("E-mail")}
        help_texts = {
            "username": _(
                "To sign in with; colleagues see it. Letters, digits and @ . + - _ only."
            ),
            "email": _("Where a link to sign in is sent."),
        }
        widgets = {"email": UnfoldAdminEmailInputWidget}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices: list[tuple[str, Any]] = list(Rights.choices)
        account = self.instance
        if account.pk and not account.is_staff:
            choices.append((ANNOTATES, _("Only writes and judges texts as an annotator")))
        rights: Any = self.fields["rights"]
        rights.choices = choices
        rights.initial = (find_rights(account) or ANNOTATES) if account.pk else Rights.CREATES
        if account.is_superuser:
            del self.fields["rights"]


class AccountAccessPage(ResearcherPage):
    """Makes a link to sign in, and ends or renews an account; for administrators."""

    route = "<int:pk>/access/"
    name = "access"
    template_name = "admin/stereoscope/account_link.html"
    http_method_names = ["post"]

    def prepare(self) -> None:
        if not self.user.is_superuser:
            raise PermissionDenied
        self.account = get_object_or_404(User, pk=self.kwargs["pk"])

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        who = {"who": self.account.get_username()}
        with refusals_shown(request):
            match request.POST.get("do"):
                case "link" if self.account.is_active:
                    return self.show_link()
                case "deactivate":
                    deactivate(user=self.account, by=self.user)
                    messages.success(request, _("%(who)s can no longer sign in.") % who)
                case "activate":
                    activate(user=self.account)
                    messages.success(request, _("%(who)s can sign in again, by a new link.") % who)
        return redirect("admin:auth_user_change", self.account.pk)

    def show_link(self) -> HttpResponse:
        link = make_sign_in_link(self.account)
        is_sent = send_sign_in_link(self.account, link)
        response = self.show(account=self.account, link="" if is_sent else link)
        response["Cache-Control"] = "no-store"
        return response


for model in (User, Group):
    admin.site.unregister(model)


@admin.register(User)
class AccountAdmin(HasPages, ModelAdmin):
    """Administrators make accounts; each says for itself how it signs in."""

    form = AccountForm
    pages = (AccountAccessPage,)
    list_display = ("username", "email", "rights", "is_active", "last_login")
    list_filter = ("is_active", "is_staff")
    search_fields = ("username", "email")
    list_per_page = 50
    ordering = ("username",)
    actions = None
    change_form_outer_after_template = "admin/stereoscope/account_buttons.html"

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    def has_view_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return self.has_module_permission(request)

    has_change_permission = has_view_permission

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_module_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False  # what an account did stays: it is deactivated

    def get_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        return ("username", "email", *(() if obj and obj.is_superuser else ("rights",)))

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).prefetch_related("user_permissions")

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        if not change:
            obj.set_unusable_password()
        super().save_model(request, obj, form, change)
        rights = form.cleaned_data.get("rights", ANNOTATES)
        if rights != ANNOTATES and (not change or "rights" in form.changed_data):
            give_rights(user=obj, rights=Rights(rights))

    def response_add(
        self, request: HttpRequest, obj: User, post_url_continue: Any = None
    ) -> HttpResponse:
        said = _("%(who)s has an account. Make a link below, by which they sign in.")
        messages.success(request, said % {"who": obj.get_username()})
        return redirect("admin:auth_user_change", obj.pk)

    @display(description=_("this account"))
    def rights(self, account: User) -> str:
        if account.is_superuser:
            return str(_("Administrator"))
        rights = find_rights(account)
        return str(rights.label if rights else _("Annotator"))


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
