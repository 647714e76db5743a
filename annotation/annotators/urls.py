"""Addresses of annotators' accounts. The pages of their work stand behind a study's public id."""

from django.urls import path

from annotation.annotators import views

app_name = "annotators"
urlpatterns = [
    path("", views.home, name="home"),
    path("join/<slug:token>/", views.join, name="join"),
    path("login/", views.LogIn.as_view(), name="login"),
    path("logout/", views.log_out, name="logout"),
    path("password/", views.ChangePassword.as_view(), name="password"),
]
