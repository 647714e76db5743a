"""The web server's own configuration."""

from __future__ import annotations

import gc

from stereoscope import server


def test_what_is_loaded_at_the_start_is_never_searched_for_garbage() -> None:
    gc.unfreeze()  # what the suite itself has frozen
    before = gc.get_freeze_count()
    server.post_worker_init(None)
    # Nobody allocates tens of thousands of objects in between: these are the modules.
    assert gc.get_freeze_count() > before + 10_000
