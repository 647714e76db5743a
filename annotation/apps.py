"""People: studies, instruments, submissions, ratings."""

from importlib import import_module

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate, pre_migrate
from django.utils.module_loading import module_has_submodule


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "People"

    def ready(self) -> None:
        import annotation.common.new_database  # noqa: F401 - a system check
        from annotation.audit.signals import connect
        from annotation.instruments.questions import ready_made
        from annotation.library import default_entries
        from annotation.studies import place_counts

        pre_migrate.connect(place_counts.before_migrate, sender=self)
        post_migrate.connect(place_counts.after_migrate, sender=self)
        post_migrate.connect(default_entries.seed_after_migrate, sender=self)
        post_migrate.connect(ready_made.seed_after_migrate, sender=self)
        connect()
        # Kinds of steps that an app brings.
        for app in apps.get_app_configs():
            if app.name != self.name and module_has_submodule(app.module, "steps"):
                import_module(f"{app.name}.steps")
