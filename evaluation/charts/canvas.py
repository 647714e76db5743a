"""A drawing board for Vega-Lite: marks at given pixels, collected into few layers.

Positions are pixels (`scale: null`), since the charts of a report align text columns, brackets
and marks to one grid that no automatic layout gives. Every mark carries its own values as a
tooltip where there is something to tell, and the key of what it belongs to, so that a reader can
highlight a group in all charts of a page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from evaluation.charts.palette import (
    CENTER_STEP,
    CSS_VALUES,
    DIVERGING,
    FONT,
    TEXT_SIZE,
    TOKENS,
    diverging_step,
)

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
SMALL = 12.0
SWATCH = 17  # a step of the color scale

# The parameter of a specification that names the highlighted key; empty for none.
HIGHLIGHT = "highlight"
NOT_FADED = f"!{HIGHLIGHT} || !datum.key || datum.key === {HIGHLIGHT}"
FADED = 0.15

GRID, AREAS, LINES, MARKS, TEXTS = range(5)


def _at(name: str) -> dict[str, Any]:
    return {"field": name, "type": "quantitative", "scale": None, "axis": None}


def _hexa(color: str) -> str:
    """A token's name or one of the steps, as #RRGGBB; nothing else is drawn."""
    value = TOKENS.get(color, color)
    if value not in CSS_VALUES:
        raise ValueError(f"{color} is no color of the house")
    return value


@dataclass
class Drawing:
    """Collects marks; marks of one look share a layer.

    Layers lie over each other by plane: grid, areas, lines, marks, texts.
    """

    layers: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)
    #: What is drawn next belongs to this group, scale or line; empty for everything else.
    key: str = ""

    def _add(
        self, plane: int, mark: dict[str, Any], channels: tuple[str, ...], row: dict[str, Any]
    ) -> None:
        told = row.pop("tip", None)
        key = (plane, repr(mark), channels, bool(told))
        if key not in self.layers:
            encoding: dict[str, Any] = {
                name: _at(name) if name in ("x", "y") else {"field": name} for name in channels
            }
            if "color" in channels:
                encoding["color"] = {"field": "color", "type": "nominal", "scale": None}
            if "text" in channels:
                encoding["text"] = {"field": "text", "type": "nominal"}
            if told:
                encoding["tooltip"] = {"field": "tip", "type": "nominal"}
            self.layers[key] = {"data": {"values": []}, "mark": mark, "encoding": encoding}
        if told:
            row["tip"] = told
        if self.key:
            row["key"] = self.key
        self.layers[key]["data"]["values"].append(row)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        color: str = "ink2",
        align: str = "left",
        bold: bool = False,
        size: float = TEXT_SIZE,
        upright: bool = False,
    ) -> None:
        """Write a text with its middle line at y; upright text runs from the bottom up."""
        mark: dict[str, Any] = {
            "type": "text",
            "align": align,
            "baseline": "middle",
            "fontSize": size,
            "fontWeight": 600 if bold else 400,
        }
        if upright:
            mark["angle"] = 270
        row = {"x": _px(x), "y": _px(y), "text": text, "color": _hexa(color)}
        self._add(TEXTS, mark, ("x", "y", "text", "color"), row)

    def line(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        *,
        color: str = "line",
        width: float = 1.0,
        dash: tuple[int, ...] = (),
        grid: bool = False,
    ) -> None:
        """Draw a straight line between two points; lines of the grid lie under everything."""
        mark: dict[str, Any] = {"type": "rule", "strokeWidth": width}
        if dash:
            mark["strokeDash"] = list(dash)
        row = {
            "x": _px(start[0]), "y": _px(start[1]), "x2": _px(end[0]), "y2": _px(end[1]),
            "color": _hexa(color),
        }  # fmt: skip
        self._add(GRID if grid else LINES, mark, ("x", "y", "x2", "y2", "color"), row)

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        color: str,
        outline: bool = False,
        tip: str = "",
    ) -> None:
        """Fill a rectangle, or outline it inside its edges."""
        inset = 0.5 if outline else 0.0
        mark: dict[str, Any] = {"type": "rect", "filled": not outline}
        if outline:
            mark["strokeWidth"] = 1
        row = {
            "x": _px(x + inset), "y": _px(y + inset),
            "x2": _px(x + width - inset), "y2": _px(y + height - inset),
            "color": _hexa(color), "tip": tip,
        }  # fmt: skip
        self._add(AREAS, mark, ("x", "y", "x2", "y2", "color"), row)

    def symbol(
        self,
        x: float,
        y: float,
        shape: str,
        radius: float,
        *,
        color: str,
        outlined: bool = False,
        tip: str = "",
    ) -> None:
        """Draw a circle or diamond with a halo of the surface, so that it stands off lines.

        An outlined one has the color at its edge and the surface inside.
        """
        mark: dict[str, Any] = {
            "type": "point",
            "shape": shape,
            "filled": not outlined,
            "size": round(4 * radius * radius, 2),
            "opacity": 1,
        }
        surface = TOKENS["surface"]
        if outlined:
            mark |= {"fill": surface, "strokeWidth": 1.75}
        else:
            mark |= {"stroke": surface, "strokeWidth": 1}
        row = {"x": _px(x), "y": _px(y), "color": _hexa(color), "tip": tip}
        self._add(MARKS, mark, ("x", "y", "color"), row)

    def dot(self, x: float, y: float, radius: float, *, color: str, opacity: float = 1.0) -> None:
        """Draw a plain small dot."""
        mark = {"type": "point", "shape": "circle", "filled": True, "opacity": opacity,
                "size": round(4 * radius * radius, 2), "strokeWidth": 0}  # fmt: skip
        self._add(
            MARKS, mark, ("x", "y", "color"), {"x": _px(x), "y": _px(y), "color": _hexa(color)}
        )

    def lozenge(
        self, low: float, middle: float, high: float, y: float, half: float, *, color: str
    ) -> None:
        """Draw a lozenge as wide as an interval, widest at the estimate."""
        rows = [
            {"x": _px(low), "y": _px(y), "y2": _px(y)},
            {"x": _px(middle), "y": _px(y - half), "y2": _px(y + half)},
            {"x": _px(high), "y": _px(y), "y2": _px(y)},
        ]
        self.layers[MARKS, "lozenge", len(self.layers)] = {
            "data": {"values": rows},
            "mark": {"type": "area", "color": _hexa(color), "opacity": 1},
            "encoding": {"x": _at("x"), "y": _at("y") | {"stack": None}, "y2": {"field": "y2"}},
        }

    def color_scale(self, x: float, y: float, texts: tuple[str, str, str]) -> None:
        """Draw the diverging scale with texts below its ends and its center."""
        for step, color in enumerate(DIVERGING):
            self.box(x + SWATCH * step, y, SWATCH - 1, 12, color=color)
        end = x + SWATCH * len(DIVERGING) - 1
        for at, text, align in zip(
            (x, (x + end) / 2, end), texts, ("left", "center", "right"), strict=True
        ):
            self.text(at, y + 23, text, color="ink3", align=align, size=SMALL)

    def value_cell(
        self,
        corner: tuple[float, float],
        size: tuple[float, float],
        value: float,
        *,
        center: float,
        limit: float,
        tip: str,
        dark_from: int = CENTER_STEP,
    ) -> bool:
        """Fill a cell by its value, or outline it where there is none.

        Returns whether it is so dark, ``dark_from`` steps from the center, that a text in it
        takes the color of the surface.
        """
        if math.isnan(value):
            self.box(*corner, *size, color="line", outline=True, tip=tip)
            return False
        step = diverging_step(value, center=center, limit=limit)
        self.box(*corner, *size, color=DIVERGING[step], tip=tip)
        return abs(step - CENTER_STEP) >= dark_from

    def specification(
        self, width: float, height: float, *, title: str, description: str
    ) -> dict[str, Any]:
        """Return the Vega-Lite specification of everything drawn.

        title, description : what a screen reader says instead of the picture
        """
        layers = [self.layers[key] for key in sorted(self.layers, key=itemgetter(0))]
        keyed = [_fading(layer) for layer in layers]
        return {
            "$schema": SCHEMA,
            "width": round(width),
            "height": round(height),
            "padding": 0,
            "autosize": {"type": "none"},
            "background": TOKENS["surface"],
            "description": description,
            "usermeta": {"title": title},
            **({"params": [{"name": HIGHLIGHT, "value": ""}]} if any(keyed) else {}),
            "layer": layers,
            "config": {
                # The whole picture is described once; a name for every mark would only be read
                # out as noise.
                "aria": False,
                "font": FONT,
                "view": {"stroke": None, "fill": None},
                "rule": {"strokeCap": "butt"},
            },
        }


def _fading(layer: dict[str, Any]) -> bool:
    """Let marks of other keys fade while one is highlighted; return whether the layer has keys."""
    if not any("key" in row for row in layer["data"]["values"]):
        return False
    full = layer["mark"].get("opacity", 1)
    layer["encoding"]["opacity"] = {
        "condition": {"test": NOT_FADED, "value": full},
        "value": round(full * FADED, 2),
    }
    return True


def _px(value: float) -> float:
    return round(float(value), 2)
