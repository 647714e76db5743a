"""Requests that another site makes a signed-in browser send: none of them may act."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from tools.attack.addresses import Address
from tools.attack.client import Attacker
from tools.attack.injection import Injected
from tools.attack.matrix import is_refusal
from tools.attack.roles import ROLES
from tools.attack.rules import WITHOUT_CSRF, find_rule, is_allowed
from tools.attack.world import World

ROLE = "owner"


def send_from_elsewhere(attacker: Attacker, addresses: Iterable[Address], world: World) -> Injected:
    """Send everything that the owner may send, without the token that only our pages know."""
    found = Injected()
    role = next(role for role in ROLES if role.name == ROLE)
    for address in addresses:
        rule = find_rule(address.name)
        is_open = any(fnmatchcase(address.name, names) for names in WITHOUT_CSRF)
        if rule is None or is_open or not is_allowed(rule, role, "POST"):
            continue
        path = address.fill(world.find)
        reply = attacker.send(role, "POST", path, rule.is_json, csrf=False)
        found.counts["requests"] += 1
        if reply.status >= 500 or not is_refusal(reply):
            found.note("acted", f"POST {address.name} without a CSRF token: {reply.status}")
    return found
