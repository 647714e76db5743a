"""Opens every page and export of a poisoned database, and sends poison through every form."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import quote_plus, urljoin

import openpyxl

from annotation.exports.corpora import CORPUS_EXPORTS
from annotation.exports.downloads import PAYMENT_FILE, list_files
from annotation.models import Study
from evaluation.models import Report
from tools.attack.addresses import Address
from tools.attack.client import Attacker, Page
from tools.attack.forms import Form, read_forms
from tools.attack.poison import COMPUTED, RAW, TYPED
from tools.attack.roles import ROLES, Role
from tools.attack.rules import find_rule, is_allowed
from tools.attack.world import World

#: Those who look: between them they reach every page that shows somebody's text.
LOOKING = ("participant", "annotator", "superuser")
#: Forms that end the session, or that delete what the rest of the attack needs.
NOT_SENT = ("logout", "password", "/delete/", "/do/", "second-factor", "security")
#: A file that is none, under a name that hurts.
FILE = ("=<zqv>../../x.csv", b"\xff\xfe\x00PK\x03\x04<zqv>,=1+1\n", "text/csv")


@dataclass
class Injected:
    counts: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)

    def note(self, kind: str, line: str) -> None:
        self.counts[kind] += 1
        self.findings.append(line)


def look_everywhere(attacker: Attacker, addresses: Iterable[Address], world: World) -> Injected:
    """Open every page and export of the poisoned database."""
    found = Injected()
    for role in (role for role in ROLES if role.name in LOOKING):
        for name, path in _list_paths(role, list(addresses), world):
            page = attacker.look(role, path)
            found.counts["pages opened"] += 1
            check_page(found, f"{role.name}: {name}", page)
    return found


def _list_paths(role: Role, addresses: list[Address], world: World) -> Iterator[tuple[str, str]]:
    for address in addresses:
        rule = find_rule(address.name)
        if rule is None or not is_allowed(rule, role, "GET") or "logout" in address.name:
            continue
        for find in _finders(address, world):
            path = address.fill(find)
            yield f"{address.name} {path}", path


def _finders(address: Address, world: World) -> Iterator[Callable[[str, str], object]]:
    """Yield the usual filling of an address, or one for each file that it has."""
    files = _list_exports(address.name, world)
    if address.name in {"reports:page", "reports:file"}:
        for report in Report.objects.prefetch_related("files"):
            names = [file.name for file in report.files.all()]
            for file in names if address.name == "reports:file" else [""]:
                yield lambda _name, hole, r=report, f=file: (  # type: ignore[misc]
                    r.public_id if hole == "public_id" else f
                )
        return
    for file in files or [""]:
        yield lambda name, hole, f=file: (  # type: ignore[misc]
            f if f and hole == "name" else world.find(name, hole)
        )


def _list_exports(name: str, world: World) -> list[str]:
    if name == "admin:annotation_corpus_export":
        return list(CORPUS_EXPORTS)
    model, _, page = name.removeprefix("admin:").rpartition("_")
    if page != "export" or not model.endswith("study"):
        return []
    files = list_files(Study.objects.get(pk=world.rows[model].pk))
    return [*files, PAYMENT_FILE] if model == "annotation_study" else files


def check_page(found: Injected, where: str, page: Page) -> None:
    """Note what must not be in an answer: faults, raw elements, computed templates, formulas."""
    kind = page.headers.get("content-type", "").partition(";")[0]
    if page.status >= 500:
        found.note("server errors", f"{where} answered {page.status}")
    if kind in {"text/html", "image/svg+xml", "application/xhtml+xml"}:
        if RAW in page.body:
            found.note("unescaped", f"{where} shows what was typed as a part of the page")
        if COMPUTED in page.body:
            found.note("unescaped", f"{where} computes what was typed")
        if kind == "text/html" and "content-security-policy" not in page.headers:
            found.note("headers", f"{where} comes without a content security policy")
    if kind == "text/csv" and (cell := _find_formula(page.body)):
        found.note("formulas", f"{where} holds the formula {cell!r}")
    if "spreadsheetml" in kind and _has_formula(page.body):
        found.note("formulas", f"{where} holds a formula")
    if page.headers.get("x-content-type-options") != "nosniff":
        found.note("headers", f"{where} lets browsers guess its type")
    if page.is_personal and "no-store" not in page.headers.get("cache-control", ""):
        found.note("headers", f"{where} may be kept by browsers and proxies")


def _find_formula(body: bytes) -> str:
    rows = csv.reader(io.StringIO(body.decode("utf-8-sig", errors="replace")))
    starts = ("=", "@", "+<", "-<", "\t", "\r")
    return next((cell for row in rows for cell in row if cell.startswith(starts)), "")


def _has_formula(body: bytes) -> bool:
    book = openpyxl.load_workbook(io.BytesIO(body))
    return any(cell.data_type == "f" for sheet in book for row in sheet.iter_rows() for cell in row)


def send_everywhere(attacker: Attacker, addresses: Iterable[Address], world: World) -> Injected:
    """Send every kind of poison through every form of every page."""
    found = Injected()
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for role in (role for role in ROLES if role.name in LOOKING):
        for name, path in _list_paths(role, list(addresses), world):
            page = attacker.look(role, path)
            if not page.headers.get("content-type", "").startswith("text/html"):
                continue
            for form in read_forms(page.body.decode()):
                key = (name.partition(" ")[0], (*form.texts, *form.files))
                target = urljoin(page.path, form.action or page.path)
                if key in seen or any(part in target for part in NOT_SENT) or not key[1]:
                    continue
                seen.add(key)
                found.counts["forms"] += 1
                for kind, answer in _send_all(attacker, role, form, target):
                    found.counts["forms sent"] += 1
                    check_page(found, f"{role.name}: {kind} sent to {target}", answer)
    return found


def _send_all(
    attacker: Attacker, role: Role, form: Form, target: str
) -> Iterator[tuple[str, Page]]:
    for kind, poison in TYPED.items():
        if not form.texts:
            break
        typed = poison if isinstance(poison, bytes) else quote_plus(poison).encode()
        pairs = [(name, quote_plus(value).encode()) for name, value in form.fields]
        pairs += [(name, typed) for name in form.texts]
        body = b"&".join(quote_plus(name).encode() + b"=" + value for name, value in pairs)
        yield kind, attacker.post(role, target, body)
    if form.files:
        yield (
            "a file",
            attacker.upload(
                role, target, dict(form.fields) | form.texts, dict.fromkeys(form.files, FILE)
            ),
        )
