"""Arms of a version: participants are dealt out among variants of its texts and sets of its groups.

``Instrument.arms`` is a list of them, empty for a version that is the same for everybody:

    [{"name": "plain", "label": "Plain question", "share": 1, "groups": [],
      "texts": {"question": {"en": "How are {group} seen?"}}}, …]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from annotation.common.language_codes import own_name
from annotation.instruments.text_labels import name_texts
from annotation.steps.question import Slug
from annotation.steps.texts import Texts, text_in

MOST_ARMS, MOST_SHARE = 12, 100


class Arm(BaseModel):
    """One arm.

    name : in the data and in conditions
    share : how many people it gets for each one of an arm with share 1
    groups : slugs of the groups or texts that are rated in it, empty for all
    texts : in place of the instrument's own, by key and language
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Slug
    label: Annotated[str, Field(min_length=1, max_length=100)]
    share: Annotated[int, Field(ge=1, le=MOST_SHARE)] = 1
    groups: list[str] = Field(default_factory=list)
    texts: dict[str, Texts] = Field(default_factory=dict)

    def rates(self, slug: str) -> bool:
        return not self.groups or slug in self.groups

    def words_in(self, language: str, fallback: str) -> dict[str, str]:
        """Return the arm's own texts by key as somebody reads them."""
        return {
            key: text_in(texts, language, fallback=fallback) for key, texts in self.texts.items()
        }


_ARMS = TypeAdapter(list[Arm])


def read_arms(data: object) -> dict[str, Arm]:
    """Return the arms by name, in their order. Raises `ValueError` with what is wrong first."""
    try:
        arms = _ARMS.validate_python(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = " ".join(str(part) for part in first["loc"])
        raise ValueError(f"{place}: {first['msg'].removeprefix('Value error, ')}") from None
    if len(arms) == 1 or len(arms) > MOST_ARMS:
        raise ValueError(f"There are {len(arms)} arms, expected none or 2 to {MOST_ARMS}.")
    named = {arm.name: arm for arm in arms}
    if len(named) < len(arms):
        raise ValueError("Two arms have the same name in the data.")
    return named


def find_arm_faults(
    arms: Mapping[str, Arm], *, groups: set[str], wanted: int, languages: list[str]
) -> Iterator[str]:
    """Yield what keeps the arms of a version from being used.

    groups : slugs of the version; wanted : rating pages of its flow; languages : of its texts
    """
    for arm in arms.values():
        if unknown := sorted(set(arm.groups) - groups):
            yield f"The arm “{arm.label}” rates “{unknown[0]}”, which is not among the groups."
        n = len(set(arm.groups) & groups) if arm.groups else len(groups)
        if n < wanted:
            yield (
                f"The arm “{arm.label}” has {n} groups, expected at least {wanted}, one for each "
                "rating page of the flow."
            )
        for key, texts in arm.texts.items():
            for language in languages:
                if not texts.get(language, "").strip():
                    name = name_texts([key])[0]
                    yield f"The arm “{arm.label}” lacks “{name}” in {own_name(language)}."
                elif key == "question" and "{group}" not in texts[language]:
                    yield f"The question of the arm “{arm.label}” lacks “{{group}}”."
