"""A group's surface forms: proposed from its singular, and checked for article, number, capitals.

Each form stands in its own place: “That elderly person is …”, “All elderly people are …”, “Elderly
people should be …”, and the modifier before another group, “elderly teenager”.

The rules are for American English. Where speakers differ (“a herb”, “an herb”) or a spelling does
not tell (an abbreviation that may be a word or letters), nothing is claimed.

Only the head noun changes: “person with a disability” becomes “people with a disability”. The
rules are rough on purpose; what they propose is for a person to look at.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

# --- “a” or “an”: chosen by the sound that follows, not by its letter -----------------------------

#: Letters whose names begin with a vowel: “an F”, “an X-ray”; but “a U-turn”.
VOWEL_LETTERS = frozenset("AEFHILMNORSX")
#: Abbreviations that are read as words though their letters would ask for the other article.
SPOKEN_AS_WORDS = frozenset(
    ("FEMA", "LASIK", "MAGA", "MENSA", "NAFTA", "NASA", "NASCAR", "NASDAQ", "NATO", "RAM", "ROM",
     "SCOTUS", "SEAL", "SIM", "STEM", "SWAT")
)  # fmt: skip
#: The longest abbreviation with vowels that is taken to be spelled out: “an NBA player”.
SPELLED_LENGTH = 3

CONSONANT_STARTS = (
    # “you”: European, eulogy, ewe, and long u.
    "eu", "ewe", "ubiq", "ufo", "ugand", "ukr", "uku", "unanim", "uni", "ura", "ure", "uri",
    "uro", "uru", "usa", "use", "usi", "usu", "uta", "ute", "uti", "uto", "uv",
    # “w”: one.
    "one-", "oneself", "once", "ouija",
)  # fmt: skip
VOWEL_STARTS = (
    # Silent h.
    "heir", "honest", "honor", "honour", "hour",
    # The prefix “un” before i.
    "unid", "unill", "unim", "unin", "unir",
    # Letters that begin otherwise than they look.
    "usher", "yttri", "yves",
)  # fmt: skip
#: Speakers differ.
OPEN_STARTS = ("herb", "histor", "homage", "oaxac", "uigh", "uygh")
CONSONANT_WORDS = frozenset({"one", "ones"})

_ARTICLE = re.compile(r"(?:(?<=^)|(?<=[\s(“\"‘]))(a|an|A|An|AN)\s+(?=\S)")
_LEADING = re.compile(r"^[^\w]+")
_ARTICLE_WORD = re.compile(r"[^\W\d_]+")


def vowel_sound(phrase: str) -> bool | None:
    """Return whether ``phrase`` begins with a vowel's sound, None where that cannot be told."""
    words = _LEADING.sub("", phrase).split()
    if not words:
        return None
    first = unicodedata.normalize("NFKD", words[0])
    first = "".join(char for char in first if not unicodedata.combining(char))
    if first[0].isdigit():
        return _number_sound(first)
    letters = _ARTICLE_WORD.match(first)
    if letters is None or not letters.group().isascii():
        return None
    start = letters.group()
    if len(start) == 1 and first[1:2] in ("-", ".", "") and start not in ("a", "I"):
        return start.upper() in VOWEL_LETTERS
    if start.isupper() and len(start) > 1:
        return _abbreviation_sound(start)
    return _word_sound(first.lower())


def indefinite(phrase: str) -> str:
    """Return “a” or “an” for ``phrase``; “a” where its sound cannot be told."""
    return "an" if vowel_sound(phrase) else "a"


def wrong_articles(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield each wrong article with the word behind it, and the article that belongs there.

    Capital “A” counts as an article at the beginning of a sentence only: elsewhere it may be a
    letter.
    """
    for match in _ARTICLE.finditer(sentence):
        written = match.group(1)
        before = sentence[: match.start()].rstrip(" (“\"‘'")
        if written[0] == "A" and before and before[-1] not in ".?!:…":
            continue
        following = sentence[match.end() :]
        sound = vowel_sound(following)
        if sound is None or sound == (len(written) == 2):
            continue
        expected = "an" if sound else "a"
        if written[0] == "A":
            expected = expected.capitalize()
        word = following.split()[0].strip('.,;:!?…”"’)')
        yield f"{written} {word}", expected


def _number_sound(text: str) -> bool | None:
    """Return the sound of a number: eight, eleven, eighteen and eighty begin with vowels."""
    digits = re.match(r"[\d,]+", text)
    number = digits.group().replace(",", "") if digits else ""
    if number.startswith("8"):
        return True
    if number.startswith(("11", "18")):
        # 18 and 18,000 are eighteen; 180 is one hundred and eighty; 1800 may be said both ways.
        places = len(number) % 3
        return None if len(number) == 4 else places == 2
    return False


def _abbreviation_sound(letters: str) -> bool | None:
    """Return the sound of an abbreviation, spelled out or read as a word."""
    if letters in SPOKEN_AS_WORDS:
        return False
    spelled = letters[0] in VOWEL_LETTERS
    if len(letters) <= SPELLED_LENGTH or not set(letters) & set("AEIOUY"):
        return spelled
    spoken = _word_sound(letters.lower())
    return spelled if spelled == spoken else None


def _word_sound(word: str) -> bool | None:
    if word.startswith(OPEN_STARTS):
        return None
    if word.startswith(VOWEL_STARTS):
        return True
    plain = _ARTICLE_WORD.match(word)
    if word.startswith(CONSONANT_STARTS) or (plain and plain.group() in CONSONANT_WORDS):
        return False
    return word[0] in "aeiou"


# --- The plural of a group's name: proposed from the singular, and told apart from it -------------

IRREGULAR = {
    "person": "people",
    "man": "men",
    "woman": "women",
    "child": "children",
    "wife": "wives",
    "housewife": "housewives",
    "midwife": "midwives",
    "elf": "elves",
    "foot": "feet",
    "tooth": "teeth",
    "mouse": "mice",
    "ox": "oxen",
    "thief": "thieves",
    "life": "lives",
    "alumnus": "alumni",
    "passer-by": "passers-by",
    "passerby": "passersby",
}
#: Words that end like their plural but are no plural of “man”.
NOT_MEN = frozenset({"german", "human", "roman", "ottoman", "shaman", "talisman", "norman"})
#: The same in singular and plural; so are peoples' names that end in -ese, -ois and -x.
INVARIANT = frozenset(
    {"swiss", "inuit", "maori", "māori", "roma", "sami", "sámi", "hmong", "lgbt", "lgbtq", "amish",
     "samurai", "navajo", "hopi", "zuni", "cherokee", "apache", "deaf", "blind"}
)  # fmt: skip
PEOPLE_WORDS = frozenset({"people", "persons", "folk", "folks", "men", "women", "children"})
#: What follows one of these belongs to the head noun before it.
AFTER_HEAD = frozenset(
    {"with", "without", "of", "in", "from", "on", "at", "for", "to", "by", "under", "over",
     "who", "that", "whose", "experiencing", "living", "having", "using", "seeking"}
)  # fmt: skip
SIBILANT_PLURAL = re.compile(r"(ss|x|zz|ch|sh)es$")
_S_ENDINGS = ("s", "x", "z", "ch", "sh")


def propose_plural(singular: str) -> str:
    """Return a likely plural of ``singular``, such as “people with a disability”."""
    before, head, after = split_head(singular)
    return f"{before}{_plural_noun(head)}{after}"


def propose_singular(plural: str) -> str:
    """Return a likely singular of ``plural``; the plural itself where no rule leads back."""
    before, noun, after = split_head(plural)
    irregular = {many: one for one, many in IRREGULAR.items()}
    stems = [noun[:-2], noun[:-1]] if SIBILANT_PLURAL.search(noun) else [noun[:-1], noun[:-2]]
    candidates = [irregular.get(noun, ""), f"{noun[:-2]}an", f"{noun[:-3]}y", *stems]
    found = (one for one in candidates if one and _plural_noun(one) == noun)
    return f"{before}{next(found, noun)}{after}"


def split_head(phrase: str) -> tuple[str, str, str]:
    """Return what stands before the head noun, the noun, and what stands after it."""
    words = phrase.split(" ")
    end = next(
        (place for place, word in enumerate(words) if place and word.lower() in AFTER_HEAD),
        len(words),
    )
    before = "".join(f"{word} " for word in words[: end - 1])
    after = "".join(f" {word}" for word in words[end:])
    return before, words[end - 1], after


def is_plural(phrase: str) -> bool | None:
    """Return whether a phrase's head noun is a plural, None where its form does not tell."""
    noun = _simple(split_head(phrase)[1])
    if noun in PEOPLE_WORDS or noun in IRREGULAR.values():
        return True
    if noun in IRREGULAR:
        return False
    if noun.endswith("men") and not noun.endswith(("omen", "amen", "ymen", "imen")):
        return True
    if noun.endswith("man") and noun not in NOT_MEN:
        return False
    return None


def same_noun(singular: str, plural: str) -> bool:
    """Return whether ``plural`` is, as far as rules can tell, the plural of ``singular``."""
    noun = split_head(singular)[1]
    one, many = _simple(noun), _simple(split_head(plural)[1])
    accepted = {_simple(_plural_noun(noun)), _plural_noun(one)}
    if one == "person":
        accepted |= {"persons", "folk", "folks"}
    if _is_invariant(one):
        accepted |= {one, f"{one}s"}
    return many in accepted


def _plural_noun(noun: str) -> str:
    plain = noun.lower()
    if plain in IRREGULAR:
        found = IRREGULAR[plain]
        return found.capitalize() if noun[:1].isupper() else found
    if _is_invariant(plain):
        return noun
    if plain.endswith("man") and plain not in NOT_MEN:
        return f"{noun[:-2]}en"
    if re.search(r"[^aeiou]y$", plain) and not noun[:1].isupper():
        return f"{noun[:-1]}ies"
    if plain.endswith(_S_ENDINGS):
        return f"{noun}es"
    if plain.endswith(("hero", "potato", "tomato", "echo", "negro")):
        return f"{noun}es"
    return f"{noun}s" if noun else noun


def _is_invariant(noun: str) -> bool:
    return noun in INVARIANT or noun.endswith(("ese", "ois"))


def _simple(noun: str) -> str:
    return noun.lower().rstrip("+*.,")


# --- Capitals: at the beginning of a sentence, and in proper names such as “Asian” ----------------


@dataclass(frozen=True)
class Finding:
    """One thing that reads wrong, or may.

    Attributes
    ----------
    certain : an error if True; otherwise a person should read `sentence` and decide.
    message : what is wrong and what is expected.
    field : where it was entered, such as ``plural``; empty where no single field is at fault.
    sentence : the words as a reader meets them; empty where `message` says enough.
    firm : an error that nobody can wave through, since it is not about English.
    """

    certain: bool
    message: str
    field: str = ""
    sentence: str = ""
    firm: bool = False

    def __str__(self) -> str:
        return f"{self.message} It reads “{self.sentence}”." if self.sentence else self.message


def firm(message: str, field: str = "") -> Finding:
    """Return an error that is not about English."""
    return Finding(True, message, field, firm=True)


# --- Words that English writes with a capital wherever they stand, and words that it may ----------

#: Peoples, nations, faiths and their adjectives. Plurals in -s are found by their singular.
PROPER = frozenset(
    """
    afghan africa african alaskan albanian algerian america american amish andorran anglican angolan
    appalachian arab arabian arabic argentine argentinian armenian ashkenazi asia asian assyrian
    australian austrian azerbaijani aztec bahamian bahraini balinese bangladeshi baptist barbadian
    basque belarusian belgian belizean bengali beninese bhutanese bolivian bosnian botswanan brahmin
    brazil brazilian britain british buddhist bulgarian burmese burundian californian calvinist
    cambodian cameroonian canada canadian caribbean catalan caucasian celtic chadian cherokee
    chicana chicano chilean chinese christian colombian confucian congolese coptic cossack croatian
    cuban cypriot czech dane danish dominican dutch ecuadorian egyptian emirati england english
    englishman englishwoman eritrean estonian ethiopian eurasian europe european fijian filipina
    filipino finn finnish flemish floridian french frenchman frenchwoman gabonese gambian georgian
    german ghanaian greek greenlandic guatemalan guinean guyanese haitian hasidic hawaiian hebrew
    hindu hispanic hmong honduran hungarian hutterite icelander icelandic igbo india indian
    indonesian inuit iranian iraqi irish irishman irishwoman islamic israeli israelite italian
    ivorian jain jamaican japanese javanese jehovah jew jewish jordanian kazakh kenyan khmer korean
    kosovan kurd kurdish kuwaiti kyrgyz lao laotian latina latino latinx latvian lebanese liberian
    libyan lithuanian lutheran luxembourgish macedonian malagasy malawian malaysian maldivian malian
    maltese maori maronite mauritanian mauritian mayan mennonite methodist mexican mexico moldovan
    mongolian montenegrin moravian mormon moroccan mozambican muslim māori namibian navajo nepalese
    nepali nicaraguan nigerian nigerien nordic norwegian ojibwe omani pakistani palestinian
    panamanian papuan paraguayan parsi pashtun pentecostal persian peruvian portuguese presbyterian
    protestant punjabi qatari quaker rastafarian roma romani romanian russian rwandan salvadoran
    samoan saudi scandinavian scientologist scot scotsman scottish senegalese sephardic serb serbian
    shia shiite sikh singaporean sinhalese slav slavic slovak slovakian slovenian somali spaniard
    spanish sudanese sufi sunni surinamese swede swedish syrian tahitian taiwanese tajik tamil
    tanzanian taoist texan thai tibetan togolese tongan trinidadian tunisian turk turkish turkmen
    ugandan ukrainian unitarian uruguayan uyghur uzbek venezuelan vietnamese welsh welshman
    welshwoman yemeni yiddish yoruba yugoslav zambian zimbabwean zionist zoroastrian zulu
    """.split()  # noqa: SIM905 - a list literal would be a word a line
)

#: With a capital as a name, without one in another sense or by another habit: only a remark.
OFTEN_PROPER = frozenset(
    """
    catholic creole democrat gypsy latin northerner orthodox polish puritan quechua republican roman
    swiss tory whig
    """.split()  # noqa: SIM905 - a list literal would be a word a line
)

#: May be written either way; neither is remarked on.
EITHER_WAY = frozenset(
    """
    aboriginal autistic black blind brown deaf deafblind first gen greens indigenous libertarian
    midwestern millennial nation nations native northern pacific south southern southerner western
    westerner white
    """.split()  # noqa: SIM905 - a list literal would be a word a line
)


_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


def capitalize(text: str) -> str:
    """Return ``text`` with a capital first letter, the rest as it was."""
    return text[:1].upper() + text[1:]


def lower_case_names(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each word without its capital, and whether it certainly needs one."""
    for match in _WORD.finditer(text):
        word = match.group()
        if word != word.lower():
            continue
        stem = _stem(word)
        if stem in PROPER:
            yield word, True
        elif stem in OFTEN_PROPER:
            yield word, False


def needless_capital(text: str) -> str:
    """Return a first word whose capital may be needless within a sentence, empty if there is none.

    Names and abbreviations keep theirs.
    """
    match = _WORD.match(text)
    if match is None:
        return ""
    word = match.group()
    rest = word[1:]
    if not word[0].isupper() or not rest or rest != rest.lower():
        return ""
    stem = _stem(word.lower())
    known = stem in PROPER or stem in OFTEN_PROPER or stem in EITHER_WAY
    return "" if known else word


def _stem(word: str) -> str:
    """Return a word without the ending of its plural or its genitive, if the list knows that."""
    plain = re.sub(r"['’]s?$|['’]s$", "", word)
    for ending in ("es", "s"):
        short = plain.removesuffix(ending)
        if short != plain and (short in PROPER or short in OFTEN_PROPER or short in EITHER_WAY):
            return short
    return plain


#: Form → its name in messages, and a sentence around it.
FORMS = {
    "singular": ("singular", "That {} is …"),
    "plural": ("plural", "All {} are …"),
    "plural_capitalised": ("capitalized plural", "{} should be …"),
    "modifier": ("modifier", "That {} person is …"),
}
#: Nouns after which the words before them are a modifier: “Asian person” gives “Asian”.
PLAIN_NOUNS = ("person", "people")


@dataclass(frozen=True)
class Forms:
    """The surface forms of a group; `modifier` is empty where the group never comes first."""

    singular: str
    plural: str
    plural_capitalised: str
    modifier: str = ""


def propose_forms(singular: str) -> Forms:
    """Return likely forms for a group of that singular; a person looks at them."""
    plain = " ".join(singular.split())
    plural = propose_plural(plain)
    before, noun, after = split_head(plain)
    adjectival = noun in PLAIN_NOUNS and before and not after
    return Forms(plain, plural, capitalize(plural), before.strip() if adjectival else "")


def check_forms(forms: Forms) -> list[Finding]:
    """Return what reads wrong in the forms, certain findings first."""
    found = [*_missing(forms), *_spaces(forms)]
    if found:
        return found
    found = [*_number(forms), *_capitals(forms), *_articles(forms)]
    return sorted(found, key=lambda finding: not finding.certain)


def show(name: str, form: str) -> str:
    """Return a form in a sentence that needs it."""
    return FORMS[name][1].format(form)


def _missing(forms: Forms) -> Iterator[Finding]:
    for name in ("singular", "plural", "plural_capitalised"):
        if name == "plural_capitalised" and not forms.plural.strip():
            continue  # it follows from the plural
        if not getattr(forms, name).strip():
            label, sentence = FORMS[name]
            expected = _expected(name, forms)
            hint = f", such as “{expected}”" if expected else f" for “{sentence.format('_')}”"
            yield firm(f"The {label} is missing, expected one{hint}.", name)


def _expected(name: str, forms: Forms) -> str:
    if not forms.singular.strip():
        return ""
    return str(getattr(propose_forms(forms.singular), name)) if name != "singular" else ""


def _spaces(forms: Forms) -> Iterator[Finding]:
    for name, (label, _sentence) in FORMS.items():
        form = getattr(forms, name)
        if form != " ".join(form.split()):
            yield firm(
                f"The {label} “{form}” has spaces at an end, or two in a row. Take them out.", name
            )
        if set(form) & set("{}[]<>") or not form.isprintable():
            yield firm(f"The {label} “{form}” holds a bracket or a sign, expected words.", name)


def _number(forms: Forms) -> Iterator[Finding]:
    if is_plural(forms.singular):
        yield Finding(
            True,
            f"“{forms.singular}” is a plural, expected a singular.",
            "singular",
            show("singular", forms.singular),
        )
        return
    if is_plural(forms.plural) is False:
        yield Finding(
            True,
            f"“{forms.plural}” is a singular, expected a plural, such as "
            f"“{propose_plural(forms.singular)}”.",
            "plural",
            show("plural", forms.plural),
        )
    elif not same_noun(forms.singular, forms.plural):
        same = forms.plural == forms.singular
        yield Finding(
            False,
            f"The plural is the same as the singular, “{forms.plural}”."
            if same
            else f"“{forms.plural}” may not be the plural of “{forms.singular}”; the usual one is "
            f"“{propose_plural(forms.singular)}”.",
            "plural",
            show("plural", forms.plural),
        )


def _capitals(forms: Forms) -> Iterator[Finding]:
    expected = capitalize(forms.plural)
    first = forms.plural.split(" ")[0]
    inner = first[:1].islower() and first != first.lower()  # a name such as iPhone
    if forms.plural_capitalised != expected and not (
        inner and forms.plural_capitalised == forms.plural
    ):
        yield Finding(
            True,
            f"The capitalized plural is “{forms.plural_capitalised}”, expected the plural with a "
            f"capital first letter, “{expected}”.",
            "plural_capitalised",
            show("plural_capitalised", forms.plural_capitalised),
        )
    for name in ("singular", "plural", "modifier"):
        form = getattr(forms, name)
        for word, certain in lower_case_names(form):
            yield Finding(
                certain,
                f"“{word}” is written with a capital, “{capitalize(word)}”."
                if certain
                else f"“{word}” is written with a capital as a name, “{capitalize(word)}”.",
                name,
                show(name, form),
            )
        if word := needless_capital(form):
            yield Finding(
                False,
                f"“{word}” begins with a capital within the sentence; that is right for names "
                "alone.",
                name,
                show(name, form),
            )


def _articles(forms: Forms) -> Iterator[Finding]:
    for name in ("singular", "plural", "modifier"):
        form = getattr(forms, name)
        for written, article in wrong_articles(f"– {form}"):
            word = written.split(" ", 1)[1]
            yield Finding(
                True, f"“{written}” has the wrong article, expected “{article} {word}”.", name
            )
        first = form.split(" ")[0].lower() if form else ""
        if first in ("a", "an", "the") and " " in form:
            yield Finding(
                name != "plural" or first != "the",
                f"“{form}” begins with an article, expected the words behind it alone: templates "
                "bring their own.",
                name,
                show(name, form),
            )
