"""Addresses of judges, behind a study's public id."""

from django.urls import path

from annotation.judgments import views

app_name = "judgments"
urlpatterns = [
    path("<slug:public_id>/judge/", views.JudgingQueue.as_view(), name="queue"),
    path("<slug:public_id>/judge/<int:position>/", views.JudgingPage.as_view(), name="judge"),
]
