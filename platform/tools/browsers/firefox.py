"""Firefox as Debian packages it, driven over WebDriver BiDi without any other program."""

from __future__ import annotations

import base64
import itertools
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tools.browsers.windows import DESKTOP, KEYS, BrowserError, Engine, Hand
from tools.faults.processes import HOST, free_port

NAMES = ("firefox-esr", "firefox")
ANSWER_SECONDS = 60.0
START_SECONDS = 60.0
COARSE_POINTER = 1
PREFERENCES = {
    "intl.accept_languages": "en-US",
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
}
TOUCH = {
    "dom.w3c_touch_events.enabled": 1,
    "ui.primaryPointerCapabilities": COARSE_POINTER,
    "ui.allPointerCapabilities": COARSE_POINTER,
}


class FirefoxWindow:
    def __init__(self, line: ClientConnection) -> None:
        self._line = line
        self._numbers = itertools.count(1)
        self._context = ""
        self.complaints: list[str] = []

    def open(self, size: tuple[int, int]) -> None:
        self._call("session.new", capabilities={})
        self._call("session.subscribe", events=["log.entryAdded"])
        self._context = self._call("browsingContext.create", type="tab")["context"]
        viewport = {"width": size[0], "height": size[1]}
        self._call("browsingContext.setViewport", context=self._context, viewport=viewport)

    def close(self) -> None:
        self._call("browser.close")

    def go(self, address: str) -> None:
        self._call("browsingContext.navigate", context=self._context, url=address, wait="complete")

    def run(self, expression: str) -> Any:
        """Return the value of an expression, which also works where the page may run no scripts."""
        answer = self._ask(
            "script.evaluate",
            expression=f"JSON.stringify({expression})",
            target={"context": self._context, "sandbox": "visitor"},
            awaitPromise=False,
        )
        if answer.get("type") == "error":  # the page is just being left
            return None
        found = answer["result"]
        if found["type"] == "exception":
            raise BrowserError(f"{expression}: {found['exceptionDetails']['text']}")
        text = found["result"].get("value")
        return None if text is None else json.loads(text)

    def press_at(self, x: float, y: float, *, touch: bool) -> None:
        kind = "touch" if touch else "mouse"
        self.act(
            {
                "type": "pointer",
                "id": kind,
                "parameters": {"pointerType": kind},
                "actions": [
                    {"type": "pointerMove", "x": round(x), "y": round(y)},
                    {"type": "pointerDown", "button": 0},
                    {"type": "pointerUp", "button": 0},
                ],
            }
        )

    def press_keys(self, *keys: str) -> None:
        values = [KEYS.get(key, key) for key in keys]
        down = [{"type": "keyDown", "value": value} for value in values]
        up = [{"type": "keyUp", "value": value} for value in reversed(values)]
        self.act({"type": "key", "id": "keyboard", "actions": [*down, *up]})

    def type(self, text: str) -> None:
        strokes = [{"type": kind, "value": one} for one in text for kind in ("keyDown", "keyUp")]
        self.act({"type": "key", "id": "keyboard", "actions": strokes})

    def save_picture(self, file: Path) -> None:
        taken = self._call(
            "browsingContext.captureScreenshot", context=self._context, origin="document"
        )
        file.write_bytes(base64.b64decode(taken["data"]))

    def act(self, *sources: dict[str, Any]) -> None:
        """Perform actions of several hands or fingers at the same time."""
        self._call("input.performActions", context=self._context, actions=list(sources))

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        answer = self._ask(method, **parameters)
        if answer["type"] == "error":
            raise BrowserError(f"{method}: {answer['error']}, {answer['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._line.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message: dict[str, Any] = json.loads(self._line.recv(timeout=ANSWER_SECONDS))
            if message.get("id") == number:
                return message
            if message.get("method") == "log.entryAdded":
                entry = message["params"]
                if entry["level"] in {"error", "warn"}:
                    self.complaints.append(str(entry["text"]))


@contextmanager
def open_window(
    *, size: tuple[int, int] = DESKTOP, hand: Hand = "mouse", scripts: bool = True
) -> Iterator[FirefoxWindow]:
    program, port = next(filter(None, map(shutil.which, NAMES))), free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, ExitStack() as ending:
        chosen = PREFERENCES | (TOUCH if hand == "touch" else {})
        chosen |= {"javascript.enabled": scripts}
        lines = (f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in chosen.items())
        Path(profile, "user.js").write_text("\n".join(lines))
        browser = subprocess.Popen(  # noqa: S603
            [
                *(str(program), "--headless", "--no-remote", "--profile", profile),
                f"--remote-debugging-port={port}",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        ending.callback(browser.wait, 30)
        ending.callback(browser.terminate)
        window = FirefoxWindow(ending.enter_context(_connect(port)))
        window.open(size)
        yield window
        window.close()


def _connect(port: int) -> ClientConnection:
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            return connect(f"ws://{HOST}:{port}/session", max_size=None)
        except OSError:
            if time.monotonic() > end:
                raise BrowserError("Firefox did not start.") from None
            time.sleep(0.1)


FIREFOX = Engine("Firefox", "" if any(map(shutil.which, NAMES)) else "firefox-esr", open_window)
