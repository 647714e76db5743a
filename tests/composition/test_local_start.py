"""The parts of `make run`: the port, the administrator, static files, children that never stay."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from stereoscope.local import environment
from stereoscope.local.launcher import HOST, PortTakenError, claim_port
from stereoscope.local.preparation import collect_static_files, ensure_administrator
from stereoscope.local.supervision import GENTLE_SECONDS
from tests.ports import free_port
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]

# --- the port -----------------------------------------------------------------------------------


def test_a_taken_port_is_named_with_the_remedy():
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortTakenError, match=rf"Port {port} .* taken .*PORT=\d+"):
            claim_port(port)


def test_a_free_port_can_be_had_and_stays_free():
    port = free_port()
    claim_port(port)
    claim_port(port)


@pytest.mark.parametrize("port", [-1, 65536, 10**9])
def test_a_number_that_is_no_port_is_refused_in_one_line(port):
    with pytest.raises(PortTakenError) as caught:
        claim_port(port)
    assert "\n" not in str(caught.value)


# --- the administrator --------------------------------------------------------------------------


def test_the_password_is_generated_once_and_private(db, tmp_path):
    file = tmp_path / "admin-password"
    first = ensure_administrator(password_file=file)
    assert first.user.is_superuser
    assert first.password is not None
    assert len(first.password) == 16
    assert first.user.check_password(first.password)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = ensure_administrator(password_file=file)
    assert (again.user, again.password) == (first.user, first.password)
    assert User.objects.count() == 1


def test_a_password_of_ones_own_is_neither_changed_nor_told(db, tmp_path):
    file = tmp_path / "admin-password"
    user = ensure_administrator(password_file=file).user
    user.set_password("chosen by a person")
    user.save()
    again = ensure_administrator(password_file=file)
    assert again.password is None
    assert again.user.check_password("chosen by a person")


def test_a_lost_password_file_changes_no_account(db, tmp_path):
    file = tmp_path / "admin-password"
    password = ensure_administrator(password_file=file).password
    file.unlink()
    again = ensure_administrator(password_file=file)
    assert again.password is None
    assert again.user.check_password(password)
    assert not file.exists()


def test_a_password_file_of_a_lost_database_is_replaced(db, tmp_path):
    file = tmp_path / "admin-password"
    file.write_text("of another database\n")
    administrator = ensure_administrator(password_file=file)
    assert administrator.password == file.read_text().strip() != "of another database"


# --- static files -------------------------------------------------------------------------------


def test_static_files_are_collected_only_when_one_has_changed(settings, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "page.css").write_text("body { margin: 0 }")
    settings.STATICFILES_DIRS = [source]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATIC_ROOT = tmp_path / "collected"
    settings.STATIC_ROOT.mkdir()
    assert collect_static_files() is True
    assert collect_static_files() is False
    (source / "page.css").write_text("body { margin: 1px }")
    later = time.time() + 5  # the file system's clock may tell seconds only
    os.utime(source / "page.css", (later, later))
    assert collect_static_files() is True
    assert (settings.STATIC_ROOT / "page.css").read_text() == "body { margin: 1px }"


# --- the environment ----------------------------------------------------------------------------


@pytest.fixture
def checkout(tmp_path, monkeypatch) -> Path:
    """A checkout with its own pins, whose `.venv` is the environment that runs this test."""
    (tmp_path / "requirements.txt").write_text("Django==5.2.19\n")
    (tmp_path / "requirements-dev.txt").write_text("-r requirements.txt\npytest==9.2.0\n")
    (tmp_path / "constraints.txt").write_text("sqlparse==0.5.3\n")
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(environment, "STAMP", tmp_path / ".venv" / "installed-requirements.json")
    return tmp_path


def test_the_hash_of_requirements_changes_with_every_pin(checkout):
    before = environment.hash_requirements("requirements-dev.txt")
    assert before == environment.hash_requirements("requirements-dev.txt")
    for name, text in (
        ("requirements.txt", "Django==5.2.20\n"),
        ("constraints.txt", "sqlparse==0.5.4\n"),
        ("requirements-dev.txt", "-r requirements.txt\npytest==9.3.0\n"),
    ):
        (checkout / name).write_text(text)
        after = environment.hash_requirements("requirements-dev.txt")
        assert after != before
        before = after


def test_a_broken_stamp_counts_as_none(checkout):
    environment.VENV.mkdir()
    environment.STAMP.write_text("{half")
    assert environment.read_stamp() == {}
    environment.STAMP.write_text("[]")
    assert environment.read_stamp() == {}


def test_an_environment_that_is_up_to_date_is_left_alone(checkout, capfd):
    environment.VENV.joinpath("bin").mkdir(parents=True)
    # Not a link: an environment's interpreter finds its packages by where it lies.
    (environment.VENV / "bin" / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (environment.VENV / "bin" / "python").chmod(0o755)
    stamp = {"requirements.txt": environment.hash_requirements("requirements.txt")}
    environment.STAMP.write_text(json.dumps(stamp))
    environment.prepare_environment("requirements.txt")
    assert capfd.readouterr().out == ""


def test_without_a_fitting_python_the_remedy_is_named(checkout, monkeypatch):
    monkeypatch.setattr(environment, "SUPPORTED", ("3.99", "3.98"))
    with pytest.raises(environment.NoEnvironmentError, match=r"No Python 3\.98 or newer"):
        environment.find_python()


def test_the_launchers_first_step_needs_nothing_installed(tmp_path):
    """It runs before there is an environment: isolated from every installed package it imports."""
    script = ROOT / "platform" / "stereoscope" / "local" / "environment.py"
    program = f"import runpy; runpy.run_path({str(script)!r}, run_name='checked')"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


# --- children -----------------------------------------------------------------------------------

SUPERVISE = """
import os, pathlib, signal, sys
from stereoscope.local.processes import ChildCommand
from stereoscope.local.supervision import Supervisor

folder = pathlib.Path(sys.argv[1])
children = [
    ChildCommand(
        name, [sys.executable, "-u", str(folder / (name + ".py"))], dict(os.environ), folder,
        folder / "log" / (name + ".log"),
    )
    for name in ("web", "worker")
]
def say(line):
    print(line, flush=True)
ready = lambda: all((folder / (name + ".pid")).exists() for name in ("web", "worker"))
sys.exit(Supervisor(children, say).run(
    is_ready=ready, on_ready=lambda: say("READY"), patience=float(sys.argv[2])
))
"""
# Written aside and renamed: who sees the file can read the number.
NOTE_PID = """
import os, pathlib
def note_pid(file):
    file.with_suffix(".part").write_text(str(os.getpid()))
    file.with_suffix(".part").rename(file)
note_pid(pathlib.Path(__file__).with_suffix(".pid"))
"""
STAYS = "import signal\nwhile True: signal.pause()\n"
SLEEP = NOTE_PID + STAYS
STUBBORN = (
    "import signal\nfor s in (signal.SIGTERM, signal.SIGINT): signal.signal(s, signal.SIG_IGN)\n"
    + SLEEP
)
PARENT = (
    "import subprocess, sys\nchild = subprocess.Popen(['sleep', '600'])\n"
    "open(__file__ + '.part', 'w').write(str(child.pid))\n"
    "import os\nos.rename(__file__ + '.part', __file__ + '.grandchild')\n" + STUBBORN
)
WARNS = NOTE_PID + "print('2026-01-01 WARNING probing slow disk')\nprint('INFO calm')\n" + STAYS


def dies_after(file: str) -> str:
    """Return a child that ends by itself once there is such a file beside it."""
    return f"""{NOTE_PID}
import sys, time
while not pathlib.Path(__file__).with_name({file!r}).exists(): time.sleep(0.01)
print('the disk is full'); sys.exit(3)
"""


class Supervised:
    """A real supervisor in a process of its own, with two children."""

    def __init__(
        self, folder: Path, web: str, worker: str, patience: float = 120, program: str = SUPERVISE
    ) -> None:
        self.folder = folder
        (folder / "web.py").write_text(web)
        (folder / "worker.py").write_text(worker)
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, str(folder), str(patience)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": ".:platform"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def wait_for(self, text: str) -> str:
        assert self.process.stdout is not None
        seen = ""
        for line in self.process.stdout:
            seen += line
            if text in line:
                return seen
        raise AssertionError(f"“{text}” did not come: {seen}")

    def finish(self, patience: float = 120) -> tuple[int, str]:
        output, _ = self.process.communicate(timeout=patience)
        return self.process.returncode, output

    def pids(self) -> list[int]:
        files = [*self.folder.glob("*.pid"), *self.folder.glob("*.grandchild")]
        return [int(file.read_text()) for file in files]


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a dead one whose parent has not looked yet does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def assert_gone(pids: list[int]) -> None:
    wait_until(lambda: not any(map(is_alive, pids)), explain=lambda: list(filter(is_alive, pids)))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_both_children(tmp_path, number):
    supervised = Supervised(tmp_path, SLEEP, SLEEP)
    supervised.wait_for("READY")
    pids = supervised.pids()
    assert len(pids) == 2
    supervised.process.send_signal(number)
    status, output = supervised.finish()
    assert status == 0, output
    assert "Stopping" in output
    assert_gone(pids)


def test_a_second_ctrl_c_stops_at_once_even_children_of_children(tmp_path):
    supervised = Supervised(tmp_path, SLEEP, PARENT)
    supervised.wait_for("READY")
    pids = supervised.pids()
    assert len(pids) == 3
    supervised.process.send_signal(signal.SIGINT)
    supervised.wait_for("Stopping")
    begun = time.monotonic()
    supervised.process.send_signal(signal.SIGINT)
    status, output = supervised.finish()
    assert status == 0, output
    # Otherwise a stubborn child has so long, and a little more.
    assert time.monotonic() - begun < GENTLE_SECONDS
    assert_gone(pids)


def test_a_signal_right_after_the_message_is_a_second_one(tmp_path):
    program = SUPERVISE.replace(
        "print(line, flush=True)",
        "print(line, flush=True)\n    if 'Stopping' in line: os.kill(os.getpid(), signal.SIGINT)",
    )
    supervised = Supervised(tmp_path, SLEEP, STUBBORN, program=program)
    supervised.wait_for("READY")
    pids = supervised.pids()
    supervised.process.send_signal(signal.SIGINT)
    supervised.wait_for("Stopping")
    begun = time.monotonic()
    status, output = supervised.finish()
    assert status == 0, output
    assert time.monotonic() - begun < GENTLE_SECONDS
    assert_gone(pids)


def test_the_death_of_one_child_stops_the_other_and_is_explained(tmp_path):
    supervised = Supervised(tmp_path, SLEEP, dies_after("web.pid"))
    status, output = supervised.finish()
    assert status == 1
    assert "The worker process ended by itself: exit status 3." in output
    assert "  the disk is full" in output
    assert_gone(supervised.pids())


@pytest.mark.parametrize(("killed", "other"), [("web", "worker"), ("worker", "web")])
def test_a_killed_process_is_started_again_and_the_other_goes_on(tmp_path, killed, other):
    supervised = Supervised(tmp_path, SLEEP, SLEEP)
    supervised.wait_for("READY")
    first, goes_on = (int((tmp_path / f"{name}.pid").read_text()) for name in (killed, other))
    os.kill(first, signal.SIGKILL)
    seen = supervised.wait_for("started again")
    assert f"The {killed} process ended by itself: killed by SIGKILL." in seen
    wait_until(lambda: int((tmp_path / f"{killed}.pid").read_text()) != first)
    pids = supervised.pids()
    assert is_alive(goes_on)
    supervised.process.send_signal(signal.SIGTERM)
    status, output = supervised.finish()
    assert status == 0, output
    assert_gone(pids)


def test_a_process_that_dies_again_and_again_ends_it(tmp_path):
    # It dies once all was ready, and each time after.
    supervised = Supervised(tmp_path, SLEEP, dies_after("go"))
    supervised.wait_for("READY")
    (tmp_path / "go").touch()
    status, output = supervised.finish()
    assert status == 1
    assert output.count("started again") == 5
    assert "  the disk is full" in output


def test_children_that_never_get_ready_are_stopped_again(tmp_path):
    supervised = Supervised(tmp_path, SLEEP, STAYS, patience=1)
    status, output = supervised.finish()
    assert status == 1
    assert "not ready after 1 s" in output
    assert_gone(supervised.pids())


def test_warnings_reach_the_terminal_and_everything_the_log(tmp_path):
    supervised = Supervised(tmp_path, WARNS, SLEEP)
    seen = supervised.wait_for("slow disk")
    assert "[web] 2026-01-01 WARNING probing slow disk" in seen
    supervised.process.send_signal(signal.SIGTERM)
    _, output = supervised.finish()
    assert "calm" not in seen + output
    assert "INFO calm" in (tmp_path / "log" / "web.log").read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of a death")
def test_children_stop_when_the_launcher_itself_is_killed(tmp_path):
    supervised = Supervised(tmp_path, SLEEP, SLEEP)
    supervised.wait_for("READY")
    pids = supervised.pids()
    supervised.process.kill()
    supervised.process.wait()
    assert_gone(pids)
