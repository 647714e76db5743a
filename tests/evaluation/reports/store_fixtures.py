"""Stores the reports that `test_contracts.py` holds the code to, and renews their words.

    PYTHONPATH=.:platform .venv/bin/python -m tests.evaluation.reports.store_fixtures [words]

Without an argument it stores a report for every case of `stored_cases` that has none, with the
downloads and printed cells that today's code makes of it. **A stored report is not renewed to make
a test green.** It must be shown, downloaded and verified as on the day when it was built. Only
where a method or the form of a result changes on purpose, its files are deleted and stored again,
and the commit says what moved and why. Nothing reads results of an earlier form.

With `words` it renews the words (`*.words.json`: captions, headings, notes, sentences, cells of
text) of all stored reports, after an editorial pass. It writes nothing while any download, printed
number, figure or place of a note differs from what is stored, and it touches nothing else. Read its
changes with `git diff` before they are committed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("what", nargs="?", choices=["new", "words"], default="new")
    what = parser.parse_args().what
    with _empty_database():
        _renew_words() if what == "words" else _store_new()


@contextmanager
def _empty_database() -> Iterator[None]:
    """A migrated database in memory, as tests have it."""
    import django

    django.setup()
    from django.db import connection
    from django.test.utils import setup_test_environment, teardown_test_environment

    setup_test_environment()
    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)
        teardown_test_environment()


@contextmanager
def _rolled_back() -> Iterator[None]:
    from django.db import transaction

    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def _store_new() -> None:
    from evaluation.reports.rendering import render_files
    from tests.evaluation.reports import contracts
    from tests.evaluation.reports.stored_cases import CASES, stopped_clock

    contracts.STORED.mkdir(exist_ok=True)
    for name, case in CASES.items():
        if (contracts.STORED / f"{name}.json").exists():
            continue
        with _rolled_back():
            with stopped_clock():
                inputs = case.make()
            report = contracts.build(case, inputs)
            files = render_files(report, contracts.lay_out(report))
            if not any(file.name == "report.pdf" for file in files):
                raise SystemExit("No PDF can be made here (Pango is missing); nothing is stored.")
            contracts.write_json(f"{name}.json", contracts.to_stored(report), deepest=2)
            expected = contracts.read_expected(report, files)
            contracts.write_json(f"{name}.expected.json", expected)
            contracts.write_json(f"{name}.words.json", contracts.read_all_words(report))
        print(f"stored {name}")


def _renew_words() -> None:
    from tests.evaluation.reports import contracts
    from tests.evaluation.reports.stored_cases import CASES

    words, moved = {}, []
    for name in CASES:
        with _rolled_back():
            report = contracts.from_stored(contracts.read_json(f"{name}.json"))
            expected = contracts.read_json(f"{name}.expected.json")
            found = contracts.read_expected(report, ())
            for pinned in (found, expected):
                pinned["downloads"] = contracts.comparable(pinned["downloads"])
            moved += [
                f"{name}: {part}"
                for part in found
                if part != "files" and found[part] != expected[part]
            ]
            words[name] = contracts.read_all_words(report)
    if moved:
        sys.exit("More than words has changed, so that nothing was written:\n" + "\n".join(moved))
    for name, texts in words.items():
        if texts != contracts.read_json(f"{name}.words.json"):
            contracts.write_json(f"{name}.words.json", texts)
            print(f"renewed the words of {name}")


if __name__ == "__main__":
    main()
