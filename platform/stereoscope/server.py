"""The web server's configuration, for `make run` and the container: gunicorn reads the names.

One process with threads: SQLite allows one writer at a time anyway, and on PostgreSQL a bigger
machine raises WEB_PROCESSES.
"""

from __future__ import annotations

import os

from stereoscope.logs import TokenFilter

wsgi_app = "stereoscope.wsgi"
worker_class = "gthread"
workers = int(os.environ.get("WEB_PROCESSES", "1"))
threads = 8
graceful_timeout = 5
timeout = 120
control_socket_disable = True
# No access log: it would hold addresses and tokens of participants.
accesslog = None
logconfig_dict = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"tokens": {"()": TokenFilter}},
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["tokens"]}
    },
    "root": {"level": "WARNING", "handlers": ["console"]},
    "loggers": {
        "gunicorn.error": {"level": "WARNING", "handlers": ["console"], "propagate": False},
        "gunicorn.access": {"level": "CRITICAL", "handlers": [], "propagate": False},
    },
}
