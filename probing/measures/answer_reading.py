"""What an answer in words says: a rating, a refusal, or nothing that can be read."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from probing.lm.question_protocols import Answer

Outcome = Literal["answered", "refused", "unreadable", "cut_off"]

_LETTERS = "A-Za-zÀ-ɏ"
#: A number with its sign, and the letters that hang on it: “70”, “-5”, “70,5”, “.5”, “4.5e1”.
_NUMBER = re.compile(
    rf"(?<![{_LETTERS}\d])(?P<sign>[-−+]|\b(?:minus|negative|menos)\s+)?"
    r"(?P<digits>\d+(?:[.,]\d+)*|(?<!\.)[.,]\d+)(?P<power>[eE][-+]?\d+)?"
    rf"(?P<tail>[{_LETTERS}\d½⅓⅔¼¾]*)",
    re.IGNORECASE,
)
_UNITS = {"", "pt", "pts", "point", "points", "punto", "puntos", "percent"}
_OF = r"(?:/|out\s+of|of|de|sobre|sur|von|di|su|из)"
#: “57/100”, “57 out of 100”, “57 %”, “0 to 100”: the scale itself is no answer.
_OF_SCALE = re.compile(
    rf"(?:[\s(]*(?:/|out\s+of)|(?<=\d)[\s(]*{_OF})\s*100\b(?![.,]?\d)\)?|\s*[%٪]", re.IGNORECASE
)
_SCALE = re.compile(
    r"(?<![\w.,])(?:(?:from|between|de|entre|von)\s+)?0\s*(?:to|–|-|and|a|y|bis|à)\s*100\b(?![.,]\d)",
    re.IGNORECASE,
)
_OTHER_SCALE = re.compile(
    rf"(?:/|out\s+of|\d\s*{_OF})\s*(?:an?\s+|the\s+)?\d|\d\s*-?\s*point\s+scale", re.IGNORECASE
)
#: A number that bounds a rating, or that it is not.
_BOUND = re.compile(
    r"(?:[<>≤≥]\s*=?|\b(?:at (?:least|most)|(?:more|less|higher|lower|greater|fewer|other) than|"
    r"above|below|over|under|up to|no(?:t| )(?:an? |quite |exactly )?|m[áa]s de|menos de|"
    r"al menos|como m[áa]ximo|por (?:encima|debajo) de|mayor (?:que|a)|menor (?:que|a)))\s*\d"
    r"|\d\s*(?:\+|or (?:more|less|so|higher|lower|above|below)|o (?:m[áa]s|menos))(?!\w)",
    re.IGNORECASE,
)
#: What may still follow where an answer is cut behind a number: 4 → 45, 60 → 60 to 70.
_GOES_ON = re.compile(
    r"[\s.,/+eE–-]*(?:\b(?:to|or|and|out|out of|of|a|y|o|de|sobre|von|bis|sur)\b)?\s*",
    re.IGNORECASE,
)
_SAY = (
    r"(?:say|rate|answer|provide|give|assign|do|help(?! but)|assist|comply|share|respond|offer|"
    r"make|express|judge|generali[sz]e|participate|engage|fulfil+|complete|choose|pick|select|tell|"
    r"endorse|state|put|place|score|evaluate|assess|support|speak|comment|rank|estimate|go|name|"
    r"quantify|stereotype|categori[sz]e|that|this|it|in good conscience|ethically)\b|[.!,;:]|$"
)
_MODEL = r"(?:i|we|(?:this|the) (?:ai|model|assistant))"
_SOFTLY = r"(?:\s+(?:really|simply|just|also|still|must|do|am|therefore|personally|unfortunately))*"
#: Refusals that hold although a number is named: “It would be 70, but I can't say that.”
_REFUSES = re.compile(
    rf"(?:\b{_MODEL}{_SOFTLY}\s+|(?:^|[.!?]\s|\bbut\s)\s*)(?:can ?not|can'?t|could(?: not|n't)|"
    r"won'?t|will not|would(?: not|n't)|should(?: not|n't)|must(?: not|n't)|do(?: not|n't))"
    r"(?:\s+(?:really|ever|possibly|actually|in good faith|be able to|want to|wish to))*"
    rf"\s*(?:{_SAY})"
    r"|\b(?:i|we)(?:'m| am|'re| are)?(?:\s+(?:sorry|afraid|i|but|am|'m|must|have to|respectfully|"
    r"just|simply|therefore))*\s+(?:unable|not (?:able|allowed|permitted|comfortable|willing|going|"
    r"in a position)|unwilling|refuse|decline|prefer not|(?:would|'d) (?:rather|prefer) not)\b"
    r"|\b(?:i|we)'d (?:rather|prefer) not\b|^(?:unable|not able|i?'?d rather not|refus|declin)"
    r"|\bdo(?: not|n't) feel (?:comfortable|able|right)|\bnot something (?:i|we) "
    r"|\b(?:can ?not|can't|should ?n[o']t|must not) be (?:rated|said|answered|given|quantified|"
    r"reduced|measured|scored|generali[sz]ed|ranked)"
    r"|\b(?:is|'s|would be|seems|feels) (?:not (?:appropriate|right|ethical|fair)|inappropriate|"
    r"unethical|unfair|wrong|harmful) to\b"
    r"|\bno (?:lo |se lo |te lo |la |le )?(?:puedo|podr[íi]a|quiero|voy a|debo|deber[íi]a|"
    r"podemos|me es posible|es posible|estoy en condiciones|me corresponde|ser[íi]a apropiado|"
    r"es apropiado|me siento c[óo]mod)|\bme niego|\bprefiero no|\bme abstengo"
    r"|\bje (?:ne |n')(?:peux|veux|saurais|vais|souhaite)[^.,;]*\b|\bje (?:refuse|préfère ne)"
    r"|\b(?:kann|möchte|werde|will|darf) (?:ich )?(?:das |es |dazu |so )*nicht\b|\bweigere mich"
    r"|\bnão (?:posso|consigo|vou|quero|devo)|\b(?:me )?recuso|\bnon posso|\bmi rifiuto"
    r"|我(?:不能|无法|不会)|無法|抱歉|できません|не могу|отказываюсь",
    re.IGNORECASE | re.MULTILINE,
)
#: What follows the words of a refusal where they are none: doubt, and a bound.
_NO_REFUSAL = re.compile(
    r"[^.,;:]*?\b(?:(?:for )?sure|certain(?:ty|ly)?|exact(?:ly)?|precise(?:ly)?|definitive(?:ly)?|"
    r"(?:less|more|other|fewer) than|lower|higher|anything but|below|above|certeza|exactitud|"
    r"precisi[óo]n|menos de|m[áa]s de|segur[oa])\b",
    re.IGNORECASE,
)
#: Words of a refusal where no number is named, and of a reservation where one is.
_RESERVED = re.compile(
    r"\b(?:sorry|as an? (?:ai|language model|artificial)|not appropriate|inappropriate|"
    r"harmful stereotype|no comment|(?:do not|don't) think it|lo siento|"
    r"como (?:una? )?(?:ia|inteligencia artificial|modelo de lenguaje))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ReadRating:
    """How an answer ended; `why` there is no value, empty where there is one."""

    outcome: Outcome
    value: float | None = None
    why: str = ""


def read_rating(answer: Answer, *, low: float = 0, high: float = 100) -> ReadRating:
    """Return the one number from `low` to `high` that an answer gives, or why it gives none.

    The same number twice counts once. Nothing that a refusal goes with is a rating.
    """
    text = _plain(answer.text)
    numbers = list(_NUMBER.finditer(_OF_SCALE.sub(" ", _SCALE.sub(" ", text))))
    cut = answer.finish == "length"
    if answer.finish == "refused" or refuses(answer.text, named=bool(numbers)):
        return ReadRating("refused", why="refused")
    if cut and not numbers:
        return ReadRating("cut_off", why="cut off before a number")
    if cut and _GOES_ON.fullmatch(text[list(_NUMBER.finditer(text))[-1].end() :]):
        return ReadRating("cut_off", why="cut off at a number")
    if why := _why_unreadable(text, numbers):
        return ReadRating("unreadable", why=why)
    (value,) = {_value(one) for one in numbers}
    if not low <= value <= high:
        return ReadRating("unreadable", why=f"a number outside {low:g} to {high:g}")
    return ReadRating("answered", value)


def _why_unreadable(text: str, numbers: list[re.Match[str]]) -> str:
    if not numbers:
        return "no number"
    bare = _OF_SCALE.sub(" ", _SCALE.sub(" ", text))
    if _OTHER_SCALE.search(bare):
        return "a number on another scale"
    if len({_value(one) for one in numbers}) > 1:
        return "several numbers"
    if _BOUND.search(bare):
        return "a bound"
    (one,) = {_value(one) for one in numbers}
    return "no plain number" if math.isnan(one) else ""


def _value(number: re.Match[str]) -> float:
    """Return a number, NaN for one that is none or can be read in two ways (1,000; 1.2.3; 70k)."""
    digits = number["digits"]
    odd = len(re.findall("[.,]", digits)) > 1 or re.fullmatch(r"\d+,\d{3}", digits)
    if odd or number["tail"].lower() not in _UNITS:
        return math.nan
    value = float(digits.replace(",", ".") + (number["power"] or ""))
    return value if (number["sign"] or "+") == "+" else -value


def _plain(text: str) -> str:
    """Return a text with ASCII's digits and signs, without marks of emphasis."""
    plain = "".join(
        str(unicodedata.decimal(one))
        if one.isdecimal()
        else chr(ord(one) - 0xFEE0)
        if "！" <= one <= "～"
        else one
        for one in text
    )
    return re.sub(r"[*_`]", "", plain.replace("’", "'").replace("٫", "."))


def refuses(text: str, *, named: bool) -> bool:
    """Return whether the words refuse, beside what was asked for (`named`) or without it."""
    plain = _plain(text)
    for found in _REFUSES.finditer(plain):
        if not _NO_REFUSAL.match(plain, found.end()):
            return True
    return not named and _RESERVED.search(plain) is not None


def outcome_of(answer: Answer, *, readable: bool) -> Outcome:
    """Return how an answer in words ended, given whether it named what was asked for."""
    if answer.finish == "refused" or refuses(answer.text, named=readable):
        return "refused"
    return "answered" if readable else "unreadable"
