"""Addresses for panels themselves."""

from django.urls import path

from annotation.panels import views

app_name = "panels"
urlpatterns = [path("<slug:panel>/events/", views.receive_event, name="events")]
