"""What a participant's first pages cost in studies of different sizes: landing, start, first page.

The studies are filled as in `tools.bench.pages`. Each figure is the median CPU time of one request
through the whole of the platform, without a network; `VISITS` participants come one by one.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tools.bench.measuring import Meter, Row

SIZES = (100, 1_000, 15_000)
VISITS = 60
WARM_UP = 10
FORM = "application/x-www-form-urlencoded"


def run() -> list[Row]:
    """Return a row per size. BENCH_LANDING_FOLDER keeps the databases, and the next run takes them.

    BENCH_LANDING_SIZES are other sizes, such as 100,1000.
    """
    sizes = os.environ.get("BENCH_LANDING_SIZES", ",".join(map(str, SIZES)))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(os.environ.get("BENCH_LANDING_FOLDER", temporary))
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "stereoscope.settings",
            "VAR_DIR": str(folder),
            "SECRET_KEY": "only-for-this-measurement",
            "ALLOWED_HOSTS": "testserver",
            "ARRIVALS_PER_HOUR": "0",
        }
        os.environ.pop("CELERY_BROKER_URL", None)
        return list(_sweep(folder, [int(size) for size in sizes.split(",")]))


def _sweep(folder: Path, sizes: list[int]) -> Iterator[Row]:
    import django

    django.setup()
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.db import connection

    from annotation.models import Study
    from tools.bench.pages import fill

    for size in sizes:
        place = folder / str(size)
        place.mkdir(parents=True, exist_ok=True)
        connection.close()
        settings.DATABASES["default"]["NAME"] = place / "stereoscope.sqlite3"
        connection.settings_dict["NAME"] = place / "stereoscope.sqlite3"
        call_command("migrate", verbosity=0)
        if not User.objects.filter(username="bench").exists():
            owner = User.objects.create_user("bench", is_staff=True, is_superuser=True)
            fill(owner, submissions=size, beside=2)
        yield measure_visits(Study.objects.get(title="Large study"))


def measure_visits(study: Any, *, visits: int = VISITS) -> Row:
    """Return the row of one study; what the visits store stays."""
    from django.test import Client

    n, link = study.submissions.count(), f"/s/{study.public_id}/"
    taken: dict[str, list[float]] = {"landing": [], "start": [], "first page": []}
    study.quota_per_group = 1_000_000  # open to all of them
    study.save(update_fields=["quota_per_group"])
    meter = Meter()
    with meter:
        for number in range(visits + WARM_UP):
            client = Client()
            _time(taken["landing"], partial(client.get, link))
            begun = _time(taken["start"], partial(client.post, link, "", content_type=FORM))
            if begun.status_code != 302:
                raise RuntimeError(f"visit {number} could not start: {begun.status_code}")
            _time(taken["first page"], partial(client.get, begun["Location"]))
    row = meter.row(f"{n:,} submissions", f"{visits} visits")
    row.figures.update(
        {f"{name}, ms": 1000 * statistics.median(times[WARM_UP:]) for name, times in taken.items()}
    )
    return row


def _time(times: list[float], request: Callable[[], Any]) -> Any:
    begun = time.process_time()
    answer = request()
    times.append(time.process_time() - begun)
    return answer
