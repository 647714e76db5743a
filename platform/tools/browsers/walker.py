"""A person at a window of any engine, who answers what the page asks by mouse, finger or keys."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tools.browsers.windows import BrowserError, Hand, Window, wait_for

HANDLE_RADIUS = 14
# A press on a page that has just moved answers nothing.
RESTS_SECONDS = 0.2
TABS_AT_MOST = 120
LOW, HIGH = 20, 80
# Which document the window shows, once it is whole.
DOCUMENT = "document.readyState === 'complete' ? String(performance.timeOrigin) : ''"
PAGE = """(() => {
  const h1 = document.querySelector('h1'), frame = h1 && h1.querySelector('.frame');
  const all = (css) => Array.from(document.querySelectorAll(css));
  return {
    over: !document.querySelector('form[data-step]'),
    title: document.title,
    heading: h1 ? h1.textContent.replace(/\\s+/g, ' ').trim() : '',
    group: h1 ? h1.textContent.replace(frame ? frame.textContent : '', '')
      .replace(/\\s+/g, ' ').replace(/[ ?]+$/, '').trim() : '',
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    lines: all('[data-line]').map((row) => ({
      key: row.dataset.line, left: row.dataset.left, right: row.dataset.right,
      isNumber: row.querySelector('.line-input').type === 'number',
    })),
    radios: all('form input[type=radio]').map((one) => [one.name, one.value]),
    asked: Array.from(new Set(all(
      'form [name=agree], form input[type=radio], form input.input, form textarea',
    ).map((one) => one.name))),
  };
})()"""
PLACE = """(() => {
  const node = document.querySelector(%s);
  if (!node) return null;
  node.scrollIntoView({block: 'center', behavior: 'instant'});
  const box = node.getBoundingClientRect();
  return [box.x, box.y, box.width, box.height];
})()"""


class Walker:
    """``rated`` counts what was rated, as the person meant it: place of the page, scale, value."""

    def __init__(
        self, window: Window, hand: Hand, pictures: Path, *, choices: frozenset[str] = frozenset()
    ) -> None:
        self.window, self.hand = window, hand
        self.pictures, self.choices = pictures, choices
        self.rated: Counter[tuple[str, int]] = Counter()
        self.values: dict[str, int] = {}
        self.poles: dict[str, tuple[str, str]] = {}
        self.group = ""
        self.too_wide: list[str] = []
        pictures.mkdir(parents=True, exist_ok=True)

    # Moving about

    def go(self, address: str, name: str) -> None:
        self.window.go(address)
        self.look(name)

    def read(self) -> dict[str, Any]:
        page: dict[str, Any] = wait_for(lambda: self.window.run(PAGE), "a page")
        return page

    def look(self, name: str) -> None:
        """Keep a picture of the page, and note one that is wider than its window."""
        self.window.run("(scrollTo(0, 0), true)")
        number = len(list(self.pictures.glob("*.png"))) + 1
        self.window.save_picture(self.pictures / f"{number:02}-{name}.png")
        if (self.read()["wide"]) > 0:
            self.too_wide.append(name)

    def press(self, css: str) -> None:
        if self.hand == "keyboard":
            self.tab_to(css)
            is_link = self.window.run("document.activeElement.matches('a, button')")
            self.window.press_keys("Enter" if is_link else "Space")
            return
        x, y, width, height = self.place(css)
        self.window.press_at(x + width / 2, y + height / 2, touch=self.hand == "touch")

    def place(self, css: str) -> list[float]:
        """Scroll an element into view; return where it is in the window."""
        found: list[float] = wait_for(lambda: self.window.run(PLACE % json.dumps(css)), css)
        return found

    def tab_to(self, css: str) -> None:
        for _ in range(TABS_AT_MOST):
            if self.window.run(f"document.activeElement.matches({json.dumps(css)})"):
                return
            self.window.press_keys("Tab")
        raise BrowserError(f"{css} cannot be reached with the Tab key.")

    def leave(self, css: str) -> None:
        """Press what leads to another page, and wait for that."""
        before = self.window.run(DOCUMENT)
        self.press(css)
        self.wait_for_page(before, css)

    def wait_for_page(self, before: str, what: str) -> None:
        wait_for(lambda: self.window.run(DOCUMENT) not in {before, "", None}, f"after {what}")

    def document(self) -> str:
        return str(self.window.run(DOCUMENT))

    def write(self, css: str, text: str) -> None:
        """Put a text into a field, in place of what stands there."""
        if self.hand == "keyboard":
            self.tab_to(css)
        else:
            self.press(css)
        self.window.press_keys("Control", "a")
        self.window.type(text)

    # Surveys

    def take_survey(self, address: str) -> None:
        self.go(address, "landing")
        self.leave("form .button-main")
        seen: set[str] = set()
        while not (page := self.read())["over"]:
            name = self.name(page)
            self.answer(page)
            if name not in seen:
                self.look(name)
            seen.add(name)
            self.leave("form[data-step] .button-main")
        self.look("completion")

    def name(self, page: dict[str, Any]) -> str:
        words = page["title"].split(" – ")[0].split(" · ")[0]
        return "-".join("".join(c for c in words.lower() if c.isalnum() or c == " ").split()[:5])

    def answer(self, page: dict[str, Any]) -> None:
        if page["lines"]:
            self.rate(page)
        radios: dict[str, list[str]] = {}
        for name, value in page["radios"]:
            radios.setdefault(name, []).append(value)
        # In the order of the page: past its end, Firefox gives the focus to its own buttons.
        for name in page["asked"]:
            if name == "agree":
                self.press("[name=agree]")
            elif name in radios:
                self.choose(name, radios[name])
            elif text := self._find_text(name):
                self.write(f"[name={json.dumps(name)}]", text)

    def _find_text(self, field: str) -> str:
        if field == "group-name":
            return self.group
        if field in {"near", "far"}:
            key = self._nearest(field, [f"{s}:{p}" for s in self.values for p in ("low", "high")])
            scale, _, pole = key.rpartition(":")
            return self.poles[scale][pole == "high"]
        return {"answer-age": "37", "text": "It was clear, thank you."}.get(field, "")

    def choose(self, name: str, values: list[str]) -> None:
        if name in {"near", "far"}:
            wanted = self._nearest(name, values)
        else:
            wanted = next((value for value in reversed(values) if value in self.choices), values[0])
        if self.hand != "keyboard":
            self.press(f"[name={json.dumps(name)}][value={json.dumps(wanted)}]")
            return
        # Tab leads to a list, arrows from one answer to the next.
        self.tab_to(f"[name={json.dumps(name)}]")
        self.window.press_keys("Space")
        for _ in range(values.index(wanted)):
            self.window.press_keys("ArrowDown")

    def _nearest(self, name: str, keys: list[str]) -> str:
        def nearness(key: str) -> int:
            scale, _, pole = key.rpartition(":")
            return self.values[scale] if pole == "high" else 100 - self.values[scale]

        return (max if name == "near" else min)(keys, key=nearness)

    def rate(self, page: dict[str, Any]) -> None:
        is_practice = page["lines"][0]["key"].startswith("practice")
        if not is_practice:
            self.group, self.values = page["group"], {}
        for number, line in enumerate(page["lines"]):
            straight = f"{line['left']}-{line['right']}" == line["key"]
            # Lines differ, so that the check of marked words has one right answer.
            shown = max(1, min(99, (LOW, HIGH)[number % 2] + 3 * (number // 2) % 17))
            self.put(line, shown)
            css = f"[data-line={json.dumps(line['key'])}] .line-input"
            value = int(self.window.run(f"document.querySelector({json.dumps(css)}).value"))
            if abs(value - shown) > (1 if self.hand != "keyboard" else 0):
                raise BrowserError(f"The line {line['key']} took {value} where {shown} was meant.")
            if not is_practice:
                self.values[line["key"]] = value if straight else 100 - value
                poles = (line["left"], line["right"])
                self.poles[line["key"]] = poles if straight else (poles[1], poles[0])
        if not is_practice:
            self.rated.update(self.values.items())

    def put(self, line: dict[str, Any], shown: int) -> None:
        css = f"[data-line={json.dumps(line['key'])}] .line-input"
        if line["isNumber"]:
            self.write(css, str(shown))
        elif self.hand == "keyboard":
            self.tab_to(css)
            self.steer(shown)
        else:
            self.place(css)
            time.sleep(RESTS_SECONDS)
            x, y, width, height = self.place(css)
            x += HANDLE_RADIUS + (width - 2 * HANDLE_RADIUS) * shown / 100
            self.window.press_at(x, y + height / 2, touch=self.hand == "touch")

    def steer(self, shown: int) -> None:
        """Move an untouched handle with End, Home, Page and arrow keys."""
        self.window.press_keys("End" if shown > 50 else "Home")
        place = 100 if shown > 50 else 0
        while abs(place - shown) >= 10:
            self.window.press_keys("PageDown" if place > shown else "PageUp")
            place += -10 if place > shown else 10
        while place != shown:
            self.window.press_keys("ArrowLeft" if place > shown else "ArrowRight")
            place += -1 if place > shown else 1
