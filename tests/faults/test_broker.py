"""The filesystem broker survives what happens to folders."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from kombu import Connection
from kombu.simple import SimpleQueue

from stereoscope.celery import Channel, register_transport


@pytest.fixture
def link(tmp_path: Path) -> Iterator[Connection]:
    register_transport()
    folders = {
        "data_folder_in": str(tmp_path / "broker" / "messages"),
        "data_folder_out": str(tmp_path / "broker" / "messages"),
        "control_folder": str(tmp_path / "broker" / "control"),
        "polling_interval": 0.01,
    }
    with Connection("filesystem://localhost//", transport_options=folders) as connection:
        yield connection


def receive(queue: SimpleQueue) -> object:
    message = queue.get(timeout=60)
    message.ack()
    return message.payload


def test_folders_come_with_the_first_message(link: Connection, tmp_path: Path) -> None:
    assert isinstance(link.default_channel, Channel)
    queue = link.SimpleQueue("work")
    queue.put({"n": 1})
    assert (tmp_path / "broker" / "messages").is_dir()
    assert receive(queue) == {"n": 1}


def test_messages_come_in_their_order(link: Connection) -> None:
    queue = link.SimpleQueue("work")
    for number in range(20):
        queue.put(number)
    assert [receive(queue) for _ in range(20)] == list(range(20))


def test_a_deleted_folder_is_an_empty_one(link: Connection, tmp_path: Path) -> None:
    queue = link.SimpleQueue("work")
    queue.put("lost")
    shutil.rmtree(tmp_path / "broker")
    with pytest.raises(queue.Empty):
        queue.get(timeout=0.2)
    queue.put("found")
    assert receive(queue) == "found"


def test_no_message_is_ever_seen_half(link: Connection, tmp_path: Path) -> None:
    queue = link.SimpleQueue("work")
    large = "x" * 200_000
    number = 60

    def send() -> None:
        with link.clone() as other:
            for _ in range(number):
                other.SimpleQueue("work").put(large)

    sender = Thread(target=send)
    sender.start()
    received = [receive(queue) for _ in range(number)]
    sender.join()
    assert set(received) == {large}
