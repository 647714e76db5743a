"""Who asks: the roles of the permission matrix, each with what it may do with the owner's study.

A new role is one line of `ROLES`, and one of `MEMBER_RIGHTS` where it is a new kind of member.
"""

from __future__ import annotations

from dataclasses import dataclass

#: What a rule can ask for. Everybody has the first.
RIGHTS = (
    "anyone",  # nothing at all
    "link",  # the unguessable link of a visit or an invitation
    "account",  # an account of any kind
    "annotator",  # a place in the study
    "staff",  # an account of the staff
    "permitted",  # … with the permissions of the admin
    "reads",  # … and a part in the study
    "reviews",  # decides about submissions and counterparts
    "changes",
    "pays",
    "owns",
    "superuser",
)
NOBODY = "nobody"

#: What members of a study may do with it, by their part in it.
MEMBER_RIGHTS: dict[str, frozenset[str]] = {
    "viewer": frozenset({"reads"}),
    "reviewer": frozenset({"reads", "reviews"}),
    "editor": frozenset({"reads", "reviews", "changes", "pays"}),
    "owner": frozenset({"reads", "reviews", "changes", "pays", "owns"}),
}


@dataclass(frozen=True)
class Role:
    """``member`` is the part in the study, ``scopes`` those of a token in place of a session."""

    name: str
    has_link: bool = False
    has_account: bool = False
    has_place: bool = False
    is_staff: bool = False
    is_permitted: bool = False
    is_superuser: bool = False
    is_active: bool = True
    member: str = ""
    scopes: tuple[str, ...] = ()

    @property
    def rights(self) -> frozenset[str]:
        if self.is_superuser:
            return frozenset(RIGHTS) - {"link", "annotator"}
        granted = {"anyone"} | MEMBER_RIGHTS.get(self.member, frozenset())
        granted |= {"link"} if self.has_link else set()
        if not self.is_active:
            return frozenset({"anyone"})
        if self.has_account or self.is_staff:
            granted.add("account")
        if self.has_place:
            granted |= {"annotator"}
        if self.is_staff:
            granted.add("staff")
        if self.is_permitted:
            granted.add("permitted")
        else:
            granted.discard("pays")
        return frozenset(granted)

    @property
    def account(self) -> str:
        """The name of the role's account; a token is of the owner's."""
        if self.scopes:
            return "owner"
        return "" if not (self.has_account or self.is_staff) else self.name.replace(" ", "-")


def staff(name: str, **options: object) -> Role:
    return Role(name, is_staff=True, is_permitted=True, **options)  # type: ignore[arg-type]


ROLES = (
    Role("anonymous"),
    Role("participant", has_link=True),
    Role("account without a place", has_account=True),
    Role("annotator", has_account=True, has_place=True),
    staff("researcher who left", is_active=False),
    Role("staff without permissions", is_staff=True),
    staff("other researcher"),
    staff("read token", member="owner", scopes=("read",)),
    staff("payment token", member="owner", scopes=("pay",)),
    staff("viewer", member="viewer"),
    staff("reviewer", member="reviewer"),
    staff("editor", member="editor"),
    staff("owner", member="owner"),
    Role("superuser", is_staff=True, is_permitted=True, is_superuser=True),
)
