"""Seeds of readers of the service: stores, backups, requests."""

from __future__ import annotations

import gzip
import io
import json
import struct
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_data_seeds import sound
from fuzz_target import Seeds


def _backup() -> tuple[dict[str, Any], dict[str, Any]]:
    """The members and the tables of a small backup."""
    import examples

    from ssdpt.monitor.store import Store
    from ssdpt.monitor.store.backup import back_up

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Store.open(f"sqlite:///{folder / 'ssdpt.db'}", folder) as store:
            store.add_readings([examples.reading(time=1.79e9 + n) for n in range(3)])
            store.save_event(examples.event_with_everything(began=1.79e9))
            store.add_note("fan-1", 1.79e9, "repair", "greased", who="ann", now=1.79e9)
            back_up(store, folder / "backup.tar")
        members: dict[str, Any] = {}
        tables: dict[str, Any] = {}
        with tarfile.open(folder / "backup.tar") as tar:
            for member in tar:
                file = tar.extractfile(member)
                content = b"" if file is None else file.read()
                if member.name.startswith("tables/"):
                    lines = gzip.decompress(content).decode().splitlines()
                    tables[member.name[7:-9]] = [json.loads(line) for line in lines]
                else:
                    members[member.name] = json.loads(content)
    members["about.json"] |= {"made": 1.79e9}
    return members, tables


def backup_content() -> Seeds:
    members, tables = _backup()
    whole = {"members": members, "tables": tables}
    yield "whole", json.dumps(whole).encode()
    for name in ("../outside", "/tmp/outside", "files/../../outside", "models/../a/config.json"):
        bad = {**whole, "members": {name: "text", **members}}
        yield f"name-{len(name)}", json.dumps(bad).encode()
    yield "deep", json.dumps({**whole, "members": {"about.json": "[" * 1500}}).encode()
    few = {name: rows for name, rows in tables.items() if name != "events"}
    yield "no-events", json.dumps({**whole, "tables": few}).encode()


def backup_file() -> Seeds:
    members, tables = _backup()
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, content in members.items():
            _add(tar, name, json.dumps(content).encode())
        for name, lines in tables.items():
            text = "\n".join(map(json.dumps, lines)).encode()
            _add(tar, f"tables/{name}.jsonl.gz", gzip.compress(text, mtime=0))
    yield "whole", file.getvalue()
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        link = tarfile.TarInfo("about.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    yield "link", file.getvalue()
    yield "truncated", file.getvalue()[:700]


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))


def store_file() -> Seeds:
    yield "good", b"P"
    yield "empty", b""
    yield "random", bytes(np.random.default_rng(0).integers(0, 256, 600, dtype=np.uint8))
    yield "header", b"P" + struct.pack("<IH", 0, 16) + b"SQLite format 4\x00"
    yield "page-size", b"P" + struct.pack("<IH", 16, 2) + b"\x00\x03"
    yield "first-table", b"P" + struct.pack("<IH", 100, 8) + b"\x0d\x00\x00\x00\x63\x00\x00\x00"


def event_picture() -> Seeds:
    import examples

    from ssdpt.monitor.events.picture import EventPicture

    yield "whole", EventPicture(examples.event_spectrogram(), ()).to_bytes()
    file = io.BytesIO()
    np.savez_compressed(file, hz=np.zeros(30_000_000, np.uint8))
    yield "once-unpacks-to-much", file.getvalue()


def http_request() -> Seeds:
    from examples import EVENT, RECORDING, TRIAL
    from serving import ROUTES

    names = {"machine": "fan-1", "event": EVENT, "name": "ann", "trial": TRIAL, "number": 1}
    for number, ((method, path), (_, body)) in enumerate(ROUTES.items()):
        target = path.format(**names, recording=RECORDING, note=1)
        if isinstance(body, bytes):
            content = b"content-type: audio/flac\r\n\r\n" + sound("FLAC")
        else:
            text = json.dumps(body) if body is not None else ""
            content = b"content-type: application/json\r\n\r\n" + text.encode()
        yield f"route-{number:02d}", f"{method} {target}\r\n".encode() + content
    yield (
        "query",
        b"GET /v1/events?machine=fan-1&begin=1&end=2&limit=3&kind=anomaly&open=true\r\n\r\n",
    )
    yield "range", f"GET /v1/events/{EVENT}/audio\r\nrange: bytes=0-3\r\n\r\n".encode()
    yield "trend", b"GET /v1/machines/fan-1/trend?begin=0&end=1e308&points=5\r\n\r\n"


def websocket() -> Seeds:
    pcm = np.array([0.1, -0.1], "<f4").tobytes()
    yield "pcm", b"v1/machines/fan-1/pcm?rate=16000&channels=1\n" + b"\x00\x08" + pcm
    yield "text", b"v1/machines/fan-1/pcm?rate=16000&format=s16\n\x00\x04abcd\x01\x02hi"
    yield "listen", b"v1/machines/fan-1/listen\n\x01\x05hello\x00\x01a"
    yield "infinite", b"v1/machines/fan-1/pcm?rate=16000\n\x00\x04\x00\x00\x80\x7f"
    yield "elsewhere", b"v1/machines/\x1b%0a/pcm?rate=x\n"
