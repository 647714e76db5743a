"""The web server's configuration, for `make run` and the container: gunicorn reads the names.

One process with threads: SQLite allows one writer at a time anyway, and only threads of one process
queue up for it fairly. On PostgreSQL a bigger machine raises WEB_PROCESSES.
"""

from __future__ import annotations

import gc
import os
from typing import Any

from gunicorn import glogging
from gunicorn.workers.base import Worker

from stereoscope.logs import JsonFormatter, TokenFilter


class Logger(glogging.Logger):
    """No access log: it would hold addresses and tokens of participants."""

    def access(self, *_: Any) -> None:
        """Write nothing, and gather nothing for it: gunicorn does with each answer."""


logger_class = Logger
wsgi_app = "stereoscope.wsgi"
worker_class = "stereoscope.buffered_worker.BufferedWorker"
workers = int(os.environ.get("WEB_PROCESSES", "1"))
threads = 8
# How long the head of a request may take.
head_seconds = float(os.environ.get("HEAD_SECONDS", "30"))
graceful_timeout = 5
timeout = 120
control_socket_disable = True
logconfig_dict = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"tokens": {"()": TokenFilter}},
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        "json": {"()": JsonFormatter},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "json" if os.environ.get("LOG_FORMAT") == "json" else "line",
            "filters": ["tokens"],
        }
    },
    "root": {"level": "WARNING", "handlers": ["console"]},
    "loggers": {
        "gunicorn.error": {"level": "WARNING", "handlers": ["console"], "propagate": False},
        "waitress.queue": {"level": "ERROR"},  # otherwise a line for each request that waits
    },
}


def post_worker_init(worker: Worker) -> None:
    """Leave what is loaded at the start out of garbage collection: it stays for good.

    Otherwise hundreds of megabytes are searched again and again, while participants wait.
    """
    gc.collect()
    gc.freeze()
