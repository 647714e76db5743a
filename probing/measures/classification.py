"""Classification of sentences in which only the mention of a group changes.

Kohankhaki et al., §3: a classifier is asked about every template with every word of every group.
Its false positive rates are the scores; gaps between groups, with intervals, are made in a report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from annotation.common.lazy import np, pd
from probing.lm.classifier import ClassifierTokenizer, SequenceClassifier
from probing.measures.base import (
    SCORE_COLUMNS,
    Cost,
    Frames,
    Measure,
    MeasureParameters,
    Problem,
    ResultKind,
    ShardPlan,
    plan_stretches,
)
from probing.measures.label_map import LabelMapError, read_label_map
from probing.measures.probe_stimuli import ProbeStimuli
from probing.measures.stimuli import StimuliError

FPR, ACCURACY = "fpr", "accuracy"
#: Share of answers that named no class, so that one was drawn.
FALLBACK = "fallback"
#: Stands in the column of traits where a score is of all classes together.
ALL_CLASSES = "all"
AUTOMATIC = "automatic"
NO_NEGATIVES = "every sentence has this label"
SHOWN = 3


class ClassificationParameters(MeasureParameters):
    """Parameters of classification."""

    labels: str = Field(
        AUTOMATIC,
        max_length=500,
        description="Which output of the model stands for which class: by their names where these "
        "are negative, neutral and positive, or by their order (automatic), or a map such as "
        "“1 star=negative, 3 stars=neutral, 5 stars=positive”.",
    )
    sentences_per_shard: int = Field(
        5000, ge=1, le=100_000, description="How many sentences a worker classifies at a time."
    )


class Classification(Measure[ProbeStimuli, ClassificationParameters]):
    """Predictions of a classifier, and its false positive rates for groups and their words."""

    name = "classification"
    title = "Classification of counterfactual sentences"
    citation = (
        "Kohankhaki, Emerson, Tian, Seyyed-Kalantari and Khattak (2024), The Impact of Unstated "
        "Norms in Bias Analysis of Language Models, §3"
    )
    abilities = frozenset({"classify"})
    Parameters = ClassificationParameters
    stimuli_type = ProbeStimuli
    result = ResultKind.PREDICTIONS

    def plan(
        self, stimuli: ProbeStimuli, parameters: ClassificationParameters, seed: int = 0
    ) -> list[ShardPlan]:
        """Return one shard for every stretch of sentences, in the order of the stimuli."""
        return plan_stretches(len(stimuli.sentences), parameters.sentences_per_shard, "Sentences")

    def problems(
        self,
        stimuli: ProbeStimuli,
        parameters: ClassificationParameters,
        lm: ClassifierTokenizer,
    ) -> list[Problem]:
        """Name outputs without a class, groups without enough sentences and texts too long."""
        found = list(sample_problems(stimuli))
        try:
            output_classes(lm.labels, stimuli.classes, parameters.labels)
        except LabelMapError as error:
            found.append(Problem("parameter labels", str(error), True))
        else:
            if parameters.labels == AUTOMATIC and _by_order(lm.labels):
                order = ", ".join(
                    f"{label} as {name}"
                    for label, name in zip(lm.labels, stimuli.classes, strict=True)
                )
                found.append(
                    Problem(
                        "parameter labels",
                        f"The model’s labels have no names and are read in their order: {order}.",
                        False,
                    )
                )
        if lm.max_length is not None:
            texts = [sentence.text for sentence in stimuli.sentences]
            long = [
                sentence.template
                for sentence, ids in zip(stimuli.sentences, lm.encode(texts), strict=True)
                if len(ids) > lm.max_length
            ]
            if long:
                named = ", ".join(list(dict.fromkeys(long))[:SHOWN])
                message = (
                    f"{len(long):,} sentences are longer than the {lm.max_length:,} tokens that "
                    f"the model reads; nothing is cut. Shorten the templates {named}."
                )
                found.append(Problem("templates", message, True))
        return found

    def estimate(
        self,
        stimuli: ProbeStimuli,
        parameters: ClassificationParameters,
        lm: ClassifierTokenizer,
    ) -> Cost:
        """Count the sentences and their tokens."""
        encoded = lm.encode([sentence.text for sentence in stimuli.sentences])
        shards = -(-len(encoded) // parameters.sentences_per_shard)
        return Cost(shards, len(encoded), sum(map(len, encoded)))

    def compute(
        self,
        payload: Mapping[str, Any],
        stimuli: ProbeStimuli,
        parameters: ClassificationParameters,
        lm: SequenceClassifier,
    ) -> pd.DataFrame:
        """Return a row for each sentence: its place, the predicted class, probabilities by class.

        The class is that of the likeliest output; probabilities are summed over a class's outputs.
        """
        if set(payload) != {"start", "stop"}:
            raise StimuliError("A shard's payload is an object with a start and a stop.")
        chosen = stimuli.sentences[payload["start"] : payload["stop"]]
        if not chosen:
            raise StimuliError(f"There are {len(stimuli.sentences):,} sentences in these stimuli.")
        classes = np.array(output_classes(lm.labels, stimuli.classes, parameters.labels))
        logits = lm.classify([sentence.text for sentence in chosen]).astype(np.float64)
        likely = np.exp(logits - logits.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
        rows = {
            "repeat": "",
            "sentence": np.arange(payload["start"], payload["start"] + len(chosen)),
            "predicted": classes[logits.argmax(axis=1)],
        }
        rows |= {
            f"p_{name}": likely[:, classes == number].sum(axis=1)
            for number, name in enumerate(stimuli.classes)
        }
        return pd.DataFrame(rows)

    def aggregate(
        self, stimuli: ProbeStimuli, parameters: ClassificationParameters, shard_frames: Frames
    ) -> pd.DataFrame:
        """Return false positive rates and accuracy of groups, and of their words as templates.

        Over all repeats of imported predictions together. Raises ValueError where sentences are
        missing or doubled.
        """
        return predicted_rates(stimuli, shard_frames)


def predicted_rates(stimuli: ProbeStimuli, shard_frames: Frames) -> pd.DataFrame:
    """Return the scores of `Classification.aggregate` from rows of repeat, sentence, predicted.

    Where rows say whether the class was `matched` in an answer, the share without one comes as
    well. Raises ValueError where sentences are missing or doubled.
    """
    rows = pd.concat(shard_frames, ignore_index=True)
    repeats = rows["repeat"].nunique()
    if rows.duplicated(["repeat", "sentence"]).any():
        raise ValueError("a sentence occurs twice among the shards")
    if len(rows) != repeats * len(stimuli.sentences):
        raise ValueError("sentences are missing among the shards")
    frame = sentence_frame(stimuli).iloc[rows["sentence"]].reset_index(drop=True)
    frame["predicted"] = rows["predicted"].to_numpy()
    if "matched" in rows:
        frame["matched"] = rows["matched"].to_numpy()
    frame["all"] = ""
    known = frame[frame["filler"] != ""]
    scores = []
    for keys, part in ((["group", "all"], frame), (["group", "filler"], known)):
        for number, name in enumerate(stimuli.classes):
            others = part[part["label"] != number]
            wrong = others["predicted"].eq(number).groupby([others[key] for key in keys])
            scores += _rows(FPR, name, wrong)
            missing = {tuple(key) for key in part[keys].drop_duplicates().to_numpy()}
            missing -= {tuple(key) for key in others[keys].drop_duplicates().to_numpy()}
            scores += [(FPR, g, name, f, np.nan, NO_NEGATIVES, 0) for g, f in sorted(missing)]
        right = part["predicted"].eq(part["label"]).groupby([part[key] for key in keys])
        scores += _rows(ACCURACY, ALL_CLASSES, right)
        if "matched" in part:
            drawn = (~part["matched"]).groupby([part[key] for key in keys])
            scores += _rows(FALLBACK, ALL_CLASSES, drawn)
    return pd.DataFrame(scores, columns=list(SCORE_COLUMNS))


def _rows(name: str, trait: str, shares: Any) -> list[tuple[Any, ...]]:
    """Return score rows of means by group and filler."""
    return [
        (name, group, trait, filler, float(mean), "", int(n))
        for ((group, filler), mean), n in zip(shares.mean().items(), shares.size(), strict=True)
    ]


def sentence_frame(stimuli: ProbeStimuli) -> pd.DataFrame:
    """Return group, filler, template and label of every sentence, in their order."""
    return pd.DataFrame(
        [(s.group, s.filler, s.template, s.label) for s in stimuli.sentences],
        columns=["group", "filler", "template", "label"],
    )


def output_classes(labels: Sequence[str], classes: Sequence[str], chosen: str) -> list[int]:
    """Return the number of the class that each of a model's outputs stands for.

    Raises :class:`LabelMapError` where an output has none.
    """
    if chosen != AUTOMATIC:
        return read_label_map(chosen, classes).collapse(labels)
    try:
        return read_label_map("ternary", classes).collapse(labels)
    except LabelMapError as error:
        raise LabelMapError(
            f"The model’s labels are {', '.join(labels)}, which are not {', '.join(classes)}. Set "
            "the parameter labels to a map, such as “"
            + ", ".join(f"{label}={name}" for label, name in zip(labels, classes, strict=False))
            + "”."
        ) from error


def sample_problems(stimuli: ProbeStimuli) -> list[Problem]:
    """Return why gaps could not be computed: too few groups, or a group with one sentence."""
    compared = [group.slug for group in stimuli.groups if group.role == "group"]
    if len(compared) < 2:
        message = (
            f"{len(compared)} group is compared, and a gap needs two. Choose a lexicon with more."
        )
        return [Problem("groups", message, True)]
    sizes = Counter(sentence.group for sentence in stimuli.sentences)
    few = [f"“{group}” ({sizes[group]})" for group in compared if sizes[group] < 2]
    if not few:
        return []
    message = (
        f"A group needs two sentences at least: {', '.join(few)}. Add templates, or words to it."
    )
    return [Problem("groups", message, True)]


def _by_order(labels: Sequence[str]) -> bool:
    return all(label.casefold().startswith("label_") for label in labels)
