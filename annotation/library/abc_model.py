"""The ABC model's groups and trait pairs, as Cao et al. (2022) used them.

Groups: Table 3 with its 8 domains, the 25 of the human study, the 51 of the released code, and
``average``, which only the published data hold. Trait pairs: Table 1, in the order of the published
data; synonyms: Table A7.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple


class GroupEntry(NamedTuple):
    """A group; `modifier` is how it stands before another one, empty where it cannot."""

    slug: str
    singular: str
    plural: str
    plural_capitalised: str
    domains: tuple[str, ...]
    modifier: str = ""


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
    capitalized = adjective[0].upper() + adjective[1:]
    return GroupEntry(
        slug,
        f"{adjective} person",
        f"{adjective} people",
        f"{capitalized} people",
        domains,
        adjective,
    )


def _noun(slug: str, noun: str, plural: str, domain: str, modifier: str = "") -> GroupEntry:
    """Return the forms of a noun."""
    return GroupEntry(slug, noun, plural, plural[0].upper() + plural[1:], (domain,), modifier)


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
        "Native American",
    ),
    _person("white", "White", "race"),
    _person("cis", "cis", "gender"),
    _noun("man", "man", "men", "gender", "male"),
    _person("non-binary", "non-binary", "gender"),
    _person("trans", "trans", "gender"),
    _noun("woman", "woman", "women", "gender", "female"),
    _noun("immigrant", "immigrant", "immigrants", "socioeconomic"),
    _person("unemployed", "unemployed", "socioeconomic"),
    _noun("veteran", "veteran", "veterans", "socioeconomic"),
    _person("wealthy", "wealthy", "socioeconomic"),
    _person("working-class", "working class", "socioeconomic"),
    _person("buddhist", "Buddhist", "religion"),
    _person("christian", "Christian", "religion"),
    _person("jewish", "Jewish", "religion"),
    _person("mormon", "Mormon", "religion"),
    _person("muslim", "Muslim", "religion"),
    _person("elderly", "elderly", "age"),
    _noun("teenager", "teenager", "teenagers", "age", "teenage"),
    _person("autistic", "autistic", "disability"),
    _person("blind", "blind", "disability"),
    _person("neurodivergent", "neurodivergent", "disability"),
)

# Table 3 without the groups of the human study.
FURTHER_GROUPS = (
    _person("gay", "gay", "gender"),
    _noun("lesbian", "lesbian", "lesbians", "gender", "lesbian"),
    _person("catholic", "Catholic", "religion"),
    _person("amish", "Amish", "religion"),
    _person("protestant", "Protestant", "religion"),
    _noun("atheist", "atheist", "atheists", "religion", "atheist"),
    _person("hindu", "Hindu", "religion"),
    _noun("refugee", "refugee", "refugees", "socioeconomic"),
    _noun("doctor", "doctor", "doctors", "socioeconomic"),
    _noun("mechanic", "mechanic", "mechanics", "socioeconomic"),
    _person("deaf", "Deaf", "disability"),
    _noun(
        "person-with-a-disability",
        "person with a disability",
        "people with a disability",
        "disability",
    ),
    _noun("democrat", "Democrat", "Democrats", "politics", "Democrat"),
    _noun("republican", "Republican", "Republicans", "politics", "Republican"),
    *(
        _person(name.lower(), name, "nationality")
        for name in (
            "Mexican", "Chinese", "Russian", "Indian", "Irish", "Cuban", "Italian", "Japanese",
            "German", "French", "British", "Jamaican", "American", "Filipino",
        )
    ),
)  # fmt: skip

# The released code has “gay man” where Table 3 prints “gay”.
RELEASED_GAY_MAN = GroupEntry("gay-man", "gay man", "gay men", "Gay men", ("gender",))

OTHER_GROUPS = (
    # In the published file but not in the paper.
    _person("average", "average"),
    # Nothing but the generic noun: the baseline of the markedness check.
    GroupEntry("unmarked", "person", "people", "People", ()),
)

ALL_GROUPS = (*HUMAN_STUDY_GROUPS, *FURTHER_GROUPS, RELEASED_GAY_MAN, *OTHER_GROUPS)

_TABLE_3 = tuple(entry.slug for entry in (*HUMAN_STUDY_GROUPS, *FURTHER_GROUPS))
_NOT_RELEASED = {"protestant", "hindu", "gay"}


class GroupSetEntry(NamedTuple):
    slug: str
    title: str
    groups: tuple[str, ...]


GROUP_SETS = (
    GroupSetEntry(*HUMAN_STUDY_SET, tuple(entry.slug for entry in HUMAN_STUDY_GROUPS)),
    GroupSetEntry("cao-2022-table-3", "53 groups of Table 3, Cao et al. 2022", _TABLE_3),
    GroupSetEntry(
        "cao-2022-released",
        "51 groups of the released code, Cao et al. 2022",
        (*(slug for slug in _TABLE_3 if slug not in _NOT_RELEASED), RELEASED_GAY_MAN.slug),
    ),
)

# Pairs that do not exist or say the same twice (Cao et al. 2022, §5.2, give the first two; the
# others follow their rule, since their whole list is not published).
_RELIGIONS = tuple(
    entry.slug for entry in (*HUMAN_STUDY_GROUPS, *FURTHER_GROUPS) if "religion" in entry.domains
)
EXCLUDED_PAIRS = (
    ("cis", "non-binary", "nobody is both"),
    ("teenager", "elderly", "nobody is both"),
    ("cis", "trans", "nobody is both"),
    ("man", "woman", "nobody is both as a paired group"),
    ("man", "non-binary", "nobody is both"),
    ("woman", "non-binary", "nobody is both"),
    ("man", "lesbian", "nobody is both"),
    ("woman", "lesbian", "says the same twice"),
    ("gay", "lesbian", "says the same twice"),
    ("wealthy", "working-class", "nobody is both"),
    ("unemployed", "working-class", "contradicts itself"),
    ("unemployed", "doctor", "contradicts itself"),
    ("unemployed", "mechanic", "contradicts itself"),
    ("working-class", "doctor", "contradicts itself"),
    ("working-class", "mechanic", "says the same twice"),
    ("democrat", "republican", "nobody is both"),
    ("autistic", "neurodivergent", "says the same twice"),
    *((*pair, "nobody is both as a paired group") for pair in combinations(_RELIGIONS, 2)),
)

# Poles, dimension, and the synonyms of either pole.
# fmt: off
TRAITS = (
    ("powerless", "powerful", "agency",
     "weak, helpless, incapable", "forceful, formidable, capable"),
    ("low-status", "high-status", "agency",
     "unskilled, lowly, inferior", "privileged, elite, advantaged"),
    ("dominated", "dominant", "agency",
     "subservient, submissive, deferential", "commanding, authoritative"),
    ("poor", "wealthy", "agency",
     "impoverished, destitute, needy", "affluent, rich, prosperous"),
    ("unconfident", "confident", "agency",
     "bashful, meek, timid", "self-assured, assured, self-possessed"),
    ("unassertive", "competitive", "agency",
     "submissive, diffident, passive", "ambitious, driven, zealous"),
    ("traditional", "modern", "beliefs",
     "old-fashioned", "radical, forward-looking"),
    ("religious", "science-oriented", "beliefs",
     "devout, pious, reverent", "analytical, logical, atheistic"),
    ("conventional", "alternative", "beliefs",
     "mainstream", "unorthodox, avant-garde, eccentric"),
    ("conservative", "liberal", "beliefs",
     "right-wing, Republican", "left-wing, Democrat, progressive"),
    ("untrustworthy", "trustworthy", "communion",
     "unreliable, undependable", "reliable, dependable, truthful"),
    ("dishonest", "sincere", "communion",
     "insincere, deceitful", "genuine, forthright, honest"),
    ("cold", "warm", "communion",
     "unfriendly, unkind, aloof", "friendly, kind, loving"),
    ("threatening", "benevolent", "communion",
     "intimidating, menacing, frightening", "considerate, generous"),
    ("repellent", "likable", "communion",
     "vile, loathsome, nasty", "pleasant, amiable, lovable"),
    ("egotistic", "altruistic", "communion",
     "selfish, self-centered, insensitive", "helpful, charitable, selfless"),
)
# fmt: on
TRAIT_PAIRS = tuple(
    TraitEntry(low, high, dimension, tuple(of_low.split(", ")), tuple(of_high.split(", ")))
    for low, high, dimension, of_low, of_high in TRAITS
)
