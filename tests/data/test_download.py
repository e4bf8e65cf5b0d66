"""Downloading from a server of our own that misbehaves on request."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from ssdpt.common.progress import Reporter
from ssdpt.data.download import PARTS, RECORDS, download
from ssdpt.data.layouts import read_layout
from ssdpt.errors import SsdptError


def archive(machine: str, size: int = 300_000, folder: str = "train") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as content:
        name = f"{machine}/{folder}/section_00_source_{folder}_normal_0000.wav"
        content.writestr(name, hashlib.shake_128(machine.encode()).digest(size))
    return buffer.getvalue()


@dataclass
class Zenodo:
    """Serves one record. Each list holds what the next requests meet; then all is well."""

    files: dict[str, bytes] = field(default_factory=dict)
    trouble: list[str] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    checksum: str = ""
    size: int | None = None
    link: str = ""
    ranges: bool = True
    url: str = ""

    def record(self) -> bytes:
        return json.dumps(
            {
                "files": [
                    {
                        "key": name,
                        "size": len(content) if self.size is None else self.size,
                        "checksum": "md5:" + (self.checksum or hashlib.md5(content).hexdigest()),
                        "links": {"self": self.link or f"{self.url}/files/{name}"},
                    }
                    for name, content in self.files.items()
                ]
            }
        ).encode()


@pytest.fixture
def zenodo() -> Iterator[Zenodo]:
    state = Zenodo({"dev_data_fan.zip": archive("fan"), "dev_data_ToyCar.zip": archive("ToyCar")})
    state.files["readme.md"] = b"read me"

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range", "")
            state.requests.append((self.path, wanted))
            trouble = state.trouble.pop(0) if state.trouble else ""
            if trouble.isdecimal():
                self.send_response(int(trouble))
                self.send_header("Retry-After", "7")
                self.end_headers()
                return
            if self.path.startswith("/api/records/"):
                content = b"<html>" if trouble == "html" else state.record()
            else:
                content = state.files[self.path.rpartition("/")[2]]
            if trouble == "spoil":
                content = b"X" * len(content)
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
            if wanted and state.ranges:
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-/{len(content)}")
                content = content[start:]
            else:
                self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if trouble == "break" else content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


@dataclass
class Sleeper:
    naps: list[float] = field(default_factory=list)

    def __call__(self, seconds: float) -> None:
        self.naps.append(seconds)


class Warnings(Reporter):
    def __init__(self) -> None:
        self.messages: list[str] = []

    def warn(self, message: str) -> None:
        self.messages.append(message)


def fetch(zenodo: Zenodo, out: Path, *machines: str, **options: object) -> list[Path]:
    sleep = options.pop("sleep", None) or Sleeper()
    return download(
        "dcase2021",
        out,
        machines or None,
        base_url=zenodo.url,
        sleep=sleep,  # type: ignore[arg-type]
        **options,  # type: ignore[arg-type]
    )


def test_a_data_set_ends_in_its_layout(zenodo: Zenodo, tmp_path: Path) -> None:
    out = tmp_path / "data"
    assert fetch(zenodo, out) == [out / "ToyCar", out / "fan"]
    assert zenodo.requests[0][0] == f"/api/records/{RECORDS['dcase2021']['development']}"
    dataset = read_layout(out)
    assert dataset.layout == "dcase2022"
    assert dataset.machines == ("ToyCar", "fan")
    assert not list(out.rglob("*.zip*.part"))
    assert "/files/readme.md" not in [path for path, _ in zenodo.requests]


def test_one_machine_and_nothing_twice(zenodo: Zenodo, tmp_path: Path) -> None:
    assert fetch(zenodo, tmp_path, "toycar") == [tmp_path / "ToyCar"]
    asked = len(zenodo.requests)
    assert asked == 2
    assert fetch(zenodo, tmp_path, "TOYCAR") == [tmp_path / "ToyCar"]
    assert len(zenodo.requests) == asked
    assert fetch(zenodo, tmp_path) == [tmp_path / "ToyCar", tmp_path / "fan"]
    assert [path for path, _ in zenodo.requests[asked:]][1:] == ["/files/dev_data_fan.zip"]


def test_a_machine_that_was_deleted_is_fetched_again(zenodo: Zenodo, tmp_path: Path) -> None:
    fetch(zenodo, tmp_path, "fan")
    shutil.rmtree(tmp_path / "fan")
    fetch(zenodo, tmp_path, "fan")
    assert (tmp_path / "fan" / "train").is_dir()


@pytest.mark.parametrize("ranges", [True, False])
def test_a_broken_connection_goes_on(zenodo: Zenodo, tmp_path: Path, ranges: bool) -> None:
    zenodo.ranges = ranges
    zenodo.trouble = ["", "break", "break", "break"] if ranges else ["", "break"]
    sleeper = Sleeper()
    fetch(zenodo, tmp_path, "fan", sleep=sleeper)
    assert read_layout(tmp_path).machines == ("fan",)
    size = len(zenodo.files["dev_data_fan.zip"])
    asked = [wanted for path, wanted in zenodo.requests if path.endswith("fan.zip")]
    assert asked[:2] == ["", f"bytes={size // 2}-"]
    assert len(asked) == (4 if ranges else 2)
    assert set(sleeper.naps) == {1.0}  # each attempt brought something: no growing pauses


def test_an_interrupted_call_goes_on(zenodo: Zenodo, tmp_path: Path) -> None:
    def ctrl_c(seconds: float) -> None:
        raise KeyboardInterrupt

    zenodo.trouble = ["", "break"]
    with pytest.raises(KeyboardInterrupt):
        fetch(zenodo, tmp_path, "fan", sleep=ctrl_c)
    assert not (tmp_path / "fan").exists()
    fetch(zenodo, tmp_path, "fan")
    size = len(zenodo.files["dev_data_fan.zip"])
    assert zenodo.requests[-1] == ("/files/dev_data_fan.zip", f"bytes={size // 2}-")
    assert (tmp_path / "fan" / "train").is_dir()


def test_an_overlong_leftover_is_thrown_away(zenodo: Zenodo, tmp_path: Path) -> None:
    part = tmp_path / ".downloads" / f"{RECORDS['dcase2021']['development']}-dev_data_fan.zip.part"
    part.parent.mkdir()
    part.write_bytes(b"x" * 400_000)
    fetch(zenodo, tmp_path, "fan")
    assert zenodo.requests[-1][1] == ""


def test_a_wrong_checksum_is_fetched_once_more(zenodo: Zenodo, tmp_path: Path) -> None:
    zenodo.trouble = ["", "spoil"]
    reporter = Warnings()
    fetch(zenodo, tmp_path, "fan", reporter=reporter)
    assert (tmp_path / "fan" / "train").is_dir()
    assert reporter.messages == ["dev_data_fan.zip: the checksum is wrong, fetching it once more"]


def test_a_checksum_wrong_twice_is_reported(zenodo: Zenodo, tmp_path: Path) -> None:
    zenodo.checksum = "0" * 32
    with pytest.raises(SsdptError, match=r"dev_data_fan\.zip: the checksum is wrong twice"):
        fetch(zenodo, tmp_path, "fan")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_busy_server_is_waited_for(zenodo: Zenodo, tmp_path: Path) -> None:
    zenodo.trouble = ["503", "429", "", "503"]
    sleeper = Sleeper()
    fetch(zenodo, tmp_path, "fan", sleep=sleeper)
    assert sleeper.naps == [7.0, 7.0, 7.0]
    assert (tmp_path / "fan" / "train").is_dir()


@pytest.mark.parametrize("answers_record", [True, False])
def test_a_server_that_stays_busy_is_given_up(
    zenodo: Zenodo, tmp_path: Path, answers_record: bool
) -> None:
    zenodo.trouble = ([""] if answers_record else []) + ["503"] * 50
    with pytest.raises(SsdptError, match=r"given up after 6 attempts \(the server answers 503"):
        fetch(zenodo, tmp_path, "fan")


def test_no_server_at_all(tmp_path: Path) -> None:
    sleeper = Sleeper()
    with pytest.raises(SsdptError, match="given up after 6 attempts"):
        download("dcase2020", tmp_path, base_url="http://127.0.0.1:9", sleep=sleeper)
    assert sleeper.naps == [1.0, 2.0, 4.0, 8.0, 16.0]


def test_a_refusal_is_not_repeated(zenodo: Zenodo, tmp_path: Path) -> None:
    zenodo.trouble = ["404"]
    with pytest.raises(SsdptError, match="the server answers 404"):
        fetch(zenodo, tmp_path)
    assert len(zenodo.requests) == 1


def test_an_answer_that_is_not_json(zenodo: Zenodo, tmp_path: Path) -> None:
    zenodo.trouble = ["html"]
    with pytest.raises(SsdptError, match="the answer is not JSON"):
        fetch(zenodo, tmp_path)


@pytest.mark.parametrize("name", ["../dev_fan.zip", "a\\dev_fan.zip", ".dev_fan.zip"])
def test_names_from_the_network_stay_names(zenodo: Zenodo, tmp_path: Path, name: str) -> None:
    zenodo.files = {name: archive("fan")}
    with pytest.raises(SsdptError, match="should not have; not fetched"):
        fetch(zenodo, tmp_path)


def test_addresses_from_the_network_stay_on_the_web(zenodo: Zenodo, tmp_path: Path) -> None:
    zenodo.link = "file:///etc/hostname"
    with pytest.raises(SsdptError, match="not a web address"):
        fetch(zenodo, tmp_path)


def test_unknown_names_are_answered_with_what_there_is(zenodo: Zenodo, tmp_path: Path) -> None:
    with pytest.raises(SsdptError, match="no machine called saw; there are ToyCar, fan"):
        fetch(zenodo, tmp_path, "saw", "fan")
    with pytest.raises(SsdptError, match="dcase1999: no such data set; choose one of dcase2020"):
        download("dcase1999", tmp_path)
    with pytest.raises(SsdptError, match="no such part"):
        download("dcase2020", tmp_path, parts=["secret"])


def test_parts_lie_together(zenodo: Zenodo, tmp_path: Path) -> None:
    zenodo.files = {"eval_data_train_fan_r2.zip": archive("fan")}
    fetch(zenodo, tmp_path, parts=["additional"])
    zenodo.files = {"eval_data_fan_test.zip": archive("fan", folder="test")}
    fetch(zenodo, tmp_path, parts=["evaluation"])
    assert {r.split for r in read_layout(tmp_path).recordings} == {"train", "test"}


def test_too_little_space_is_reported_first(
    zenodo: Zenodo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zenodo.size = 4 * 10**9
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=10**9))
    with pytest.raises(SsdptError, match=r"about 16\.0 GB are needed there, 1\.0 GB are free"):
        fetch(zenodo, tmp_path / "new" / "folder")
    assert not (tmp_path / "new").exists()


def test_the_table_of_records_is_complete() -> None:
    numbers = [number for parts in RECORDS.values() for number in parts.values()]
    assert len(set(numbers)) == 18
    assert all(tuple(parts) == PARTS for parts in RECORDS.values())
