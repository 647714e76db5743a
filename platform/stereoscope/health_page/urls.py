"""The address of the health page, below that of the admin."""

from __future__ import annotations

from django.contrib import admin
from django.urls import path

from stereoscope.health_page.page import show_health

urlpatterns = [path("", admin.site.admin_view(show_health), name="health")]
