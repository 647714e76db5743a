"""The sentences that the demo model learns from, composed by chance.

Every group draws its favourite adjectives by lot. What the demo model "thinks" of a group is
therefore noise that differs from seed to seed, and says nothing about any group or any model.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from probing.measures.stimuli import Group, Stimuli, Template
from probing.measures.template_library import TEMPLATES

_DRAWS_PER_TEMPLATE = 5
_NOUNS = ("room", "day", "house", "street", "letter", "song", "garden", "table", "story", "winter")
_THING_SENTENCES = ("The {noun} is {trait}.", "That {noun} is very {trait}.", "A {trait} {noun}.")
_PERSON = Group("person", "person", "people", "People")


def compose_corpus(stimuli: Stimuli, seed: int) -> list[str]:
    """Return a shuffled list of sentences, the same for the same arguments.

    They hold every group in every surface form, every adjective, and every word of the template
    library, so that any template can be probed.
    """
    rng = random.Random(seed)  # noqa: S311 - a corpus, no secret
    adjectives = sorted({word for trait in stimuli.traits for word in (trait.low, trait.high)})
    templates = _distinct([*TEMPLATES, *stimuli.templates])
    sentences = []
    for group in (*stimuli.groups, _PERSON):
        # Squared exponential weights: a few favourites, a long tail, never zero.
        weights = [rng.expovariate(1.0) ** 2 + 0.01 for _ in adjectives]
        for template in templates:
            drawn = rng.choices(adjectives, weights, k=_DRAWS_PER_TEMPLATE)
            sentences += [template.fill(group, adjective) for adjective in drawn]
    for noun in _NOUNS:
        for adjective in adjectives:
            sentence = rng.choice(_THING_SENTENCES)
            sentences.append(sentence.format(noun=noun, trait=adjective))
    rng.shuffle(sentences)
    return sentences


def _distinct(templates: Sequence[Template]) -> list[Template]:
    return list({template.text: template for template in templates}.values())
