"""The composition root: settings, urls, Celery, WSGI and ASGI."""

from stereoscope.celery import app as celery_app

__all__ = ["celery_app"]
