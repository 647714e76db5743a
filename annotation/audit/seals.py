"""The chain of seals over the audit log: who changes or removes an entry breaks it.

A seal is a digest over its entry and the seal before it. Seals are made after an entry's
transaction, in short ones of their own: no act waits for another's because both are logged. What a
process that was killed left open is sealed by the next one, or by the sweep of a worker.

Whoever may write to the database can make the whole chain anew. The last seal, kept elsewhere,
shows that: `manage.py verify_audit` prints it, and takes it back.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, timedelta
from itertools import count

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import AuditEntry, AuditSeal

#: What the first seal has before it.
BEGINNING = "0" * 64
#: In one transaction.
BATCH = 500
#: How many entries back each act looks for what is not sealed; the sweep looks at all.
LATELY = 200
#: An entry without a seal that is older than this was never meant to have one.
LATE = timedelta(hours=2)
#: Others that seal at the same time are waited for so many times.
ATTEMPTS = 5


def digest_entry(before: str, entry: AuditEntry) -> str:
    """Return the seal of an entry after another one."""
    content = {
        "before": before,
        "pk": entry.pk,
        "happened_at": entry.happened_at.astimezone(UTC).isoformat(timespec="microseconds"),
        "action": str(entry.action),
        "actor": entry.actor,
        "study": entry.study_id,
        "target": entry.target,
        "detail": entry.detail,
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def seal_after_commit() -> None:
    """Have entries sealed once the transaction is over; once, however many it adds."""
    waiting = transaction.get_connection().run_on_commit
    if not any(function is seal_lately for _savepoints, function, *_ in waiting):
        transaction.on_commit(seal_lately, robust=True)


def seal_lately() -> int:
    """Seal the newest entries. Three queries where all of them are."""
    newest = AuditEntry.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    # Both sides are a range of an index: it costs the same however long the log is.
    sealed = AuditSeal.objects.filter(entry_id__gt=newest - LATELY).values("entry_id")
    return _seal(AuditEntry.objects.filter(pk__gt=newest - LATELY).exclude(pk__in=sealed))


def seal_all() -> int:
    """Seal every entry that is not, however old. Returns how many there were."""
    return _seal(AuditEntry.objects.filter(seal=None))


def _seal(entries: QuerySet[AuditEntry]) -> int:
    number = 0
    for _attempt in range(ATTEMPTS):
        try:
            while True:
                made = _seal_batch(entries)
                number += made
                if made < BATCH:
                    return number
        except IntegrityError:
            continue  # another one was first: what it has sealed is left out now
    return number  # whoever logs next, or the sweep, seals the rest


def _seal_batch(entries: QuerySet[AuditEntry]) -> int:
    """Seal the oldest of ``entries``, which are not sealed. Raises `IntegrityError`.

    The number of a seal is its key: of two that seal at once, one fails.
    """
    with transaction.atomic():
        last = AuditSeal.objects.order_by("-number").first()
        number, before = (last.number, last.digest) if last else (0, BEGINNING)
        seals = []
        for entry in entries.order_by("pk")[:BATCH]:
            number, before = number + 1, digest_entry(before, entry)
            seals.append(AuditSeal(number=number, entry=entry, digest=before))
        AuditSeal.objects.bulk_create(seals)
    return len(seals)


def last_seal() -> str:
    """Return the newest seal, to be kept elsewhere: number and digest. One query."""
    last = AuditSeal.objects.order_by("-number").first()
    return f"{last.number}:{last.digest}" if last else f"0:{BEGINNING}"


def find_breaks(kept: str = "") -> Iterator[str]:
    """Yield what is wrong with the log, in its order; nothing where it is whole.

    kept : a seal that was printed earlier, which the chain has to hold still
    """
    before, expected = BEGINNING, count(1)
    seals = AuditSeal.objects.order_by("number").prefetch_related("entry")
    for seal in seals.iterator(chunk_size=BATCH):
        number = next(expected)
        if seal.number != number:
            yield f"Seals {number} to {seal.number - 1} are missing."
            expected = count(seal.number + 1)
        entry = getattr(seal, "entry", None)
        if entry is None:
            yield f"Entry {seal.entry_id} was removed (seal {seal.number})."
        elif digest_entry(before, entry) != seal.digest:
            yield f"Entry {entry.pk} was changed, or the seal before it (seal {seal.number})."
        before = seal.digest
    unsealed = AuditEntry.objects.filter(seal=None, happened_at__lt=timezone.now() - LATE)
    for pk in unsealed.order_by("pk").values_list("pk", flat=True):
        yield f"Entry {pk} has no seal, although it is older than two hours."
    if kept:
        number_kept, _colon, digest = kept.partition(":")
        is_there = AuditSeal.objects.filter(number=int(number_kept), digest=digest).exists()
        if not is_there and kept != f"0:{BEGINNING}":
            yield f"The log no longer holds seal {number_kept} as it was kept."
