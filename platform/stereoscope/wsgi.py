"""WSGI entry point."""

import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "stereoscope.settings")

application = get_wsgi_application()
# Pages are imported at the start, not while the first visitor waits.
import_module(settings.ROOT_URLCONF)
