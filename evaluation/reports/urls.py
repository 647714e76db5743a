"""Addresses of report pages."""

from django.urls import path

from evaluation.reports import shared_views, views

app_name = "reports"

urlpatterns = [
    path("agreement/<str:public_id>/live/", views.live_agreement, name="agreement-live"),
    path("shared/<str:token>/", shared_views.page, name="shared-page"),
    path("shared/<str:token>/figures/<slug:name>.<str:form>", shared_views.figure),
    path("shared/<str:token>/tables/<int:number>.tex", shared_views.table),
    path("shared/<str:token>/references.bib", shared_views.references),
    path("shared/<str:token>/files/<str:name>", shared_views.file),
    path("<str:public_id>/", views.page, name="page"),
    path("<str:public_id>/rename/", views.rename, name="rename"),
    path("<str:public_id>/pin/", views.pin, name="pin"),
    path("<str:public_id>/delete/", views.delete, name="delete"),
    path("<str:public_id>/share/", views.share, name="share"),
    path("<str:public_id>/share/<int:pk>/revoke/", views.revoke, name="revoke"),
    path("<str:public_id>/compare/", views.compare, name="compare"),
    path("<str:public_id>/retry/", views.retry, name="retry"),
    path("<str:public_id>/rebuild/", views.rebuild, name="rebuild"),
    path("<str:public_id>/figures/<slug:name>.svg", views.figure, name="figure"),
    path("<str:public_id>/figures/<slug:name>.<str:form>", views.figure, name="figure"),
    path("<str:public_id>/tables/<int:number>.tex", views.table, name="table"),
    path("<str:public_id>/references.bib", views.references, name="references"),
    path("<str:public_id>/files/<str:name>", views.file, name="file"),
]
