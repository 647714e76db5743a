"""Addresses of the sign-in at a provider of accounts."""

from __future__ import annotations

from django.urls import path

from stereoscope.oidc import views

urlpatterns = [
    path("oidc/", views.begin, name="oidc"),
    path("oidc/connect/", views.connect, name="oidc-connect"),
    path("oidc/back/", views.finish, name="oidc-finish"),
]
