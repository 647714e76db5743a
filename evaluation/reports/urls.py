"""Addresses of report pages."""

from django.urls import path

from evaluation.reports import live_agreement, views

app_name = "reports"

urlpatterns = [
    path("agreement/<str:public_id>/live/", live_agreement.live, name="agreement-live"),
    path("<str:public_id>/", views.page, name="page"),
    path("<str:public_id>/retry/", views.retry, name="retry"),
    path("<str:public_id>/rebuild/", views.rebuild, name="rebuild"),
    path("<str:public_id>/figures/<slug:name>.svg", views.figure, name="figure"),
    path("<str:public_id>/figures/<slug:name>.<str:form>", views.figure, name="figure"),
    path("<str:public_id>/tables/<int:number>.tex", views.table, name="table"),
    path("<str:public_id>/files/<str:name>", views.file, name="file"),
]
