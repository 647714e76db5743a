"""What a test commits is gone after it, and what `migrate` had stored is there again."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection

from annotation.models import AuditAction, AuditEntry, SocialGroup


def read_tables() -> dict[str, list[tuple[object, ...]]]:
    found = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608
            found[table] = sorted(cursor.fetchall(), key=repr)
    return found


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_what_was_committed_is_gone_and_what_was_changed_or_deleted_is_back():
    before = read_tables()
    assert before["annotation_socialgroup"]
    assert before["auth_permission"]
    User.objects.create_user("alice")
    AuditEntry.objects.create(action=AuditAction.VIEWED)
    SocialGroup.objects.update(singular="changed")
    Permission.objects.first().delete()
    ContentType.objects.clear_cache()
    assert read_tables() != before
    # As Django does after such a test.
    call_command("flush", interactive=False, reset_sequences=False, verbosity=0)
    assert read_tables() == before
