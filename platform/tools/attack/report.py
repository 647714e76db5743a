"""The attack's outcome as docs/attack.md shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

COLUMNS = ("role", "refused", "reached", "allowed", "locked out", "leaks", "server errors")
HEAD = """# Attack

```
make attack                                                # three installations, 6 minutes each
.venv/bin/python -m tools.attack --setups sqlite-files     # one of them
```

(The lower line needs `PYTHONPATH=.:platform`.) It builds installations with one of everything, on a
PostgreSQL, a Redis and a RabbitMQ of its own where these are installed, starts the web server as an
installation runs it, and does to it what somebody would who means harm. It ends with an error where
anything was reached, leaked, echoed or answered with a fault. This page is what it printed last;
`tests/attack` runs a small part of it with every change.

## What is done

- **Who may what**: every address of the URL conf, for every role, with every method. Who should
  get in is declared once (`platform/tools/attack/rules.py`; roles in `roles.py`); an address
  without a rule is a finding, so that no page is added without saying whom it is for. *Refused*
  is 401, 403, 404, 405 or the way to the log-in; *reached* is anything else where a refusal was
  due; *locked out* is the opposite; *leaks* are answers that show a text of the owner to
  somebody without a part in the study. After the refused requests of each role, every table is
  compared with what it held before.
- **Without guards**: the attack itself is tried. The rightful role sends every request first, with
  what the page's own form holds (*positive control*). Then each guard of the code, such as
  `raise PermissionDenied`, `may_change` or `visible_to`, is taken away in turn, and the requests
  that asked it are sent again: something must be reached, shown or changed now. A guard without a
  finding has another one behind it, or none of these requests tells whether it is there.
- **From another site**: every request of the owner that changes something, without its CSRF
  token.
- **Poison**: every text that a person can write is stored with a formula, an element, quotes, a
  template and invisible letters before it; then every page, figure, export and report is opened
  and looked through for what came out unescaped, cells that are formulas, missing headers, and
  pages that may be kept. Then every form of every page is sent with each kind of text in every
  field.
- **The API's contract**: valid and invalid requests by the OpenAPI schema, to what exists and to
  what was made up. Every answer has to be documented, and what the schema forbids refused.
- **Dependencies**: what is installed against what is pinned.
- **Known weaknesses**: what the package index knows against the pinned versions, asked by
  pip-audit. Where no index is reached that tells it, the table says that none was looked up.
"""


def write_report(
    records: Sequence[Mapping[str, Any]], mutations: Mapping[str, Any] | None = None
) -> str:
    """Return the page: what is done, then for each installation the tables and what was found."""
    lines = [HEAD, "## What came out"]
    for record in records:
        lines += ["", f"### {record['setup']}", "", record["about"], ""]
        lines += [_row(COLUMNS), _row(["---", *["---:"] * (len(COLUMNS) - 1)])]
        lines += [_row(row) for row in record["roles"]]
        lines += ["", _row(("part", "done", "found")), _row(("---", "---", "---:"))]
        lines += [_row(row) for row in record["parts"]]
        if record["findings"]:
            lines += ["", "Findings:", "", *(f"- {line}" for line in record["findings"])]
    if mutations:
        lines += ["", *_describe_mutations(mutations)]
    return "\n".join(lines) + "\n"


def _describe_mutations(mutations: Mapping[str, Any]) -> list[str]:
    guards, counts = mutations["guards"], mutations["counts"]
    seen = {name: found for name, found in guards.items() if found}
    return [
        "### Without guards",
        "",
        f"{counts['attempts']:,} requests of roles that may not, of which "
        f"{counts['with a positive control']:,} get in for the rightful role; "
        f"{len(mutations['findings'])} findings with all guards. {len(guards)} guards were asked "
        f"and taken away in turn; without {len(seen)} of them the attack fails. "
        f"{len(mutations['unasked'])} more were asked by no request.",
        "",
        _row(("guard", "findings without it, and the first")),
        _row(("---", "---")),
        *(_row((f"`{name}`", found or "none")) for name, found in guards.items()),
    ]


def _row(cells: Any) -> str:
    return f"| {' | '.join(map(str, cells))} |"
