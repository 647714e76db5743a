"""Addresses of participants. Tokens are matched loosely here; only the database knows them."""

from django.urls import path

from annotation.survey import views
from annotation.survey.files import show_file

app_name = "survey"
urlpatterns = [
    path("", views.home, name="home"),
    path("s/", views.landing, name="no-study"),
    path("s/<slug:public_id>/", views.landing, name="landing"),
    path("s/<slug:public_id>/<slug:digest>.<slug:ending>", show_file, name="file"),
    path("r/<slug:token>/", views.page, name="page"),
    path("w/<slug:token>/", views.own, name="own"),
    path("w/<slug:token>/receipt.txt", views.receipt, name="receipt"),
    path("w/<slug:token>/answers.<slug:kind>", views.own_file, name="own-file"),
]
