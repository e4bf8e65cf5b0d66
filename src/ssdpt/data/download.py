"""Fetch a public DCASE data set: resume, verify, unpack into the layout, and never do it twice.

The record's own JSON names the files and their md5. An archive grows in a `.part` file, is
verified, unpacked aside and moved into `<out>/<machine>/…`; only then is it marked as done.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import shutil
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from ssdpt.common.files import write_json, writing
from ssdpt.common.progress import SILENT, Reporter, Task
from ssdpt.data.archive import unpack
from ssdpt.errors import SsdptError
from ssdpt.version import __version__

PARTS = ("development", "additional", "evaluation")
"""The parts of a data set: `additional` is the training data of the evaluation machines."""

RECORDS: dict[str, dict[str, int]] = {
    "dcase2020": {"development": 3678171, "additional": 3727685, "evaluation": 3841772},
    "dcase2021": {"development": 4562016, "additional": 4660992, "evaluation": 4884786},
    "dcase2022": {"development": 6355122, "additional": 6462969, "evaluation": 6586456},
    "dcase2023": {"development": 7882613, "additional": 7830345, "evaluation": 7860847},
    "dcase2024": {"development": 10902294, "additional": 11259435, "evaluation": 11363076},
    "dcase2025": {"development": 15097779, "additional": 15392814, "evaluation": 15519362},
}
"""Numbers of the public Zenodo records."""

_ATTEMPTS = 6  # failures in a row without a single new byte
_LONGEST_WAIT = 120.0  # seconds
_TIMEOUT = 60.0  # seconds without an answer
_CHUNK = 1 << 18  # bytes
_UNPACKED = 1.5  # size of unpacked sound relative to its archive, roughly
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_NO_MACHINE = frozenset({"dev", "data", "eval", "train", "test", "additional", "r2"})

Sleep = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file of a record."""

    name: str
    size: int  # bytes
    md5: str
    url: str

    @property
    def machine(self) -> str:
        """The machine in a name such as `eval_data_train_fan.zip`; empty for a read-me."""
        if not self.name.lower().endswith(".zip"):
            return ""
        words = Path(self.name).stem.split("_")
        return "_".join(word for word in words if word.lower() not in _NO_MACHINE)


class _Broken(Exception):
    """A failure that may pass: try again after `wait` seconds, or after the usual pause."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


def download(
    name: str,
    out: Path,
    machines: Iterable[str] | None = None,
    reporter: Reporter = SILENT,
    *,
    parts: Sequence[str] = ("development",),
    base_url: str = "https://zenodo.org",
    sleep: Sleep = time.sleep,
) -> list[Path]:
    """Fetch `parts` of the data set `name` into `out`; return the folders of the machines.

    `machines` limits it to some, in any case of letters. A call that was interrupted continues
    where it stopped, and one that finds everything done asks the network nothing.
    """
    if name not in RECORDS:
        raise SsdptError(f"{name}: no such data set; choose one of {', '.join(RECORDS)}")
    for part in parts:
        if part not in PARTS:
            raise SsdptError(f"{part}: no such part of a data set; choose from {', '.join(PARTS)}")
    wanted = None if machines is None else {machine.lower() for machine in machines}
    folders: set[Path] = set()
    for part in dict.fromkeys(parts):
        number = RECORDS[name][part]
        store = _Store(out, number)
        files = store.finished(wanted)
        if files is None:
            record = _fetch_record(f"{base_url}/api/records/{number}", reporter, sleep)
            files = _select(name, part, record, wanted)
            _check_space(out, [file for file in files if not store.is_done(file)])
            with writing(out):
                out.mkdir(parents=True, exist_ok=True)
            for file in files:
                if not store.is_done(file):
                    archive = _fetch_file(file, store.part(file), reporter, sleep)
                    store.finish(file, unpack(archive, out, file.machine, reporter))
                    archive.unlink()
            write_json(store.record, record)
        else:
            reporter.say(f"{name} {part}: already in {out}")
        for file in files:
            folders.update(store.folders(file))
    return sorted(folders)


class _Store:
    """The state of one record on disk: files fetched in part, and finished ones."""

    def __init__(self, out: Path, number: int) -> None:
        self.out = out
        self.home = out / ".downloads"
        self.number = number
        self.record = self.home / f"{number}.json"

    def part(self, file: RemoteFile) -> Path:
        return self.home / f"{self.number}-{file.name}.part"

    def finished(self, wanted: set[str] | None) -> list[RemoteFile] | None:
        """The wanted files if the record is on disk and all of them are done."""
        try:
            files = _files(json.loads(self.record.read_text(encoding="utf-8")))
        except (OSError, ValueError, SsdptError):
            return None
        files = [file for file in files if _is_wanted(file, wanted)]
        machines = {file.machine.lower() for file in files}
        if wanted is not None and not wanted <= machines:
            return None
        return files if all(self.is_done(file) for file in files) else None

    def is_done(self, file: RemoteFile) -> bool:
        done = self._done(file)
        return done.get("md5") == file.md5 and all(p.is_dir() for p in self.folders(file))

    def folders(self, file: RemoteFile) -> list[Path]:
        return [self.out / str(folder) for folder in self._done(file).get("machines", [])]

    def finish(self, file: RemoteFile, machines: list[str]) -> None:
        write_json(self._done_path(file), {"md5": file.md5, "machines": machines})

    def _done_path(self, file: RemoteFile) -> Path:
        return self.home / f"{self.number}-{file.name}.done.json"

    def _done(self, file: RemoteFile) -> dict[str, Any]:
        try:
            done = json.loads(self._done_path(file).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return done if isinstance(done, dict) else {}


def _files(record: Any) -> list[RemoteFile]:
    try:
        files = [
            RemoteFile(
                name=str(entry["key"]),
                size=int(entry["size"]),
                md5=str(entry["checksum"]).removeprefix("md5:").lower(),
                url=str(entry["links"]["self"]),
            )
            for entry in record["files"]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise SsdptError(
            f"the record's description is not in the expected form (at {error}); "
            f"the server may have changed, download the files by hand"
        ) from error
    for file in files:
        # Names and addresses come from the network: a name must stay a name, an address the web's.
        if Path(file.name).name != file.name or "\\" in file.name or file.name.startswith("."):
            raise SsdptError(f"{file.name!r}: a file name the record should not have; not fetched")
        if urllib.parse.urlsplit(file.url).scheme not in ("http", "https"):
            raise SsdptError(f"{file.url}: not a web address; not fetched")
    return sorted(files, key=lambda file: file.name)


def _is_wanted(file: RemoteFile, wanted: set[str] | None) -> bool:
    return bool(file.machine) and (wanted is None or file.machine.lower() in wanted)


def _select(name: str, part: str, record: Any, wanted: set[str] | None) -> list[RemoteFile]:
    files = _files(record)
    there = sorted({file.machine for file in files if file.machine})
    if missing := sorted((wanted or set()) - {machine.lower() for machine in there}):
        raise SsdptError(
            f"{name} {part}: no machine called {', '.join(missing)}; "
            f"there are {', '.join(there) or 'none'}"
        )
    return [file for file in files if _is_wanted(file, wanted)]


def _check_space(out: Path, files: Sequence[RemoteFile]) -> None:
    if not files:
        return
    sizes = [file.size for file in files]
    needed = _UNPACKED * sum(sizes) + max(sizes)
    place = out.absolute()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < needed:
        raise SsdptError(
            f"{out}: about {needed / 1e9:.1f} GB are needed there, {free / 1e9:.1f} GB are free; "
            f"free some space, choose another place or fewer machines"
        )


def _fetch_record(url: str, reporter: Reporter, sleep: Sleep) -> Any:
    failures = 0
    while True:
        try:
            with _open(url, {"Accept": "application/json"}) as answer:
                return json.loads(answer.read())
        except (_Broken, OSError, http.client.HTTPException) as error:
            failures += 1
            _pause(url, error, failures, reporter, sleep)
        except ValueError as error:
            raise SsdptError(f"{url}: the answer is not JSON; try again later") from error


def _fetch_file(file: RemoteFile, part: Path, reporter: Reporter, sleep: Sleep) -> Path:
    """Bring `part` to its full, verified content."""
    with reporter.task(f"downloading {file.name}", file.size) as task:
        for attempt in range(2):
            _fill(file, part, task, reporter, sleep)
            if _md5(part) == file.md5:
                return part
            part.unlink()
            if attempt == 0:
                reporter.warn(f"{file.name}: the checksum is wrong, fetching it once more")
                task.advance(-file.size)
    raise SsdptError(
        f"{file.url}: the checksum is wrong twice in a row; the file on the server or the way to "
        f"it is damaged, try again later"
    )


def _fill(file: RemoteFile, part: Path, task: Task, reporter: Reporter, sleep: Sleep) -> None:
    with writing(part):
        part.parent.mkdir(parents=True, exist_ok=True)
        have = part.stat().st_size if part.exists() else 0
    if have > file.size:
        part.unlink()
        have = 0
    task.advance(have)
    failures = 0
    while have < file.size:
        before = have
        try:
            headers = {"Range": f"bytes={have}-"} if have else {}
            with _open(file.url, headers) as answer:
                if have and not _continues(answer, have):
                    task.advance(-have)
                    have = before = 0
                have = _receive(answer, part, have, file.size, task)
                if have < file.size:
                    raise _Broken("the connection ended before the file did")
        except (_Broken, OSError, http.client.HTTPException) as error:
            have = part.stat().st_size if part.exists() else 0
            failures = 1 if have > before else failures + 1
            _pause(file.url, error, failures, reporter, sleep)


def _continues(answer: Any, have: int) -> bool:
    """Whether the server continues where we stopped; one that ignores Range starts again."""
    where = str(answer.headers.get("Content-Range", ""))
    return answer.status == 206 and where.startswith(f"bytes {have}-")


def _receive(answer: Any, part: Path, have: int, size: int, task: Task) -> int:
    """Append the answer to `part`, at most up to `size` bytes; return how many it holds now."""
    with writing(part):
        file = part.open("ab" if have else "wb")
    with file:
        while have < size:
            chunk = answer.read(min(_CHUNK, size - have))
            if not chunk:
                break
            with writing(part):
                file.write(chunk)
            have += len(chunk)
            task.advance(len(chunk))
        with writing(part):
            file.flush()
    return have


def _open(url: str, headers: dict[str, str]) -> Any:
    """Ask for `url`; a busy server is a `_Broken`, a refusal a sentence."""
    request = urllib.request.Request(url, headers={"User-Agent": f"ssdpt/{__version__}", **headers})
    try:
        return urllib.request.urlopen(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        with error:
            if error.code in _BUSY:
                raise _Broken(
                    f"the server answers {error.code}", _retry_after(error.headers)
                ) from error
            raise SsdptError(
                f"{url}: the server answers {error.code} {error.reason}; "
                f"check the address or try again later"
            ) from error


def _retry_after(headers: Any) -> float | None:
    text = headers.get("Retry-After", "")
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(text).timestamp() - time.time()
    except (TypeError, ValueError):
        return None


def _pause(url: str, error: Exception, failures: int, reporter: Reporter, sleep: Sleep) -> None:
    """Wait longer after each failure, or as long as the server asks; give up after a few."""
    reason = str(getattr(error, "reason", error)) or type(error).__name__
    if failures >= _ATTEMPTS:
        raise SsdptError(
            f"{url}: given up after {failures} attempts ({reason}); check the connection and call "
            f"again, what was fetched is kept"
        ) from error
    asked = error.wait if isinstance(error, _Broken) else None
    seconds = min(_LONGEST_WAIT, max(0.0, asked if asked is not None else 2.0 ** (failures - 1)))
    reporter.detail(f"{url}: {reason}; going on in {seconds:.0f} s")
    sleep(seconds)


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
