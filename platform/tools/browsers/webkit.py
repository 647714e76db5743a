"""WebKit as GTK embeds it (webkit2gtk-driver), on a screen of its own (xvfb)."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from PIL import Image

from tools.browsers.windows import DESKTOP, KEYS, BrowserError, Engine, Hand, wait_for
from tools.faults.processes import HOST, free_port, listens

DRIVER, SCREEN = "WebKitWebDriver", "Xvfb"
BROWSERS = "usr/lib/*/webkit2gtk-4.*/MiniBrowser"
# Higher than any window: long pages are seen whole, as far as they fit.
SCREEN_SIZE = (1400, 3000)
ANSWER_SECONDS = 60.0
# The picture of a screen (X window dump): a head of 25 numbers, colors of 12 bytes, then pixels.
HEAD = struct.Struct(">25I")
COLOR_BYTES = 12


class WebKitWindow:
    def __init__(self, port: int, screen: Path) -> None:
        self._port, self._screen = port, screen
        self._session = ""
        self.complaints: list[str] = []  # the driver tells none

    def open(self, size: tuple[int, int], browser: Path) -> None:
        options = {"binary": str(browser), "args": ["--automation"]}
        wanted = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
        self._session = self._ask("POST", "/session", capabilities=wanted)["sessionId"]
        self._tell("window/rect", x=0, y=0, width=size[0], height=size[1])

    def close(self) -> None:
        self._ask("DELETE", f"/session/{self._session}")

    def go(self, address: str) -> None:
        self._tell("url", url=address)

    def run(self, expression: str) -> Any:
        try:
            return self._tell("execute/sync", script=f"return ({expression})", args=[])
        except BrowserError as error:
            if "no such window" in str(error) or "javascript error" in str(error):
                return None  # the page is just being left
            raise

    def press_at(self, x: float, y: float, *, touch: bool) -> None:
        move = {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)}
        self._act(
            {
                "type": "pointer",
                "id": "mouse",
                "parameters": {"pointerType": "mouse"},
                "actions": [
                    move | {"origin": "viewport"},
                    {"type": "pointerDown", "button": 0},
                    {"type": "pointerUp", "button": 0},
                ],
            }
        )

    def press_keys(self, *keys: str) -> None:
        values = [KEYS.get(key, key) for key in keys]
        down = [{"type": "keyDown", "value": value} for value in values]
        up = [{"type": "keyUp", "value": value} for value in reversed(values)]
        self._act({"type": "key", "id": "keyboard", "actions": [*down, *up]})

    def type(self, text: str) -> None:
        strokes = [{"type": kind, "value": one} for one in text for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keyboard", "actions": strokes})

    def save_picture(self, file: Path) -> None:
        """Keep what stands on the screen: the driver's own picture never comes without a GPU."""
        size = self._ask("GET", f"/session/{self._session}/window/rect")
        time.sleep(0.3)  # the window is drawn by another process
        picture = read_screen(self._screen)
        picture.crop((0, 0, size["width"], size["height"])).save(file)

    def _act(self, source: dict[str, Any]) -> None:
        self._tell("actions", actions=[source])

    def _tell(self, command: str, **content: Any) -> Any:
        return self._ask("POST", f"/session/{self._session}/{command}", **content)

    def _ask(self, method: str, path: str, **content: Any) -> Any:
        link = http.client.HTTPConnection(HOST, self._port, timeout=ANSWER_SECONDS)
        body = json.dumps(content) if method == "POST" else None
        link.request(method, path, body, {"Content-Type": "application/json"})
        answer = json.load(link.getresponse())["value"]
        link.close()
        if isinstance(answer, dict) and "error" in answer:
            raise BrowserError(f"{path.rsplit('/', 1)[-1]}: {answer['error']}, {answer['message']}")
        return answer


def read_screen(file: Path) -> Image.Image:
    """Return what a screen shows, from the file in which Xvfb keeps it."""
    raw = file.read_bytes()
    head = HEAD.unpack_from(raw)
    size, width, height, per_line, colors = (head[place] for place in (0, 4, 5, 12, 19))
    begin = size + colors * COLOR_BYTES
    pixels = raw[begin : begin + per_line * height]
    return Image.frombuffer("RGB", (width, height), pixels, "raw", "BGRX", per_line, 1)


@contextmanager
def open_window(
    *, size: tuple[int, int] = DESKTOP, hand: Hand = "mouse", scripts: bool = True
) -> Iterator[WebKitWindow]:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as ending:
        display = _start_screen(Path(folder), ending)
        port = free_port()
        environment = os.environ | {"DISPLAY": display, "HOME": folder, "GDK_BACKEND": "x11"}
        # Without a GPU and without the rights to a sandbox, as in a container.
        environment |= {
            "WEBKIT_DISABLE_COMPOSITING_MODE": "1",
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
            "LANG": "en_US.UTF-8",
        }
        _start([str(shutil.which(DRIVER)), f"--port={port}"], ending, environment)
        wait_for(lambda: listens(port), "the driver of WebKit answers")
        window = WebKitWindow(port, Path(folder) / "Xvfb_screen0")
        window.open((size[0], SCREEN_SIZE[1] - 800), _find_browser())
        yield window
        window.close()


def _start_screen(folder: Path, ending: ExitStack) -> str:
    """Start a screen that lies in a file of ``folder``; return its name."""
    read, write = os.pipe()
    geometry = f"{SCREEN_SIZE[0]}x{SCREEN_SIZE[1]}x24"
    command = [str(shutil.which(SCREEN)), "-displayfd", str(write), "-screen", "0", geometry]
    _start([*command, "-nolisten", "tcp", "-fbdir", str(folder)], ending, pass_fds=(write,))
    os.close(write)
    with os.fdopen(read) as chosen:
        return f":{chosen.readline().strip()}"


def _start(
    command: list[str],
    ending: ExitStack,
    environment: dict[str, str] | None = None,
    pass_fds: tuple[int, ...] = (),
) -> None:
    process = subprocess.Popen(  # noqa: S603
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=pass_fds,
    )
    ending.callback(process.wait, 30)
    ending.callback(process.terminate)


def _find_browser() -> Path:
    return max(Path("/").glob(BROWSERS))


def _find_missing() -> str:
    programs = {DRIVER: "webkit2gtk-driver", SCREEN: "xvfb"}
    missing = [package for name, package in programs.items() if shutil.which(name) is None]
    return " and ".join(missing)


WEBKIT = Engine(
    "WebKit",
    _find_missing(),
    open_window,
    lacks={
        "touch": "its driver knows no fingers",
        "no script": "its driver works by scripts itself",
    },
)
