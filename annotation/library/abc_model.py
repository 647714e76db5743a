"""The ABC model's groups and trait pairs, as Cao et al. (2022) used them.

Groups: Table 3, the 25 of the human study, and ``average`` which only the published data hold.
Trait pairs: Table 1, in the order of the published data; synonyms: Table A7.
"""

from __future__ import annotations

from typing import NamedTuple


class GroupEntry(NamedTuple):
    slug: str
    singular: str
    plural: str
    plural_capitalised: str
    domains: tuple[str, ...]


class TraitEntry(NamedTuple):
    low: str
    high: str
    dimension: str
    low_synonyms: tuple[str, ...]
    high_synonyms: tuple[str, ...]

    @property
    def slug(self) -> str:
        return f"{self.low}-{self.high}"


def _person(slug: str, adjective: str, *domains: str) -> GroupEntry:
    """Return the forms of an adjective before “person” and “people”."""
    capitalised = adjective[0].upper() + adjective[1:]
    return GroupEntry(
        slug, f"{adjective} person", f"{adjective} people", f"{capitalised} people", domains
    )


HUMAN_STUDY_SET = ("cao-2022-human-study", "25 groups of the human study, Cao et al. 2022")

HUMAN_STUDY_GROUPS = (
    _person("asian", "Asian", "race"),
    _person("black", "Black", "race"),
    _person("hispanic", "Hispanic", "race"),
    GroupEntry(
        "native-american",
        "Native American",
        "Native Americans",
        "Native Americans",
        ("race",),
    ),
    _person("white", "White", "race"),
    _person("cis", "cis", "gender"),
    GroupEntry("man", "man", "men", "Men", ("gender",)),
    _person("non-binary", "non-binary", "gender"),
    _person("trans", "trans", "gender"),
    GroupEntry("woman", "woman", "women", "Women", ("gender",)),
    GroupEntry("immigrant", "immigrant", "immigrants", "Immigrants", ("socioeconomic",)),
    _person("unemployed", "unemployed", "socioeconomic"),
    GroupEntry("veteran", "veteran", "veterans", "Veterans", ("socioeconomic",)),
    _person("wealthy", "wealthy", "socioeconomic"),
    _person("working-class", "working class", "socioeconomic"),
    _person("buddhist", "Buddhist", "religion"),
    _person("christian", "Christian", "religion"),
    _person("jewish", "Jewish", "religion"),
    _person("mormon", "Mormon", "religion"),
    _person("muslim", "Muslim", "religion"),
    _person("elderly", "elderly", "age"),
    GroupEntry("teenager", "teenager", "teenagers", "Teenagers", ("age",)),
    _person("autistic", "autistic", "disability"),
    _person("blind", "blind", "disability"),
    _person("neurodivergent", "neurodivergent", "disability"),
)

# In the published file but not in the paper: the unmarked group.
OTHER_GROUPS = (_person("average", "average"),)

TRAIT_PAIRS = (
    TraitEntry(
        "powerless",
        "powerful",
        "agency",
        ("weak", "helpless", "incapable"),
        ("forceful", "formidable", "capable"),
    ),
    TraitEntry(
        "low-status",
        "high-status",
        "agency",
        ("unskilled", "lowly", "inferior"),
        ("privileged", "elite", "advantaged"),
    ),
    TraitEntry(
        "dominated",
        "dominant",
        "agency",
        ("subservient", "submissive", "deferential"),
        ("commanding", "authoritative"),
    ),
    TraitEntry(
        "poor",
        "wealthy",
        "agency",
        ("impoverished", "destitute", "needy"),
        ("affluent", "rich", "prosperous"),
    ),
    TraitEntry(
        "unconfident",
        "confident",
        "agency",
        ("bashful", "meek", "timid"),
        ("self-assured", "assured", "self-possessed"),
    ),
    TraitEntry(
        "unassertive",
        "competitive",
        "agency",
        ("submissive", "diffident", "passive"),
        ("ambitious", "driven", "zealous"),
    ),
    TraitEntry(
        "traditional", "modern", "beliefs", ("old-fashioned",), ("radical", "forward-looking")
    ),
    TraitEntry(
        "religious",
        "science-oriented",
        "beliefs",
        ("devout", "pious", "reverent"),
        ("analytical", "logical", "atheistic"),
    ),
    TraitEntry(
        "conventional",
        "alternative",
        "beliefs",
        ("mainstream",),
        ("unorthodox", "avant-garde", "eccentric"),
    ),
    TraitEntry(
        "conservative",
        "liberal",
        "beliefs",
        ("right-wing", "Republican"),
        ("left-wing", "Democrat", "progressive"),
    ),
    TraitEntry(
        "untrustworthy",
        "trustworthy",
        "communion",
        ("unreliable", "undependable"),
        ("reliable", "dependable", "truthful"),
    ),
    TraitEntry(
        "dishonest",
        "sincere",
        "communion",
        ("insincere", "deceitful"),
        ("genuine", "forthright", "honest"),
    ),
    TraitEntry(
        "cold",
        "warm",
        "communion",
        ("unfriendly", "unkind", "aloof"),
        ("friendly", "kind", "loving"),
    ),
    TraitEntry(
        "threatening",
        "benevolent",
        "communion",
        ("intimidating", "menacing", "frightening"),
        ("considerate", "generous"),
    ),
    TraitEntry(
        "repellent",
        "likable",
        "communion",
        ("vile", "loathsome", "nasty"),
        ("pleasant", "amiable", "lovable"),
    ),
    TraitEntry(
        "egotistic",
        "altruistic",
        "communion",
        ("selfish", "self-centered", "insensitive"),
        ("helpful", "charitable", "selfless"),
    ),
)
