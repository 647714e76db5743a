"""Addresses of the second factor."""

from __future__ import annotations

from django.urls import path

from stereoscope.second_factor import views

urlpatterns = [
    path("second-factor/", views.check, name="second-factor"),
    path("security/", views.security, name="security"),
]
