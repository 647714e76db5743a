"""No violation that axe-core finds, in light and dark, on a phone and on a desktop.

The window and the colors are changed in place, so that a page is scanned as it stands. The policy
against foreign scripts is lifted for these scans alone, because axe is a script from outside.
"""

from __future__ import annotations

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page

from tests.browser.survey_visitor import DESKTOP, NARROW, PHONE, open_context

# No rule that is asked needs the style sheets fetched once more, which takes half of a scan's time.
VIOLATIONS = {"resultTypes": ["violations"], "preload": False}
# Off in axe unless asked for: targets that a finger can hit (WCAG 2.2, 2.5.8).
EVERY_RULE = {**VIOLATIONS, "rules": {"target-size": {"enabled": True}}}
RULES_OF_LOOKS = {
    **VIOLATIONS,
    "runOnly": ["color-contrast", "link-in-text-block", "target-size"],
}
# Whoever asks for less motion gets none: what still runs, endlessly or for more than a blink.
MOVING = """
() => document.getAnimations()
  .filter((one) => one.effect.getComputedTiming().duration > 1)
  .map((one) => one.animationName ?? one.transitionProperty)
"""
FRAME = """
() => ({
  title: document.title,
  language: document.documentElement.lang,
  wider: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  widest: [...document.querySelectorAll("body *")]
    .filter((node) => node.getBoundingClientRect().right > innerWidth).slice(-3)
    .map((node) => node.outerHTML.slice(0, 120)),
})
"""


def open_scanned_page(browser: Browser) -> Page:
    return open_context(browser, bypass_csp=True).new_page()


def scan(page: Page, seen: str) -> None:
    """Fail with every violation of the page as it stands, in both colors and at both widths.

    All rules are asked once; the three other looks are asked for what a look can change. The page
    fits the narrowest phone, has a title and a language, and keeps still.
    """
    page.wait_for_load_state()
    page.evaluate(AXE_SCRIPT)
    found = []
    options = EVERY_RULE
    for window in (PHONE, DESKTOP):
        page.set_viewport_size(window)
        for colors in ("light", "dark"):
            page.emulate_media(color_scheme=colors, reduced_motion="reduce")
            for violation in page.evaluate("options => axe.run(options)", options)["violations"]:
                nodes = [f"{node['html']} {node['failureSummary']}" for node in violation["nodes"]]
                found.append(f"{colors} {window['width']} {violation['help']}: {nodes[:3]}")
            options = RULES_OF_LOOKS
    page.set_viewport_size(NARROW)
    frame = page.evaluate(FRAME)
    page.set_viewport_size(PHONE)
    if frame["wider"]:
        found.append(f"{frame['wider']} pixels too wide for {NARROW['width']}: {frame['widest']}")
    if not frame["title"] or not frame["language"]:
        found.append(f"no title or no language: {frame}")
    found += [f"moves: {name}" for name in page.evaluate(MOVING)]
    assert not found, f"{seen}:\n" + "\n".join(found)


def scan_enlarged(page: Page, seen: str) -> None:
    """Fail with every violation at 400 % of a small window, in the system's own dark colors."""
    page.wait_for_load_state()
    page.set_viewport_size({"width": 320, "height": 256})
    page.emulate_media(color_scheme="dark", forced_colors="active", reduced_motion="reduce")
    page.evaluate(AXE_SCRIPT)
    # axe reads the colors of the page, not those that the system puts in their place.
    rules = {"target-size": {"enabled": True}, "color-contrast": {"enabled": False}}
    options = {**VIOLATIONS, "rules": rules}
    found = [
        f"{violation['help']}: {[node['html'] for node in violation['nodes']][:3]}"
        for violation in page.evaluate("options => axe.run(options)", options)["violations"]
    ]
    frame = page.evaluate(FRAME)
    if frame["wider"]:
        found.append(f"{frame['wider']} pixels too wide: {frame['widest']}")
    assert not found, f"{seen}:\n" + "\n".join(found)


def find_violations(page: Page) -> list[str]:
    """Return what axe finds on the page as it stands, on a phone in the dark and a light desktop.

    All rules are asked once, those that a look can change twice: half of what `scan` asks.
    """
    page.wait_for_load_state()
    page.evaluate(AXE_SCRIPT)
    found = []
    options = EVERY_RULE
    for window, colors in ((PHONE, "dark"), (DESKTOP, "light")):
        page.set_viewport_size(window)
        page.emulate_media(color_scheme=colors, reduced_motion="reduce")  # type: ignore[arg-type]
        # Django's own chooser labels two icons so; their words stand below the field as well.
        asked = 'options => axe.run({exclude: [".help-tooltip"]}, options)'
        for violation in page.evaluate(asked, options)["violations"]:
            nodes = [
                f"{node['html'][:160]} {node['failureSummary'][:200]}"
                for node in violation["nodes"]
            ]
            found.append(f"{colors} {window['width']} {violation['help']}: {nodes[:2]}")
        options = RULES_OF_LOOKS
    return found
