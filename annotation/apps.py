"""People: studies, instruments, submissions, ratings."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "People"

    def ready(self) -> None:
        from annotation.audit.signals import connect
        from annotation.library.default_entries import seed_after_migrate

        post_migrate.connect(seed_after_migrate, sender=self)
        connect()
