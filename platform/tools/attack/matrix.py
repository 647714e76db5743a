"""Asks every address as every role with every method, and judges the answers by the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from tools.attack.addresses import Address
from tools.attack.client import Attacker, Reply
from tools.attack.roles import ROLES, Role
from tools.attack.rules import Rule, find_rule, is_allowed
from tools.attack.stored import changed_tables, hash_tables
from tools.attack.world import SECRET, World

METHODS = ("GET", "POST")
#: Asked by these roles alone, for whom the answers differ most from those of the two above.
RARE_METHODS = ("HEAD", "PUT", "PATCH", "DELETE")
ASK_RARELY = frozenset({"anonymous", "other researcher", "viewer", "read token"})
#: These stop a study or end the session of who asks: last of all.
LAST = ("action", "logout")
#: Not sent by those who may: what it is about would be gone for everybody after them.
FINAL = frozenset({"reports:delete"})
#: Places that those are led to who may not have what they asked for.
AWAY = ("/admin/login/", "/annotate/login/", "/account/")


#: Sends one request: role, method, path, whether as JSON.
Send = Callable[[Role, str, str, bool], Reply]


@dataclass
class Outcome:
    """What a role met: answers by kind, and each finding as a line."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)


def try_role(
    role: Role,
    addresses: Iterable[Address],
    world: World,
    send: Send,
    *,
    allowed: bool,
    rare: tuple[str, ...] = RARE_METHODS,
) -> Outcome:
    """Send what the role may do (``allowed``), or all that it may not."""
    outcome = Outcome()
    rare = rare if not allowed and role.name in ASK_RARELY else ()
    for address in sorted(addresses, key=lambda address: address.name.endswith(LAST)):
        rule = find_rule(address.name)
        if rule is None:
            outcome.findings.append(f"no rule says who may open {address.name} ({address.route})")
            continue
        for method in (*METHODS, *rare):
            if allowed and method == "POST" and address.name in FINAL:
                continue
            if is_allowed(rule, role, method) is allowed:
                path = address.fill(finder(world, role, address))
                reply = send(role, method, path, rule.is_json)
                judge(outcome, role, rule, address, method, reply, allowed=allowed)
    return outcome


def try_all(
    outcome: Outcome,
    role: Role,
    addresses: Iterable[Address],
    world: World,
    attacker: Attacker,
    allowed: bool,
) -> None:
    """Add to ``outcome``; what a role may not do must change no table."""
    attacker.forget(role)
    attacker.headers_of(role)
    before = {} if allowed else hash_tables()
    tried = try_role(role, addresses, world, attacker.send, allowed=allowed)
    changed = [] if allowed else changed_tables(before)
    outcome.counts += tried.counts
    outcome.counts["reached"] += len(changed)
    missing = [line for line in tried.findings if line not in outcome.findings]
    outcome.findings += missing
    outcome.findings += [f"{role.name}: a refused request has changed {table}" for table in changed]


def finder(world: World, role: Role, address: Address) -> Callable[[str, str], object]:
    """Links of visits are known to who holds them; everybody else guesses."""

    def find(name: str, hole: str) -> object:
        if hole == "token" and not role.has_link:
            return "0" * 32
        return world.find(name, hole)

    return find


def judge(
    outcome: Outcome,
    role: Role,
    rule: Rule,
    address: Address,
    method: str,
    reply: Reply,
    *,
    allowed: bool,
) -> None:
    where = f"{role.name}: {method} {address.name} answered {reply.status}"
    if reply.status >= 500:
        outcome.counts["server errors"] += 1
        outcome.findings.append(where)
        return
    refused = is_refusal(reply)
    if not allowed and is_allowed(rule, role, "GET"):
        # Pages of the admin answer as if only asked for; what was stored is seen later.
        outcome.counts["refused"] += 1
    elif not allowed:
        outcome.counts["refused" if refused else "reached"] += 1
        if not refused:
            outcome.findings.append(f"{where} {reply.location}, expected a refusal")
    else:
        outcome.counts["allowed"] += 1
        if refused and rule.always and method == "GET":
            outcome.findings.append(f"{where} {reply.location}, expected the page")
            outcome.counts["locked out"] += 1
    if SECRET.encode() in reply.body and not may_read(role, address):
        outcome.counts["leaks"] += 1
        outcome.findings.append(f"{where} and shows what others own")


def is_refusal(reply: Reply) -> bool:
    if reply.status in {301, 302, 303, 307, 308}:
        path = reply.location.partition("?")[0]
        return path.startswith(AWAY) or path == "/admin/"
    return reply.status in {401, 403, 404, 405, 410, 415}


def may_read(role: Role, address: Address) -> bool:
    """Whether the owner's texts may stand on a page: its participants read the study's title."""
    is_of_people = address.name.startswith(
        ("survey:", "annotators:", "counterparts:", "judgments:")
    )
    return bool({"reads", "superuser"} & role.rights) or is_of_people


def sum_up(outcomes: Mapping[str, Outcome]) -> list[tuple[str, ...]]:
    """Return the rows of the table: a role each."""
    columns = ("refused", "reached", "allowed", "locked out", "leaks", "server errors")
    return [
        (role.name, *(str(outcomes[role.name].counts[name]) for name in columns))
        for role in ROLES
        if role.name in outcomes
    ]
