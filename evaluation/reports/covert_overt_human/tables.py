"""Tables and figures of the report on a model's covert and overt picture beside people's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from annotation.models import Dimension
from evaluation.analyses.three_pictures import (
    MODEL_GROUPS,
    MODEL_SPEAKERS,
    PEOPLE_GROUPS,
    PEOPLE_SPEAKERS,
    PairLine,
    PictureLine,
    ThreePictures,
)
from evaluation.charts import ScaleLabel
from evaluation.charts.pictures import (
    PictureColumn,
    PictureMark,
    PictureMarks,
    PicturePair,
    PictureWords,
    narrow_pictures_spec,
    picture_pairs_spec,
    pictures_spec,
)
from evaluation.reports.parts.document import Block, Figure, KeyNumber
from evaluation.reports.parts.formatting import count, interval, number, percent
from evaluation.reports.parts.table import Column, ReportTable, beside, downloaded, pivot

TITLES = {
    MODEL_GROUPS: "Model, by name",
    MODEL_SPEAKERS: "Model, of speakers",
    PEOPLE_GROUPS: "People, by name",
    PEOPLE_SPEAKERS: "People, of speakers",
}
SHOWN_PAIRS = 3


@dataclass(frozen=True)
class PictureTables:
    """``units``: picture → unit of its differences."""

    result: ThreePictures
    scales: Mapping[str, ScaleLabel]
    units: Mapping[str, str]
    guises: tuple[str, str]

    @classmethod
    def of(cls, result: ThreePictures, record: Mapping[str, Any]) -> PictureTables:
        dimensions = dict(Dimension.choices)
        return cls(
            result,
            {
                entry["slug"]: ScaleLabel(
                    entry["slug"],
                    entry["low"],
                    entry["high"],
                    entry["dimension"],
                    str(dimensions.get(entry["dimension"], "")),
                )
                for entry in record["scales"]
            },
            record["units"],
            tuple(record["guises"]),
        )

    @property
    def level(self) -> str:
        return percent(self.result.options.level)

    def scale_text(self, row: Any) -> str:
        scale = self.scales[row.scale]
        return f"{scale.low} – {scale.high}"

    def dimension(self, row: Any) -> str:
        return self.scales[row.scale].dimension_text

    @cached_property
    def lines(self) -> ReportTable:
        return ReportTable.of(
            "scales",
            "Difference on every scale in every picture",
            self.result.lines,
            Column("", "scale", meaning="slug of the scale"),
            Column("Scale", "scale_text", self.scale_text),
            Column("Dimension", "dimension", self.dimension),
            Column("", "picture", meaning="whose picture, of what"),
            Column("Picture", "picture_title", lambda row: TITLES[row.picture]),
            Column.estimate(
                "Difference",
                "difference",
                "estimate",
                2,
                signed=True,
                meaning="first group or guise less the second; above 0 nearer the high word",
                unit="see unit",
            ),
            Column("", "unit", lambda row: self.units[row.picture]),
            Column("Rank", "rank", decimals=0, whole=True, meaning="1 = highest difference"),
            Column("n", "n", "estimate.n", decimals=0, meaning="prompts, or people"),
            Column("", "reason", "estimate.note", meaning="why there is no value or interval"),
            level=self.level,
        )

    @cached_property
    def pairs(self) -> ReportTable:
        return ReportTable.of(
            "pairs",
            "Agreement of two pictures over scales",
            self.result.pairs,
            Column("Pictures", "pictures", _pair_title),
            *downloaded("first", "second"),
            Column.estimate(
                "τ",
                "tau",
                "tau.estimate",
                2,
                style="strong",
                meaning="Kendall’s tau-b over scales",
            ),
            Column.p("p", "p", "tau.p_value", meaning="of τ = 0, two-sided"),
            Column("Ceiling", "ceiling", decimals=2, meaning="τ between halves of the people"),
            Column("Opposite", "n_opposite", decimals=0, meaning="scales on opposite sides"),
            Column("Scales", "n_scales", "tau.n", decimals=0),
            Column("", "reason", "tau.estimate.note"),
            level=self.level,
            note="tau.estimate.note",
        )

    @cached_property
    def tests(self) -> ReportTable:
        def covert(row: Any) -> Any:
            return self._by_key[MODEL_SPEAKERS, row.scale].estimate

        return ReportTable.of(
            "covert_tests",
            "The covert picture by both tests",
            self.result.by_scale,
            Column("", "scale"),
            Column("Scale", "scale_text", self.scale_text),
            Column.estimate("q", "difference", covert, 3, signed=True),
            Column.p("p", "p", "p_value", meaning="that of the interval"),
            Column.p("p (prompts)", "prompt_p"),
            Column.p("p (prompts, Holm)", "prompt_p_holm"),
            Column("Disagree", "disagree", lambda row: "yes" if row.disagree else "no"),
            Column("", "opposite", meaning="by name and of speakers on different sides"),
            level=self.level,
        )

    @property
    def downloads(self) -> tuple[ReportTable, ...]:
        return (self.lines, self.pairs, self.tests)

    @property
    def opposite(self) -> list[str]:
        return [row.scale for row in self.result.by_scale if row.opposite]

    def keys(self) -> tuple[KeyNumber, ...]:
        """Return τ of the pairs that are asked first, and how many scales lie opposite."""
        asked = [
            self.pairs.key("tau", row, *_ceiling_line(row), label=f"{_pair_title(row)}, τ")
            for row in self.result.pairs[:SHOWN_PAIRS]
        ]
        n = len(self.result.scales)
        opposite = KeyNumber(
            "Scales on opposite sides",
            str(len(self.opposite)),
            f"of {n}",
            ("By name and of speakers, both intervals leave out 0",),
        )
        return (*asked, opposite)

    def picture_blocks(self) -> tuple[Block, ...]:
        people = [name for name in (PEOPLE_GROUPS, PEOPLE_SPEAKERS) if name in self.result.pictures]
        columns = [
            PictureColumn(heading, self.units[names[0]], tuple(map(self._marks, names)))
            for heading, names in (
                ("Model, of groups by name", [MODEL_GROUPS]),
                ("Model, of speakers", [MODEL_SPEAKERS]),
                ("People, of both" if people[1:] else TITLES[people[0]], people),
            )
        ]
        words = PictureWords(
            "Differences on every scale in every picture",
            self.level,
            "Opposite sides",
            f"Rank of {len(self.result.scales)}",
        )
        scales = list(self.scales.values())
        how = {"tinted": self.opposite, "words": words}
        return (
            Figure(
                "pictures",
                f"Differences on {count(len(scales), 'scale')}. Lines are {self.level} intervals: "
                "over prompts (model, by name), over texts and prompts (model, of speakers), over "
                "people (by name), over people and texts (of speakers). Rank 1 is the scale "
                "farthest to the right.",
                pictures_spec(scales, columns, **how),  # type: ignore[arg-type]
                narrow_pictures_spec(scales, columns, **how),  # type: ignore[arg-type]
                data="scales",
            ),
        )

    def pair_blocks(self) -> tuple[Block, ...]:
        points = [
            PicturePair(self._marks(row.first), self._marks(row.second), _tau_text(row))
            for row in self.result.pairs[:SHOWN_PAIRS]
        ]
        scales = list(self.scales.values())
        wide, narrow = (
            picture_pairs_spec(scales, points, title="Where two pictures part", stacked=stacked)
            for stacked in (False, True)
        )
        return (
            Figure(
                "pairs",
                "One mark is one scale, named by its right word where it lies far off.",
                wide,
                narrow,
                data="pairs",
            ),
            self.pairs.printed(
                "τ of every two pictures, with its interval for scales like these, and how well "
                "halves of the people agree with each other."
            ),
        )

    def opposite_blocks(self) -> tuple[Block, ...]:
        if not self.opposite:
            return ()
        rows = [row for row in self.result.lines if row.scale in self.opposite]
        table = self.lines
        columns = [
            Column("Scale", value=lambda row: self.scale_text(row.first)),
            Column("Dimension", value=lambda row: self.dimension(row.first)),
        ]
        for name in self.result.pictures:
            if name == PEOPLE_GROUPS:
                continue
            head = f"{TITLES[name]}, {self.units[name].partition(',')[0]}"
            columns += table.side_by_side(
                name, ["difference"], group=head, source=name.partition("_")[0]
            )
        columns.append(Column("Model’s rank", value=_rank_move, style="strong"))
        return (
            table.printed(
                "Scales on which the model stands on one side by name and on the other of "
                "speakers.",
                rows=pivot(rows, "scale", "picture"),
                columns=columns,
            ),
        )

    def test_blocks(self) -> tuple[Block, ...]:
        return (
            self.tests.printed(
                "q of the high pole less that of the low one, with the interval over texts and "
                "prompts. p (prompts) is a t-test that takes prompts for independent samples, with "
                "and without Holm’s correction; p is that of the interval, not corrected.",
            ),
        )

    @cached_property
    def _by_key(self) -> dict[tuple[str, str], PictureLine]:
        return {(row.picture, row.scale): row for row in self.result.lines}

    def _marks(self, picture: str) -> PictureMarks:
        return PictureMarks(
            TITLES[picture],
            "model" if picture in (MODEL_GROUPS, MODEL_SPEAKERS) else "human",
            picture in (MODEL_GROUPS, PEOPLE_GROUPS),
            {
                row.scale: PictureMark(
                    row.estimate.value, row.estimate.low, row.estimate.high, row.rank
                )
                for row in self.result.lines
                if row.picture == picture
            },
        )


def _pair_title(row: PairLine) -> str:
    return f"{TITLES[row.first]}, and {TITLES[row.second][0].lower()}{TITLES[row.second][1:]}"


def _tau_text(row: PairLine) -> str:
    if row.tau.reason:
        return "no τ"
    return f"τ = {number(row.tau.value, 2)} ({interval(row.tau.low, row.tau.high, 2)})"


def _ceiling_line(row: PairLine) -> tuple[str, ...]:
    return (
        () if row.ceiling != row.ceiling else (f"Halves of the people: {number(row.ceiling, 2)}",)
    )


def _rank_move(row: Any) -> str:
    ranks = (beside(name, "rank")(row) for name in (MODEL_GROUPS, MODEL_SPEAKERS))
    return " → ".join("–" if rank is None else str(rank) for rank in ranks)
