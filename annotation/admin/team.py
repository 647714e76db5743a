"""Teams in the admin: the list of one's own, and the form of a new one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display

from annotation.admin.base import HasPages, ReadByStaff, count_column
from annotation.models import Team
from annotation.researcher.pages.page import staff_user
from annotation.researcher.pages.teams import JoinTeamPage, TeamPage
from annotation.studies.teams import clean_name, create_team


class TeamForm(forms.ModelForm):
    class Meta:
        model = Team
        fields = ("name",)
        help_texts = {"name": _("Such as the name of your lab. You belong to it.")}

    def clean_name(self) -> str:
        name = clean_name(self.cleaned_data["name"])
        # The model's own check leaves out what no field of the form holds.
        try:
            Team(name=name, owner=self.instance.owner).validate_constraints()
        except ValidationError as refusal:
            raise ValidationError(refusal.messages) from None
        return name


@admin.register(Team)
class TeamAdmin(HasPages, ReadByStaff, ModelAdmin):
    """It is changed and deleted on its own page."""

    form = TeamForm
    pages = (TeamPage, JoinTeamPage)
    list_display = ("name", "managed_by", "n_members", "n_studies")
    search_fields = ("name",)
    actions = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Team]:
        return (
            Team.objects.visible_to(request.user)
            .select_related("owner")
            .annotate(
                n_members=Count("members", distinct=True), n_studies=Count("roles", distinct=True)
            )
        )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_module_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_form(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, **kwargs)
        owner = staff_user(request)

        class OwnTeamForm(form):  # type: ignore[misc,valid-type]
            def __init__(self, *args: Any, **given: Any) -> None:
                super().__init__(*args, **given)
                self.instance.owner = owner  # whose names have to differ

        return OwnTeamForm

    def save_model(self, request: HttpRequest, obj: Team, form: Any, change: bool) -> None:
        created = create_team(name=obj.name, owner=staff_user(request))
        obj.__dict__.update(created.__dict__)

    def response_add(
        self, request: HttpRequest, obj: Team, post_url_continue: Any = None
    ) -> HttpResponse:
        return redirect("admin:annotation_team_change", obj.pk)

    @display(description=_("managed by"), ordering="owner__username")
    def managed_by(self, team: Team) -> str:
        return team.owner.get_username() if team.owner else "–"

    n_members = count_column("n_members", _("people"))
    n_studies = count_column("n_studies", _("studies"))
