"""A person at a browser who takes part in the survey, by touch, by mouse or by keyboard alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.annotation.survey.participants import spread

PHONE = {"width": 390, "height": 844}
NARROW = {"width": 320, "height": 640}
DESKTOP = {"width": 1280, "height": 900}
HANDLE_RADIUS = 14
TABS_AT_MOST = 60
# Bring a line to the middle; tells, once the page has heard of it, whether lines have moved since
# the last time: by the scroll, or by a message that came or went above it.
MOVES = """async (node) => {
  const see = () => {
    const { top, height, width } = node.closest("[data-lines]").getBoundingClientRect();
    return `${top} ${height} ${width}`;
  };
  const places = [window.linesSeenAt, see()];
  node.scrollIntoView({ block: "center" });
  await new Promise((heard) => requestAnimationFrame(() => requestAnimationFrame(heard)));
  window.linesSeenAt = see();
  return places.some((place) => place !== window.linesSeenAt);
}"""
PAGE_RESTS_MS = 200

Hand = Literal["touch", "mouse", "keyboard"]


@dataclass
class Visitor:
    """Answers each page as it stands; ``rated`` holds group, scale and value in the scale's own
    direction, as the person meant them."""

    page: Page
    hand: Hand = "mouse"
    rated: dict[tuple[str, str], int] = field(default_factory=dict)
    # The words at the two ends of each scale that was rated, the low one first.
    poles: dict[str, tuple[str, str]] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    group: str = ""
    # The answers to choose on pages that ask one question, the first answer for the others.
    choices: frozenset[str] = frozenset()
    writes: str = "It was clear."

    def __post_init__(self) -> None:
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _listen(self, message) -> None:  # type: ignore[no-untyped-def]
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    # Where am I?

    @property
    def heading(self) -> str:
        return " ".join(self.page.locator("h1").inner_text().split())

    def is_rating(self) -> bool:
        return self.page.locator("[data-lines]").count() > 0

    def is_over(self) -> bool:
        return self.page.locator("form[data-step]").count() == 0

    def overflow(self) -> int:
        """How many pixels the page is wider than the window."""
        self.page.wait_for_load_state()
        return int(
            self.page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
        )

    # Moving on

    def start(self, link: str) -> None:
        self.page.goto(link)
        self.press(self.page.get_by_role("button", name="Start"))
        self.page.wait_for_url("**/r/**")

    def press(self, target: Locator) -> None:
        if self.hand == "keyboard":
            self.tab_to(target)
            self.page.keyboard.press("Enter")
        elif self.hand == "touch":
            target.tap()
        else:
            target.click()

    def tick(self, target: Locator) -> None:
        if self.hand == "keyboard":
            self.tab_to(target)
            self.page.keyboard.press("Space")
        else:
            self.press(target)

    def tab_to(self, target: Locator) -> None:
        for _ in range(TABS_AT_MOST):
            if target.evaluate("node => node === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{target} cannot be reached with the Tab key")

    def move_on(self) -> None:
        """Press “Continue” and wait for the page that follows."""
        with self.page.expect_event("load"):
            self.press(self.page.get_by_role("button", name="Continue"))

    def answer(self) -> None:
        """Answer whatever the page asks."""
        page = self.page
        if page.locator("[data-line^=practice]").count():
            self.practice()
        elif page.locator("[data-line=answer]").count():
            self.move_line(70)
        elif page.locator("[name=number]").count():
            self.write(page.locator("[name=number]"), "3")
        elif page.locator(".matrix-row").count():
            for row in range(page.locator(".matrix-row").count()):
                self.tick(page.locator(".matrix-row").nth(row).get_by_role("radio").first)
        elif page.locator("[data-ranking]").count():
            unranked = page.locator(".rank-button[aria-pressed=false]")
            for left in reversed(range(unranked.count())):
                self.tick(unranked.first)
                expect(unranked).to_have_count(left)  # the click comes a moment after a tap
        elif self.is_rating():
            self.rate_all()
        elif page.locator("[name=choice]").count():
            self.choose("choice", self._pick)
        elif page.locator("[name=text]").count():
            self.write(page.locator("[name=text]"), self.writes)
        elif page.locator("[name=agree]").count():
            self.tick(page.locator("[name=agree]"))
        elif page.locator("[name=group-name]").count():
            self.write(page.locator("[name=group-name]"), self.group)
        elif page.locator("input.input[name=near]").count():
            self.write(page.locator("[name=near]"), self._word(max))
            self.write(page.locator("[name=far]"), self._word(min))
        elif page.locator("[name=near]").count():
            self.choose("near", max)
            self.choose("far", min)
        elif page.locator("[name=answer-age]").count():
            self.write(page.locator("[name=answer-age]"), "37")

    def write(self, target: Locator, text: str) -> None:
        """Put a text into a field, in place of what stands there."""
        if self.hand == "keyboard":
            self.tab_to(target)
        else:
            self.press(target)
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)

    def choose(self, name: str, best) -> None:  # type: ignore[no-untyped-def]
        options = self.page.locator(f"[name={name}]")
        keys = [options.nth(i).get_attribute("value") or "" for i in range(options.count())]
        wanted = keys.index(best(keys, key=self._nearness))
        if self.hand != "keyboard":
            self.press(options.nth(wanted))
            return
        # Tab leads to the first of a list, arrows from one to the next; Space chooses it.
        self.tab_to(options.first)
        self.page.keyboard.press("Space")
        for _ in range(wanted):
            self.page.keyboard.press("ArrowDown")

    def _pick(self, keys: list[str], key: object) -> str:
        return next((value for value in keys if value in self.choices), keys[0])

    def _nearness(self, key: str) -> int:
        scale, _, pole = key.rpartition(":")
        value = self.rated[self.group, scale]
        return value if pole == "high" else 100 - value

    def _word(self, best) -> str:  # type: ignore[no-untyped-def]
        """A word that the group just rated was placed near (``max``) or far from (``min``)."""
        slugs = [scale for group, scale in self.rated if group == self.group]
        keys = [f"{slug}:{pole}" for slug in slugs for pole in ("low", "high")]
        scale, _, pole = best(keys, key=self._nearness).rpartition(":")
        return self.poles[scale][pole == "high"]

    # Rating lines

    def practice(self) -> None:
        rows = self.page.locator("[data-line]")
        for index in range(rows.count()):
            if self.hand == "keyboard":
                self.tab_to(rows.nth(index).locator("input.line-input"))
                self.steer(70)
            else:
                self.put(rows.nth(index), 70)

    def move_line(self, shown: int) -> None:
        """Put the line of a question near a place, in hundredths of its length."""
        if self.hand == "keyboard":
            self.tab_to(self.page.locator("input.line-input"))
            self.page.keyboard.press("End")
            for _ in range((100 - shown) // 10):
                self.page.keyboard.press("PageDown")
        else:
            self.put(self.page.locator("[data-line]"), shown)

    def rate_all(self) -> None:
        self.group = self.heading_group()
        rows = self.page.locator("[data-line]")
        for index in range(rows.count()):
            self.rate(rows.nth(index))

    def heading_group(self) -> str:
        frame = self.page.locator("h1 .frame").first.inner_text()
        return self.heading.removeprefix(" ".join(frame.split())).strip(" ?")

    def rate(self, row: Locator) -> None:
        scale = row.get_attribute("data-line") or ""
        value = spread(self.group, scale)
        left, right = (row.get_attribute(f"data-{side}") or "" for side in ("left", "right"))
        straight = f"{left}-{right}" == scale
        self.poles[scale] = (left, right) if straight else (right, left)
        shown = value if straight else 100 - value
        line = row.locator("input.line-input")
        if self.hand == "keyboard":
            self.tab_to(line)
            self.steer(shown)
        else:
            self.put(row, shown)
        place = int(line.input_value())
        # A pointer has its pixels; the keyboard hits every number.
        assert abs(place - shown) <= (0 if self.hand == "keyboard" else 1)
        self.rated[self.group, scale] = place if straight else 100 - place

    def steer(self, shown: int) -> None:
        """Move an untouched handle to a place with Home, End, Page and arrow keys."""
        keys = self.page.keyboard
        keys.press("End" if shown > 50 else "Home")
        place = 100 if shown > 50 else 0
        while abs(place - shown) >= 10:
            keys.press("PageDown" if place > shown else "PageUp")
            place += -10 if place > shown else 10
        while place != shown:
            keys.press("ArrowLeft" if place > shown else "ArrowRight")
            place += -1 if place > shown else 1

    def put(self, row: Locator, shown: int) -> None:
        x, y = self.point(row, shown)
        if self.hand == "touch":
            self.page.touchscreen.tap(x, y)
        else:
            self.page.mouse.click(x, y)

    def point(self, row: Locator, shown: int) -> tuple[float, float]:
        """Return where on the screen a place of a line is; the line is scrolled into view."""
        line = row.locator("input.line-input")
        if line.evaluate(MOVES):
            # A press on a line that has just moved answers nothing.
            self.page.wait_for_timeout(PAGE_RESTS_MS)
        box = line.bounding_box()
        assert box is not None
        length = box["width"] - 2 * HANDLE_RADIUS
        return box["x"] + HANDLE_RADIUS + length * shown / 100, box["y"] + box["height"] / 2


def open_context(
    browser: Browser,
    hand: Hand = "mouse",
    **options,  # type: ignore[no-untyped-def]
) -> BrowserContext:
    """Return a browser context with the window and the pointer that go with a hand."""
    touch = hand == "touch"
    return browser.new_context(
        **{
            "viewport": PHONE if touch else DESKTOP,
            "has_touch": touch,
            "is_mobile": touch,
            **options,
        }
    )
