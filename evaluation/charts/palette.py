"""Colors and type of the charts: the house's tokens, light, and the steps between them."""

from __future__ import annotations

import math

# One value a token, each used once, so that a color in a finished drawing names its token.
TOKENS = {
    "surface": "#FFFFFF",
    "line": "#DCD8CF",
    "band": "#E4E1DA",
    "ink": "#1A222D",
    "ink2": "#465160",
    "ink3": "#626B78",
    "control": "#7C7A74",
    "human": "#1F63B5",
    "model": "#B84704",
    "agency": "#6B48B0",
    "beliefs": "#8A1846",
    "communion": "#277F4C",
    "diverging-low": "#8A5516",
    "diverging-center": "#F4F1EA",
    "diverging-high": "#0B6A66",
}
DIMENSIONS = ("agency", "beliefs", "communion")

FONT = (
    "-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, "
    "'Noto Sans', 'Liberation Sans', sans-serif"
)
TEXT_SIZE = 12.5

STEPS = 11
CENTER_STEP = STEPS // 2
# Percent of the end color in the steps from the center outwards.
SHARES = (0, 18, 37, 57, 78, 100)


def diverging_step(value: float, *, center: float, limit: float) -> int:
    """Return the step of a value on the diverging scale: 0 to 10, 5 round the center.

    limit : distance from the center at which the scale is clipped, above 0

    The end steps hold what lies at or beyond the limits, so that their labels "or less" and
    "or more" are exact; nine equal steps lie between.
    """
    if not limit > 0:
        raise ValueError(f"limit is {limit}, expected a number above 0")
    distance = (value - center) / limit
    # Ratings of 20 or 80 must land on an end step although the division rounds.
    reach = round(min(abs(distance), 1.0), 12)
    outwards = CENTER_STEP if reach >= 1 else math.floor((9 * reach + 1) / 2)
    return CENTER_STEP + (outwards if distance >= 0 else -outwards)


def dimension_token(dimension: str) -> str:
    """Return the token of a dimension; an unknown one is drawn in secondary ink."""
    return dimension if dimension in DIMENSIONS else "ink2"


def mix(first: str, second: str, share: float) -> str:
    """Return the color with that share of the first in Oklab, as CSS color-mix gives it.

    first, second : #RRGGBB; share : 0 to 1. Oklab after Ottosson (2020).
    """
    a, b = _to_oklab(first), _to_oklab(second)
    return _from_oklab([share * x + (1 - share) * y for x, y in zip(a, b, strict=True)])


_TO_LMS = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
_TO_LAB = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)
_FROM_LAB = (
    (1.0, 0.3963377774, 0.2158037573),
    (1.0, -0.1055613458, -0.0638541728),
    (1.0, -0.0894841775, -1.2914855480),
)
_FROM_LMS = (
    (4.0767416621, -3.3077115913, 0.2309699292),
    (-1.2684380046, 2.6097574011, -0.3413193965),
    (-0.0041960863, -0.7034186147, 1.7076147010),
)


def _times(matrix: tuple[tuple[float, ...], ...], vector: list[float]) -> list[float]:
    return [sum(m * v for m, v in zip(row, vector, strict=True)) for row in matrix]


def _to_oklab(color: str) -> list[float]:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return _times(_TO_LAB, [math.cbrt(x) for x in _times(_TO_LMS, linear)])


def _from_oklab(lab: list[float]) -> str:
    linear = _times(_FROM_LMS, [x**3 for x in _times(_FROM_LAB, lab)])
    cut = [min(max(x, 0.0), 1.0) for x in linear]
    channels = [12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055 for c in cut]
    return "#" + "".join(f"{round(255 * c):02X}" for c in channels)


def _build_steps() -> tuple[tuple[str, str], ...]:
    steps = []
    for step in range(STEPS):
        end = "diverging-low" if step < CENTER_STEP else "diverging-high"
        share = SHARES[abs(step - CENTER_STEP)]
        if share == 0:
            steps.append((TOKENS["diverging-center"], "var(--diverging-center)"))
        elif share == 100:
            steps.append((TOKENS[end], f"var(--{end})"))
        else:
            color = mix(TOKENS[end], TOKENS["diverging-center"], share / 100)
            css = f"color-mix(in oklab, var(--{end}) {share}%, var(--diverging-center))"
            steps.append((color, css))
    return tuple(steps)


_STEPS = _build_steps()
DIVERGING = tuple(color for color, _ in _STEPS)

# What every color of a drawing becomes on a page that follows the reader's light or dark mode.
CSS_VALUES = {hexa: f"var(--{name})" for name, hexa in TOKENS.items()} | dict(_STEPS)
