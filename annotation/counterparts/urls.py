"""Addresses of writers, behind a study's public id."""

from django.urls import path

from annotation.counterparts import views

app_name = "counterparts"
urlpatterns = [
    path("<slug:public_id>/write/", views.WritingQueue.as_view(), name="queue"),
    path("<slug:public_id>/write/<int:position>/", views.WritingPage.as_view(), name="write"),
    path(
        "<slug:public_id>/write/<int:position>/draft/", views.WritingDraft.as_view(), name="draft"
    ),
]
