"""The pages of annotators' accounts: invitation, log-in, their studies, password."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django.views.generic import FormView

from annotation.annotators.errors import LinkNotOpen, LinkState, PlaceRefused
from annotation.annotators.forms import ChangePasswordForm, JoinForm, LogInForm
from annotation.annotators.invitations import (
    accept_invitation,
    find_invited,
    find_link_state,
    join_with_new_account,
)
from annotation.annotators.lifecycle import link_not_open, locked_out
from annotation.annotators.queue import load_places

LOGIN = reverse_lazy("annotators:login")  # not the admin's
MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"


@require_GET
@never_cache
@login_required(login_url=LOGIN)
def home(request: HttpRequest) -> HttpResponse:
    """The studies of this account, with what is left to do in each."""
    places = load_places(request.user)
    context = {
        "places": places,
        "nothing_left": any(place.has_begun for place in places)
        and not any(place.open for place in places),
    }
    return render(request, "annotation/annotators/home.html", context)


@sensitive_post_parameters("password", "repeated")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """An invitation link: looking is free, only a button takes the place."""
    annotator = find_invited(token)
    state = find_link_state(annotator)
    if annotator is not None and state == LinkState.USED and annotator.user == request.user:
        return redirect("annotators:home")
    if annotator is None or state != LinkState.OPEN:
        return link_not_open(state, annotator).show(request)
    form = JoinForm(request.POST if request.POST.get("account") == "new" else None)
    context: dict[str, Any] = {"annotator": annotator, "study": annotator.study, "form": form}
    if request.method != "POST":
        return render(request, "annotation/annotators/join.html", context)
    try:
        if request.POST.get("account") == "mine" and request.user.is_authenticated:
            accept_invitation(token=token, user=request.user)
        elif form.is_valid():
            _place, user = join_with_new_account(
                token=token,
                username=form.cleaned_data["username"],
                password=form.cleaned_data["password"],
            )
            login(request, user, backend=MODEL_BACKEND)
        else:
            return render(request, "annotation/annotators/join.html", context, status=422)
    except LinkNotOpen as refusal:  # somebody else was faster
        return link_not_open(refusal.state, annotator).show(request)
    except PlaceRefused as refusal:
        context["refusal"] = str(refusal)
        return render(request, "annotation/annotators/join.html", context, status=422)
    messages.success(
        request,
        _("Welcome. In “%(study)s” you are %(who)s.")
        % {"study": annotator.study.title, "who": annotator},
    )
    return redirect("annotators:home")


@method_decorator(never_cache, name="dispatch")
class AccountFormView(FormView):
    """A form of an account; one that is refused comes back with the status that says so."""

    def form_invalid(self, form: Any) -> HttpResponse:
        response = super().form_invalid(form)
        response.status_code = 422
        return response


class LogIn(AccountFormView, LoginView):
    """Throttled as the admin's log-in is: the same accounts, the same backends."""

    form_class = LogInForm
    template_name = "annotation/annotators/login.html"
    next_page = "annotators:home"


class ChangePassword(LoginRequiredMixin, AccountFormView, PasswordChangeView):
    login_url = LOGIN
    form_class = ChangePasswordForm
    template_name = "annotation/annotators/password.html"
    success_url = reverse_lazy("annotators:home")

    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(self.request, _("The password is changed."))
        return super().form_valid(form)


@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("annotators:login")


def tell_locked_out(
    request: HttpRequest, original_response: Any = None, credentials: Any = None
) -> HttpResponse:
    """Answer a log-in after too many failures, as `AXES_LOCKOUT_CALLABLE`; names nobody."""
    return locked_out().show(request)
