"""Fixtures of the engine's tests."""

from tests.probing.runs.fixtures import (  # noqa: F401
    bert,
    make_run,
    one_thread,
    own_copy,
    shared_database,
)
from tests.probing.runs.training_fixtures import (  # noqa: F401
    copier,
    copying_model,
    dialect,
    make_training,
    own_folder,
)
from tests.probing.runs.tuning_fixtures import base, made_up, make_tuning  # noqa: F401
from tests.served_model import running, server  # noqa: F401
