"""Unpack the archive of one machine into `<out>/<machine>/…`, whatever folders it is packed in."""

from __future__ import annotations

import lzma
import shutil
import struct
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from ssdpt.common.files import writing
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.errors import SsdptError

_SPLIT_FOLDERS = frozenset({"train", "test", "source_test", "target_test", "supplemental"})


def unpack(archive: Path, out: Path, machine: str, reporter: Reporter = SILENT) -> list[str]:
    """Unpack the ZIP file `archive`; return the names of the machine folders it filled.

    Everything is unpacked aside first and moved in whole, so no half-written file is ever seen
    under its final name. `machine` names the folder where the archive itself does not. A path
    that would lead out of `out` is refused before anything is written.
    """
    try:
        with zipfile.ZipFile(archive) as content:
            members = [info for info in content.infolist() if not info.is_dir()]
            targets = {info: _target(archive, info.filename, machine) for info in members}
            kept = {info: target for info, target in targets.items() if target is not None}
            _check_space(archive, out, kept)
            return _extract(content, kept, out, archive.name, reporter)
    except (
        *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
        *(RuntimeError, ValueError, LookupError, struct.error),  # what zipfile does not check
    ) as error:
        raise SsdptError(
            f"{archive}: not a readable ZIP archive ({error}); delete it and fetch it again"
        ) from error


def _target(archive: Path, name: str, machine: str) -> PurePosixPath | None:
    """Where a member goes, relative to `out`; None for what operating systems add."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in "".join(path.parts[:1]):
        raise SsdptError(
            f"{archive}: holds the path {name!r}, which leads out of its folder; "
            f"nothing was unpacked, do not trust this archive"
        )
    if "__MACOSX" in path.parts or path.name.startswith(".") or not path.name:
        return None
    for index, part in enumerate(path.parts[:-1]):
        if part.lower() in _SPLIT_FOLDERS:
            owner = path.parts[index - 1] if index else machine
            return PurePosixPath(owner, *path.parts[index:])
    owner = path.parts[-2] if len(path.parts) > 1 else machine
    return PurePosixPath(owner, path.name)


def _check_space(archive: Path, out: Path, members: dict[zipfile.ZipInfo, PurePosixPath]) -> None:
    needed = sum(info.file_size for info in members)
    free = shutil.disk_usage(out).free
    if free < needed:
        raise SsdptError(
            f"{archive}: unpacked it takes {needed / 1e9:.1f} GB, {free / 1e9:.1f} GB are free in "
            f"{out}; free some space and call again"
        )


def _extract(
    content: zipfile.ZipFile,
    members: dict[zipfile.ZipInfo, PurePosixPath],
    out: Path,
    name: str,
    reporter: Reporter,
) -> list[str]:
    aside = out / f".unpacking-{name}"
    with writing(out), reporter.task(f"unpacking {name}", len(members)) as task:
        try:
            for info, target in members.items():
                (aside / target).parent.mkdir(parents=True, exist_ok=True)
                with content.open(info) as source, (aside / target).open("wb") as file:
                    shutil.copyfileobj(source, file)
                task.advance()
            for target in members.values():
                (out / target).parent.mkdir(parents=True, exist_ok=True)
                (aside / target).replace(out / target)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    return sorted({target.parts[0] for target in members.values()})
