"""The faults. Each acts on an installation in the middle of surveys and a run, several times."""

from __future__ import annotations

import asyncio
import errno
import shutil
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tools.faults.crowd import Watch
from tools.faults.installation import Installation, find_faketime, make_clock
from tools.faults.processes import Process
from tools.faults.slow_line import open_slow_line

TIMES = 3
PAGES_BETWEEN = 20
SHARDS_BETWEEN = 3
FULL_SECONDS = 3.0
LOCKED_SECONDS = 3.0
DELAY_SECONDS = 0.02
STALL_SECONDS = 5.0
BALLAST_BYTES = 1_000_000
# Summer time, a machine that slept, one whose battery is flat, and back again.
CLOCK_STEPS = ("+600", "+10800", "-10800", "-86400", "+0")


@dataclass
class Scene:
    """What a fault acts on; ``steps`` are the pages to send over a bad line.

    ``count_stored`` says how many shards of runs are stored.
    """

    installation: Installation
    watch: Watch
    steps: int
    count_stored: Callable[[], int]

    async def wait_for_pages(self, count: int = PAGES_BETWEEN) -> None:
        """Wait until participants have sent so many further pages."""
        wanted = self.watch.pages + count
        while self.watch.pages < wanted:
            await asyncio.sleep(0.01)

    async def wait_for_shards(self, count: int = SHARDS_BETWEEN) -> None:
        """Wait until so many further shards are stored."""
        wanted = await asyncio.to_thread(self.count_stored) + count
        while await asyncio.to_thread(self.count_stored) < wanted:
            await asyncio.sleep(0.05)

    async def kill(self, process: Process, *, away: str = "") -> None:
        """Kill a process and start it again; ``away`` is what participants miss meanwhile."""
        if not away:
            await asyncio.to_thread(_kill_and_start, process)
            return
        with self.watch.without(away):
            await asyncio.to_thread(_kill_and_start, process)

    async def restart_platform(self, **changes: str) -> None:
        with self.watch.without("the platform is started anew"):
            await asyncio.to_thread(lambda: self.installation.restart_platform(**changes))


def _kill_and_start(process: Process) -> None:
    process.kill()
    process.start()


async def kill_web(scene: Scene) -> int:
    for _ in range(TIMES):
        await scene.wait_for_pages()
        await scene.kill(scene.installation.web, away="the web server is killed")
    await scene.wait_for_pages()
    return TIMES


async def kill_worker(scene: Scene) -> int:
    for _ in range(TIMES):
        await scene.wait_for_shards()
        await scene.kill(scene.installation.worker)
    await scene.wait_for_shards()
    return TIMES


async def kill_database(scene: Scene) -> int:
    """Kill PostgreSQL, or all that has SQLite's file open: the power is gone."""
    database = scene.installation.database
    for _ in range(TIMES):
        await scene.wait_for_pages()
        await scene.wait_for_shards()
        if database is None:
            await scene.restart_platform()
        else:
            await scene.kill(database, away="PostgreSQL is killed")
    await scene.wait_for_pages()
    await scene.wait_for_shards()
    return TIMES


async def kill_broker(scene: Scene) -> int:
    """Kill the broker, or delete its folder. Participants need none: nothing may fail."""
    broker = scene.installation.broker
    for _ in range(TIMES):
        await scene.wait_for_pages()
        await scene.wait_for_shards()
        if broker is None:
            shutil.rmtree(scene.installation.disk / "var" / "broker", ignore_errors=True)
        else:
            await scene.kill(broker)
    await scene.wait_for_pages()
    await scene.wait_for_shards()
    return TIMES


async def fill_disk(scene: Scene) -> int:
    database = scene.installation.database
    for _ in range(TIMES):
        await scene.wait_for_pages()
        await scene.wait_for_shards()
        ballast = scene.installation.disk / "ballast"
        with scene.watch.without("the disk is full"):
            await asyncio.to_thread(_fill, ballast)
            await asyncio.sleep(FULL_SECONDS)
            ballast.unlink()
            if database is not None and not database.is_running:
                await asyncio.to_thread(database.start)  # as a service manager does
            while database is not None and not await asyncio.to_thread(database.answers):
                await asyncio.sleep(0.05)
    await scene.wait_for_pages()
    await scene.wait_for_shards()
    return TIMES


def _fill(ballast: Path) -> None:
    """Write until the disk takes no more, and a little later whatever was freed meanwhile."""
    with ballast.open("ab", buffering=0) as file:
        for size in (BALLAST_BYTES, 512):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise


async def step_clock(scene: Scene) -> int:
    """Let the clock of web server and worker jump; one worker dies while it is ahead."""
    clock = scene.installation.folder / "clock"
    clock.write_text("+0")
    await scene.restart_platform(**make_clock(clock, scene.installation))
    for step in CLOCK_STEPS:
        await scene.wait_for_pages()
        await scene.wait_for_shards()
        if step.startswith("-"):
            # Its leases end in what is now the future.
            await scene.kill(scene.installation.worker)
        clock.write_text(step)
    await scene.wait_for_pages()
    await scene.wait_for_shards()
    await scene.restart_platform()
    return len(CLOCK_STEPS)


async def slow_database(scene: Scene) -> int:
    """Slow the line to PostgreSQL down and stop it at times; lock SQLite's file."""
    if scene.installation.database is None:
        for _ in range(TIMES):
            await scene.wait_for_pages()
            await asyncio.to_thread(_lock, scene.installation.disk / "var" / "stereoscope.sqlite3")
        await scene.wait_for_shards()
        return TIMES
    address = scene.installation.environment["DATABASE_URL"]
    own = urlsplit(address).port or 0
    async with open_slow_line(own, delay=DELAY_SECONDS) as line:
        await scene.restart_platform(DATABASE_URL=address.replace(str(own), str(line.port)))
        for _ in range(TIMES):
            await scene.wait_for_pages()
            async with line.stall():
                await asyncio.sleep(STALL_SECONDS)
        await scene.wait_for_shards()
        await scene.restart_platform()
    return TIMES


def _lock(file: Path) -> None:
    """Hold the place to write for a while, as a backup or a long import does."""
    with closing(sqlite3.connect(file, isolation_level=None, timeout=60)) as other:
        other.execute("BEGIN IMMEDIATE")
        time.sleep(LOCKED_SECONDS)
        other.execute("ROLLBACK")


async def send_badly(scene: Scene) -> int:
    """Only wait: the participants' own lines double, drop and reorder what they send."""
    await scene.wait_for_pages(scene.steps)
    return scene.steps


@dataclass(frozen=True)
class Fault:
    """A fault by its title; ``is_unruly`` where participants have a bad line."""

    title: str
    inject: Callable[[Scene], Awaitable[int]]
    is_unruly: bool = False


FAULTS = {
    "web": Fault("kill -9 of the web server", kill_web),
    "worker": Fault("kill -9 of the worker", kill_worker),
    "database": Fault("kill -9 of the database", kill_database),
    "broker": Fault("kill -9 of the broker", kill_broker),
    "disk": Fault("full disk", fill_disk),
    "clock": Fault("steps of the clock", step_clock),
    "slow": Fault("slow database", slow_database),
    "line": Fault("requests doubled, reordered, dropped", send_badly, is_unruly=True),
}


def find_obstacle(name: str, installation: Installation) -> str:
    """Return why a fault cannot be made here, "" where it can."""
    if name == "disk" and not installation.disk_is_limited:
        return "only an account that may mount a small disk can fill it"
    if name == "clock" and find_faketime() is None:
        return "libfaketime is not installed (on Debian: apt install libfaketime)"
    return ""
