"""Language models, measures and runs."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ProbingConfig(AppConfig):
    name = "probing"
    verbose_name = "Models"

    def ready(self) -> None:
        from annotation.library.uses import register_uses
        from probing.library.default_entries import seed_after_migrate
        from probing.runs.library_uses import find_run_uses

        post_migrate.connect(seed_after_migrate, sender=self)
        register_uses(find_run_uses)
