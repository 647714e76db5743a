"""Machines: language models, measures, runs."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ProbingConfig(AppConfig):
    name = "probing"
    verbose_name = "Models"

    def ready(self) -> None:
        from probing.library.seeding import seed_after_migrate

        post_migrate.connect(seed_after_migrate, sender=self)
