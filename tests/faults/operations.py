"""Operations that must be whole or undone, wherever they are cut: files, folders and stores.

Each is run by the fork server, and looked at by `faults.kill_points`.
"""

from __future__ import annotations

import json
import lzma
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from store_data import BEGIN, content, event, fill, readings

from faults.experiment import Outcome
from faults.oracle import content as files_of
from ssdpt.common.files import atomic_folder, recover_folder, write_json
from ssdpt.config.tree import load_config
from ssdpt.detection.card import model_card
from ssdpt.detection.storage import StoredModel, read_model, write_calibration, write_model
from ssdpt.monitor.store import Store, back_up, restore
from ssdpt.monitor.store.schema import newest_revision

_TESTS = Path(__file__).parents[1]
_GOLDEN = _TESTS / "golden" / "formats" / "5"
_STORE_0003 = _TESTS / "monitor" / "store" / "store_0003.db.xz"


class Operation(ABC):
    """Something that is killed at every point between two system calls."""

    faults: tuple[str, ...] = ()  # of `strace`, besides the kill
    may_repeat = ""  # a file that each attempt may leave, as `oracle.names` gives it

    def load(self) -> None:
        """Do it once, so that all code is loaded before anything is counted."""
        with tempfile.TemporaryDirectory(prefix="faults-") as folder:
            self.prepare(Path(folder))
            self.run(Path(folder))

    @abstractmethod
    def prepare(self, folder: Path) -> None:
        """What there is before."""

    @abstractmethod
    def run(self, folder: Path) -> None:
        """What is killed."""

    @abstractmethod
    def check(self, folder: Path, outcome: Outcome) -> None:
        """What must hold right after the kill: the old state or the new one."""

    def again(self, folder: Path) -> None:
        """What people or the service do next."""
        self.run(folder)

    @abstractmethod
    def check_done(self, folder: Path, outcome: Outcome) -> None:
        """What must hold then: the new state."""


class WriteFile(Operation):
    """A file is replaced by another version of it."""

    old: str | None = "old"
    new = "new" * 10_000

    def prepare(self, folder: Path) -> None:
        if self.old is not None:
            write_json(self.path(folder), self.old)

    def path(self, folder: Path) -> Path:
        return folder / "settings.json"

    def run(self, folder: Path) -> None:
        write_json(self.path(folder), self.new)

    def check(self, folder: Path, outcome: Outcome) -> None:
        path = self.path(folder)
        found = json.loads(path.read_text()) if path.exists() else None
        outcome.expect(found in (self.old, self.new), f"{path.name} is neither old nor new")

    def check_done(self, folder: Path, outcome: Outcome) -> None:
        found = json.loads(self.path(folder).read_text())
        outcome.expect(found == self.new, "the file is not the new one")


class NewFile(WriteFile):
    """A file in a folder that is not there yet."""

    old = None

    def path(self, folder: Path) -> Path:
        return folder / "new" / "settings.json"


class SwapFolder(Operation):
    """A folder is replaced in one step."""

    def prepare(self, folder: Path) -> None:
        self._write(folder, "old")

    def run(self, folder: Path) -> None:
        self._write(folder, "new")

    @staticmethod
    def _write(folder: Path, version: str) -> None:
        with atomic_folder(folder / "model") as place:
            for name in ("a", "b"):
                (place / name).write_text(version)

    def check(self, folder: Path, outcome: Outcome) -> None:
        recover_folder(folder / "model")
        outcome.checked += 1
        if not (folder / "model").is_dir():
            outcome.lost.append("the folder")
            return
        found = files_of(folder / "model")
        whole = [{"a": version, "b": version} for version in (b"old", b"new")]
        outcome.expect(found in whole, f"the folder is neither old nor new: {found}")

    def check_done(self, folder: Path, outcome: Outcome) -> None:
        outcome.expect(
            files_of(folder / "model") == {"a": b"new", "b": b"new"}, "the folder is not new"
        )


class RenameFolder(SwapFolder):
    """The same where the file system cannot swap two names."""

    faults = ("renameat2:error=EINVAL",)


class SaveModel(Operation):
    """A fitted model replaces another one of the same machine."""

    def load(self) -> None:
        self._models = {name: read_model(_GOLDEN / name) for name in ("gmm", "texture")}
        super().load()

    def prepare(self, folder: Path) -> None:
        shutil.copytree(_GOLDEN / "gmm", folder / "model")

    def run(self, folder: Path) -> None:
        model = self._models["texture"]
        write_model(folder / "model", model, model_card(model))

    def check(self, folder: Path, outcome: Outcome) -> None:
        recover_folder(folder / "model")
        outcome.checked += 1
        if not (folder / "model").is_dir():
            outcome.lost.append("the model")
            return
        found = read_model(folder / "model").config.system
        outcome.expect(found in ("gmm", "texture"), f"a model of {found}")

    def check_done(self, folder: Path, outcome: Outcome) -> None:
        found = read_model(folder / "model").config.system
        outcome.expect(found == "texture", f"a model of {found}")

    def again(self, folder: Path) -> None:
        if not hasattr(self, "_models"):
            self._models = {"texture": read_model(_GOLDEN / "texture")}
        self.run(folder)


class SaveThresholds(Operation):
    """Thresholds of a saved model are changed in its folder; then it is fitted again."""

    def prepare(self, folder: Path) -> None:
        shutil.copytree(_GOLDEN / "gmm", folder / "model")

    def run(self, folder: Path) -> None:
        model = self._model()
        write_calibration(folder / "model", model.calibration, "card " * 5000)

    def check(self, folder: Path, outcome: Outcome) -> None:
        outcome.checked += 1
        read_model(folder / "model")  # raises where it is damaged

    def again(self, folder: Path) -> None:
        write_model(folder / "model", self._model(), "card " * 5000)

    def check_done(self, folder: Path, outcome: Outcome) -> None:
        self.check(folder, outcome)

    @staticmethod
    def _model() -> StoredModel:
        return read_model(_GOLDEN / "gmm")


class WriteShards(Operation):
    """An archive of two clips is scored into shards."""

    def prepare(self, folder: Path) -> None:
        (folder / "clips").mkdir()
        for name in ("1.wav", "2.wav"):
            (folder / "clips" / name).write_bytes(b"sound")

    def run(self, folder: Path) -> None:
        from ssdpt.fleet.archive import Scoring, ShardScores, score_archive
        from ssdpt.scoring.rows import COLUMNS
        from ssdpt.types import Recording

        def engine(scoring: object, shards: Any, progress: object) -> Iterator[Any]:
            for number, clips in shards:
                row: list[Any] = ["normal"] * len(COLUMNS)
                yield number, ShardScores([row], [(str(clips[0].path), "one more, broken")])

        clips = [
            Recording(path, "fan") for path in sorted((folder / "clips").iterdir()) for _ in "12"
        ]
        clips = [
            Recording(clip.path.with_name(f"{number}{clip.path.name}"), "fan")
            for number, clip in enumerate(clips)
        ]
        scoring = Scoring.by(_GOLDEN / "gmm")
        score_archive(clips, scoring, folder / "out", engine, shard_size=2)

    def check(self, folder: Path, outcome: Outcome) -> None:
        """What is finished is whole; the next run reads all of it."""
        outcome.checked += len(list((folder / "out").glob("part-*")))

    def check_done(self, folder: Path, outcome: Outcome) -> None:
        found = len(list((folder / "out").glob("part-*.csv")))
        outcome.expect(found == 2, f"{found} of 2 shards")


class SaveCell(Operation):
    """A finished cell of an experiment is stored."""

    def run(self, folder: Path) -> None:
        import numpy as np

        from ssdpt.experiments.paper.cells import CellScores

        nothing = np.zeros((0, 0), np.float32)
        scores = CellScores(
            clips=(),
            value=np.arange(5, dtype=np.float32),
            parts={},
            epochs=nothing,
            epoch_numbers=(),
            normals=(),
            normal_value=nothing[0:0, 0:0].reshape(-1),
            normal_epochs=nothing,
            seconds=1.0,
            log='{"epoch": 1}\n',
        )
        store, cell = self._store(folder)
        if store.load(cell) is None:
            store.save(cell, scores)

    def prepare(self, folder: Path) -> None:
        (folder / "cells").mkdir()

    @staticmethod
    def _store(folder: Path) -> tuple[Any, Any]:
        from ssdpt.experiments.paper.cells import Cell, CellStore

        cell = Cell(load_config("tiny", {"system": "gmm"}), ("fan",), "fingerprint")
        return CellStore(folder / "cells"), cell

    def check(self, folder: Path, outcome: Outcome) -> None:
        store, cell = self._store(folder)
        if store.folder_of(cell).exists():
            outcome.checked += 1
            outcome.expect(store.load(cell) is not None, "the cell is there and not whole")

    def check_done(self, folder: Path, outcome: Outcome) -> None:
        store, cell = self._store(folder)
        outcome.expect(store.load(cell) is not None, "the cell is not there")


class StoreOperation(Operation):
    """Something that is done to a store with rows in every table."""

    def prepare(self, folder: Path) -> None:
        with self.opened(folder) as store:
            fill(store)
            store.save_event(event(1))

    @staticmethod
    @contextmanager
    def opened(folder: Path) -> Iterator[Store]:
        with Store.open(f"sqlite:///{folder}/ssdpt.db", folder, writer=True) as store:
            yield store


class Attach(StoreOperation):
    """The recording of an event is replaced."""

    def run(self, folder: Path) -> None:
        with self.opened(folder) as store:
            store.attach(event(0).id, "audio", b"new sound" * 1000, ".flac")

    def check(self, folder: Path, outcome: Outcome) -> None:
        with self.opened(folder) as store:
            outcome.checked += 1
            path = store.attachment(event(0).id, "audio")
            if path is None:
                outcome.lost.append("the recording")
            else:
                whole = path.read_bytes() in (b"sound", b"new sound" * 1000)
                outcome.expect(whole, "the recording is neither old nor new")

    def check_done(self, folder: Path, outcome: Outcome) -> None:
        self.check(folder, outcome)


class WriteOfPeople(StoreOperation):
    """A person acknowledges, labels, comments and writes a note."""

    def run(self, folder: Path) -> None:
        with self.opened(folder) as store:
            id, now = event(1).id, BEGIN + 9
            for number, write in enumerate(
                (
                    lambda: store.acknowledge(id, "Bo", now, "seen"),
                    lambda: store.label(id, "fault", "Bo", now),
                    lambda: store.comment(id, "Bo", now, "worse"),
                    lambda: store.add_note("fan-1", now, "repair", "oiled", who="Bo", now=now),
                )
            ):
                write()
                (folder / f"acknowledged-{number}").touch()  # the answer of the server

    def check(self, folder: Path, outcome: Outcome) -> None:
        answers = len(list(folder.glob("acknowledged-*")))
        outcome.checked += answers
        with self.opened(folder) as store:
            found = store.event(event(1).id)
            comments = [comment.text for comment in found.comments]
            notes = [note.text for note in store.notes("fan-1")]
        done = (
            (found.acknowledged is not None and "seen" in comments, "the acknowledgement"),
            (found.label == "fault", "the label"),
            ("worse" in comments, "the comment"),
            ("oiled" in notes, "the note"),
        )
        outcome.lost += [what for there, what in done[:answers] if not there]
        texts = [*comments, *notes]
        outcome.doubled += [text for text in set(texts) if texts.count(text) > 1]

    def again(self, folder: Path) -> None:
        with self.opened(folder):
            pass
        for path in folder.glob("acknowledged-*"):
            path.unlink()
        for number in range(4):
            (folder / f"acknowledged-{number}").touch()

    def check_done(self, folder: Path, outcome: Outcome) -> None:
        """Nothing more is owed than before."""


class RollUp(StoreOperation):
    """Seconds become minutes and hours, and old seconds are removed."""

    _SECONDS = 7200

    def prepare(self, folder: Path) -> None:
        with self.opened(folder) as store:
            store.add_readings(readings("fan-1", BEGIN, [0.5] * self._SECONDS))

    def run(self, folder: Path) -> None:
        from ssdpt.monitor.config import RetentionSettings

        with self.opened(folder) as store:
            settings = RetentionSettings(seconds_days=1)
            store.retain(BEGIN + 2 * 86400, settings, lambda: 10**12)

    def check(self, folder: Path, outcome: Outcome) -> None:
        outcome.checked += self._SECONDS // 60
        with self.opened(folder) as store:
            trend = store.trend("fan-1", BEGIN, BEGIN + self._SECONDS, self._SECONDS // 60)
        found = dict(zip(trend.time.tolist(), trend.mean.tolist(), strict=True))
        for minute in range(self._SECONDS // 60):
            if found.get(BEGIN + 60 * minute) != 0.5:
                outcome.lost.append(f"minute {minute}")

    def check_done(self, folder: Path, outcome: Outcome) -> None:
        self.check(folder, outcome)
        with self.opened(folder) as store, store.database.read() as connection:
            from sqlalchemy import func, select

            from ssdpt.monitor.store.tables import hours, minutes

            for table, each in ((minutes, 60), (hours, 3600)):
                rows = connection.execute(select(func.count(), func.sum(table.c.readings))).one()
                wanted = (self._SECONDS // each, self._SECONDS)
                outcome.expect(tuple(rows) == wanted, f"{table.name}: {tuple(rows)}, not {wanted}")


class BackUp(StoreOperation):
    """A backup replaces the one of the day before."""

    def prepare(self, folder: Path) -> None:
        super().prepare(folder / "data")
        self.run(folder)
        with self.opened(folder / "data") as store:
            store.save_event(event(2))

    def run(self, folder: Path) -> None:
        with Store.open(f"sqlite:///{folder}/data/ssdpt.db", folder / "data") as store:
            back_up(store, folder / "backups" / "backup.tar")

    def check(self, folder: Path, outcome: Outcome) -> None:
        outcome.checked += 1
        self._restored(folder, outcome)

    def check_done(self, folder: Path, outcome: Outcome) -> None:
        events = self._restored(folder, outcome)
        outcome.expect(events == 3, f"{events} of 3 events are in the backup")

    def _restored(self, folder: Path, outcome: Outcome) -> int:
        """How many events come back from the backup."""
        with tempfile.TemporaryDirectory(prefix="faults-") as place:
            restore(folder / "backups" / "backup.tar", f"sqlite:///{place}/ssdpt.db", Path(place))
            with self.opened(Path(place)) as store:
                found = len(store.events())
                outcome.expect(found in (2, 3), f"{found} events are in the backup")
                audio = store.attachment(event(0).id, "audio")
                outcome.expect(audio and audio.read_bytes() == b"sound", "no recording in it")
        return found


class Restore(StoreOperation):
    """A backup is restored into an empty data folder."""

    def prepare(self, folder: Path) -> None:
        super().prepare(folder / "before")
        shutil.copytree(_GOLDEN / "gmm", folder / "before" / "models" / "fan-1")
        with self.opened(folder / "before") as store:
            back_up(store, folder / "backup.tar")
        shutil.rmtree(folder / "before")

    def run(self, folder: Path) -> None:
        data = folder / "data"
        data.mkdir(exist_ok=True)
        restore(folder / "backup.tar", f"sqlite:///{data}/ssdpt.db", data)

    def again(self, folder: Path) -> None:
        from ssdpt.errors import SsdptError

        try:
            self.run(folder)
        except SsdptError as error:
            if "has a store already" not in str(error):  # the kill came after the last step
                raise

    def check(self, folder: Path, outcome: Outcome) -> None:
        """Nothing can be said yet: it is there, or the command must be given again."""

    def check_done(self, folder: Path, outcome: Outcome) -> None:
        outcome.checked += 3
        read_model(folder / "data" / "models" / "fan-1")
        with self.opened(folder / "data") as store:
            found = [one.id for one in store.events()]
            outcome.lost += [f"event {one}" for one in (0, 1) if event(one).id not in found]
            outcome.doubled += [one for one in set(found) if found.count(one) > 1]
            if store.attachment(event(0).id, "audio") is None:
                outcome.lost.append("the recording")


class Migrate(StoreOperation):
    """A store of an earlier release is opened by this one."""

    may_repeat = f"backups/before-tables-{newest_revision()}-#.db"  # three are kept

    def prepare(self, folder: Path) -> None:
        (folder / "ssdpt.db").write_bytes(lzma.decompress(_STORE_0003.read_bytes()))

    def run(self, folder: Path) -> None:
        with self.opened(folder):
            pass

    def check(self, folder: Path, outcome: Outcome) -> None:
        """Whatever revision it has now, this release goes on."""

    def check_done(self, folder: Path, outcome: Outcome) -> None:
        with self.opened(folder) as store:
            rows = content(store)
            version = store.last_upgrade()
        with tempfile.TemporaryDirectory(prefix="faults-") as place:
            self.prepare(Path(place))
            with self.opened(Path(place)) as store:
                expected = content(store)
        for table, wanted in expected.items():
            outcome.checked += len(wanted)
            outcome.lost += [f"{table}: {row}" for row in wanted if row not in rows[table]]
            if len(rows[table]) > len(wanted):
                outcome.doubled.append(f"{table}: {len(rows[table])} rows, not {len(wanted)}")
        outcome.expect(version and version.from_tables == "0003", "the upgrade is not recorded")


OPERATIONS: dict[str, Operation] = {
    "write-file": WriteFile(),
    "new-file": NewFile(),
    "swap-folder": SwapFolder(),
    "rename-folder": RenameFolder(),
    "save-model": SaveModel(),
    "save-thresholds": SaveThresholds(),
    "write-shards": WriteShards(),
    "save-cell": SaveCell(),
    "attach": Attach(),
    "write-of-people": WriteOfPeople(),
    "roll-up": RollUp(),
    "back-up": BackUp(),
    "restore": Restore(),
    "migrate": Migrate(),
}
