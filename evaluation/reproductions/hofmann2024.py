"""Hofmann et al. (2024), AI generates covertly racist decisions based on dialect.

What people said is released; the texts are two collections of tweets that are not, so that values
of models can't be computed again.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaluation.metrics.attribute_agreement import expected_map, human_top, permutation_null
from evaluation.metrics.prestige import occupation_prestige
from evaluation.metrics.stereotypes import overlap_probability
from evaluation.reproductions.items import Item, Paper, Sources, Value

ORIGIN = "github.com/valentinhofmann/dialect-prejudice (data/attributes)"
NORMS = (
    "the tables of notebooks/ratings.py in github.com/valentinhofmann/dialect-prejudice, as a CSV"
)
NO_TWEETS = "The tweets in AAE and SAE are not released."
NO_NUMBERS = "The figure prints no numbers."
#: Study, its year, and the five adjectives that Figure 2a prints for people.
TOP_FIVE = {
    "katz": (1933, "lazy, ignorant, musical, religious, stupid"),
    "gilbert": (1951, "musical, lazy, ignorant, religious, stupid"),
    "karlins": (1969, "musical, lazy, sensitive, ignorant, religious"),
    "bergsieker": (2012, "loud, loyal, musical, religious, aggressive"),
}
N_PERMUTATIONS = 100_000


def _adjectives(sources: Sources) -> list[str]:
    return sources.file("katz.txt", ORIGIN).read_text(encoding="utf-8").split()


def _people(sources: Sources) -> Iterator[Value]:
    """Figure 2a, the row of people, and the text beside it."""
    adjectives = _adjectives(sources)
    percentages: dict[str, dict[str, float]] = {}
    for row in sources.rows("princeton_trilogy.csv", NORMS):
        percentages.setdefault(row["study_key"], {})[row["adjective"]] = float(row["percent"])
    for study, (year, words) in TOP_FIVE.items():
        ours = ", ".join(human_top(percentages[study], adjectives, 5))
        yield Value(f"people's five adjectives, {year}", words, ours)
    yield Value(
        "P of three shared adjectives of five, at most",
        0.01,
        overlap_probability(3),
        decimals=3,
        reason="The paper's P < 0.01 is from 10,000 random permutations (0.0099 in the released "
        "notebook); the exact probability is 0.0117.",
    )


def _chance(sources: Sources) -> Iterator[Value]:
    """Figure 2b, the line of chance agreement; Extended Data Table 1 prints its mean and SD."""
    yield Value(
        "mean agreement by chance",
        0.162,
        expected_map(37),
        reason="The exact mean is 0.1628; the paper's is of random draws.",
        tolerance=0.001,
    )
    drawn = permutation_null(
        np.arange(37.0)[None], 5, n_permutations=N_PERMUTATIONS, rng=np.random.default_rng(0)
    )
    reason = "The SD is of random draws, 10,000 in the paper."
    yield Value("its SD", 0.106, float(drawn.std()), tolerance=0.002, reason=reason)


def _degrees_of_freedom(sources: Sources) -> Iterator[Value]:
    """Extended Data Table 4: occupations with a prestige, less the line's two parameters."""
    titles = {
        row["title"]: float(row["prestige"])
        for row in sources.rows("gss_occupational_prestige.csv", NORMS)
    }
    words = sources.file("occupations.txt", ORIGIN).read_text(encoding="utf-8").splitlines()
    rated = occupation_prestige([word for word in words if word], titles, rule="released")
    yield Value("degrees of freedom of F", 63, float(len(rated) - 2), decimals=0)


PAPER = Paper(
    "hofmann2024",
    "Hofmann et al. (2024): AI generates covertly racist decisions about people based on their "
    "dialect",
    (
        Item("figure-1", "The method", is_text=True, reason="A drawing of the method."),
        Item(
            "figure-2",
            "Adjectives of people and models, and their agreement",
            _people,
            reason=f"The rows of models are not compared. {NO_TWEETS}",
        ),
        Item("figure-3", "Occupations, convictions, and sentences", reason=NO_TWEETS),
        Item("figure-4", "Model size and human feedback", reason=NO_TWEETS),
        Item(
            "ed-figure-1", "Favorability of the top adjectives", reason=f"{NO_NUMBERS} {NO_TWEETS}"
        ),
        Item("ed-figure-2", "Prestige and association with AAE", reason=NO_TWEETS),
        Item(
            "ed-table-1",
            "Agreement of covert stereotypes with people's",
            _chance,
            reason=f"Only agreement by chance is compared. {NO_TWEETS}",
        ),
        Item(
            "ed-table-2",
            "Agreement of overt stereotypes with people's",
            reason="It needs GPT2, RoBERTa, and T5 in all sizes, and GPT3.5; GPT3.5 is no longer "
            "served with log-probabilities.",
            commands=(
                "manage.py probe --measure matched_guise --model roberta-large --terms Black/White",
                "manage.py report matched_guise --run RUN",
            ),
        ),
        Item("ed-table-3", "Association of occupations with AAE", reason=NO_TWEETS),
        Item(
            "ed-table-4",
            "Regression of prestige on association",
            _degrees_of_freedom,
            reason=f"Only the degrees of freedom are compared. {NO_TWEETS}",
        ),
        Item("ed-table-5", "Rate of convictions", reason=NO_TWEETS),
        Item("ed-table-6", "Rate of death sentences", reason=NO_TWEETS),
        Item("ed-table-7", "Perplexity by model size", reason=NO_TWEETS),
        Item("ed-table-8", "Strength of stereotypes by model size", reason=NO_TWEETS),
    ),
)
