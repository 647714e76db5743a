"""The pages of annotators' accounts: invitation, log-in, their studies, password."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.annotators.errors import LinkNotOpen, LinkState, PlaceRefused
from annotation.annotators.forms import ChangePasswordForm, JoinForm, LogInForm
from annotation.annotators.joining import (
    accept_invitation,
    find_invited,
    find_link_state,
    join_with_new_account,
)
from annotation.annotators.notices import Notice, link_not_open
from annotation.annotators.work import load_places

# Guards the pages of annotators: theirs is not the admin's log-in.
annotator_required = login_required(login_url=reverse_lazy("annotators:login"))
MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"


def tell(request: HttpRequest, notice: Notice) -> HttpResponse:
    """Return a page of one message."""
    return render(
        request, "annotation/annotators/notice.html", {"notice": notice}, status=notice.status
    )


@require_GET
@never_cache
@annotator_required
def home(request: HttpRequest) -> HttpResponse:
    """The studies of this account, with what is left to do in each."""
    places = load_places(request.user)
    context = {
        "places": places,
        "nothing_left": bool(places) and not any(place.open for place in places),
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
        return tell(request, link_not_open(state, annotator))
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
        return tell(request, link_not_open(refusal.state, annotator))
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
class LogIn(LoginView):
    """Throttled as the admin's log-in is: the same accounts, the same backends."""

    form_class = LogInForm
    template_name = "annotation/annotators/login.html"
    next_page = "annotators:home"

    def form_invalid(self, form: Any) -> HttpResponse:
        response = super().form_invalid(form)
        response.status_code = 422
        return response


class ChangePassword(PasswordChangeView):
    form_class = ChangePasswordForm
    template_name = "annotation/annotators/password.html"
    success_url = reverse_lazy("annotators:home")

    @method_decorator(never_cache)
    @method_decorator(annotator_required)
    def dispatch(self, *args: Any, **kwargs: Any) -> Any:
        return super().dispatch(*args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(self.request, _("The password is changed."))
        return super().form_valid(form)

    def form_invalid(self, form: Any) -> HttpResponse:
        response = super().form_invalid(form)
        response.status_code = 422
        return response


@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("annotators:login")
