"""Whole numbers from 0 to 100 in words: English, Spanish, French, German, Portuguese, Italian, Han.

Many have a second meaning (once, elf, cent, sei, 十分), so a number in words is read only where an
answer says nothing else.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

#: 0 to 19, then 20 to 90, and 100, without accents; “_” stands for a space.
_LANGUAGES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen "
    "twenty thirty forty fifty sixty seventy eighty ninety hundred",
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince "
    "dieciseis diecisiete dieciocho diecinueve "
    "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien",
    "zero un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze "
    "seize dix_sept dix_huit dix_neuf "
    "vingt trente quarante cinquante soixante soixante_dix quatre_vingt quatre_vingt_dix cent",
    "null ein zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn "
    "funfzehn sechzehn siebzehn achtzehn neunzehn "
    "zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig hundert",
    "zero um dois tres quatro cinco seis sete oito nove dez onze doze treze catorze quinze "
    "dezesseis dezessete dezoito dezenove "
    "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa cem",
    "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici "
    "quindici sedici diciassette diciotto diciannove "
    "venti trenta quaranta cinquanta sessanta settanta ottanta novanta cento",
)
#: Words of other languages that are something else in one of these.
_HOMOGRAPHS = ("once", "elf", "sei", "seize", "null", "cent", "cents", "cem")
_OF = re.compile(r"\b(?:of|de|von|sur|sobre)\b", re.IGNORECASE)
_HAN = "〇一二三四五六七八九"
_HAN_NUMBER = re.compile(rf"(?:([{_HAN[1:]}]?)十([{_HAN[1:]}]?)|(一?百)|([{_HAN}零]))")
#: Words around a number in words, of an answer that says nothing else.
_FILLERS = frozenset(
    re.findall(
        r"\S+",
        "i i'd would my the a an rating rate rated score answer value number final overall is of "
        "it it's them this say give assign choose be about around roughly approximately points "
        "point percent out on scale scales yo les diria doy daria una nota puntuacion puntos por "
        "ciento de sobre seria es mi respuesta je dirais donne ma reponse note sur environ ich "
        "wurde sage meine antwort ist etwa punkte prozent von minha resposta e direi la mia "
        "risposta 分 点 점",
    )
)
_HAN_FILLERS = re.compile(r"我|给|評|评|分数|分|点|점|答案|是|为|：|的|数|約|约")


def read_number_words(text: str) -> str:
    """Return in digits what an answer says in words, empty where it says anything else.

    “Seventy.”, “I'd say seventy-five”, “seven out of ten”, “七十分”; not “a seventy-year-old”.
    """
    values, others = _cut(text)
    if not values or any(one not in _FILLERS for one in others):
        return _read_han(text)
    if len(values) == 1:
        return str(values[0])
    return f"{values[0]} out of {values[1]}" if len(values) == 2 and _OF.search(text) else ""


def names_another(text: str, value: float) -> bool:
    """Return whether a text beside its digits names another number of 20 or more in words."""
    return any(number >= 20 and number != value for number in _cut(text)[0])


def _cut(text: str) -> tuple[list[int], list[str]]:
    """Return the numbers in words of a text in their order, and its other words."""
    words = _plain(text).split()
    values, others, place = [], [], 0
    while place < len(words):
        for end in range(min(len(words), place + 4), place, -1):
            if (value := _numbers().get(" ".join(words[place:end]))) is not None:
                values.append(value)
                place = end
                break
        else:
            others.append(words[place])
            place += 1
    return values, others


@cache
def _numbers() -> dict[str, int]:
    found: dict[str, int] = {}
    for language in _LANGUAGES:
        names = [name.replace("_", " ") for name in language.split()]
        units, tens = names[:20], names[20:-1]
        for ten, name in zip(range(20, 100, 10), tens, strict=True):
            last = 19 if name in ("soixante", "quatre vingt") else 9  # soixante-quinze
            for unit in range(1, last + 1):
                word = units[unit]
                for links in (" ", " y ", " e ", " et ", ""):
                    found[f"{name}{links}{word}"] = ten + unit
                found[f"{word}und{name}"] = ten + unit
                found[f"{name[:-1]}i{word}"] = ten + unit  # veinticinco
                found[f"{name[:-1]}{word}"] = ten + unit  # ventotto
            found[name] = found[f"{name}s"] = ten
        found |= {name: value for value, name in enumerate(units)}
        found |= {f"{one}{names[-1]}": 100 for one in ("", "a ", "one ", "ein ", "ein")}
    found |= {"un": 1, "eins": 1, "quatre vingts": 80, "septante": 70, "nonante": 90}
    decades = [f"{name}s" for name in _LANGUAGES[0].split()[20:28]]
    return {word: value for word, value in found.items() if word not in (*_HOMOGRAPHS, *decades)}


def _plain(text: str) -> str:
    """Return a text in lower case without accents, its words parted by single spaces."""
    letters = unicodedata.normalize("NFKD", text.casefold().replace("ß", "ss").replace("’", "'"))
    kept = "".join(one for one in letters if not unicodedata.combining(one))
    return " ".join(re.sub(r"[^\w']+|_", " ", kept).split())


def _read_han(text: str) -> str:
    bare = re.sub(r"[\s\W]", "", _HAN_FILLERS.sub("", unicodedata.normalize("NFC", text)))
    if (found := _HAN_NUMBER.fullmatch(bare)) is None:
        return ""
    ten, unit, hundred, single = found.groups()
    if hundred:
        return "100"
    if single:
        return str(_HAN.index(single.replace("零", "〇")))
    return str(10 * (_HAN.index(ten) if ten else 1) + (_HAN.index(unit) if unit else 0))
