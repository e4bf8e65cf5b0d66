"""Names of files and folders of a data set: a path on each line, and its content after a tab."""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
import soundfile
from fuzz_oracle import Violation, wrong_in
from fuzz_target import FuzzTarget

from ssdpt.data.inspect import inspect
from ssdpt.data.layouts import read_layout
from ssdpt.data.snapshots import find_runs, read_run
from ssdpt.errors import SsdptError

_MOST_FILES = 12
_MOST_FOLDERS = 5
_LONGEST_NAME = 200  # bytes


def _wav() -> bytes:
    file = io.BytesIO()
    noise = 0.1 * np.random.default_rng(0).standard_normal(160)
    soundfile.write(file, noise, 16000, format="WAV", subtype="PCM_16")
    return file.getvalue()


class Target(FuzzTarget):
    """Creates the files in an empty folder, recognises the layout and inspects it."""

    share = 60
    longest = 1024
    words = (
        *(b"section_00_source_train_normal_0001.wav", b"normal_id_02_00000001.wav", b"normal/"),
        *(b"abnormal/", b"train/", b"test/", b"source_test/", b"id_00/", b"6_dB_fan/", b".flac"),
        *(b"attributes_00.csv\tfile_name,d1p,d1v\\n", b"times.csv\tfile,time\\n", b".csv", b".mp3"),
        *(
            b"sensor.yaml\tunit: g\\nfull_scale: 50",
            b"2003.10.22.12.06.24",
            b"\xff",
            b"\xe2\x80\xa8",
        ),
    )

    def __init__(self, folder):
        super().__init__(folder)
        self._sound = _wav()

    def run(self, data: bytes) -> None:
        root = self.empty("data")
        for line in data.split(b"\n")[:_MOST_FILES]:
            self._create(root, line)
        with_runs = self._tried(lambda: find_runs(root)) or []
        for path in with_runs[:2]:
            self._tried(lambda path=path: read_run(path))
        dataset = read_layout(root)
        for text in (*dataset.notes, *inspect(root).lines()):
            if wrong := wrong_in(text, "a note"):
                raise Violation(wrong[0])

    def _tried(self, work):
        try:
            return work()
        except SsdptError as error:
            if wrong := wrong_in(str(error), "the sentence"):
                raise Violation(wrong[0]) from error
            return None

    def _create(self, root: Path, line: bytes) -> None:
        name, tab, content = line.replace(b"\0", b"").partition(b"\t")
        parts = [
            part[:_LONGEST_NAME] for part in name.split(b"/") if part not in (b"", b".", b"..")
        ]
        if not parts:
            return
        path = root.joinpath(*(os.fsdecode(part) for part in parts[-_MOST_FOLDERS:]))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.replace(b"\\n", b"\n") if tab else self._sound)
        except OSError:
            return  # a file lies where a folder is wanted, or the other way round
