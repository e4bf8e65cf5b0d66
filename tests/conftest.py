"""What the tests share: a tiny simulated data set, tiny fitted models, and the command line."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import coverage
import hypothesis
import pytest

from on_demand import OnDemand, made_once

# Before torch is imported anywhere: several threads on busy cores wait for each other.
os.environ["OMP_NUM_THREADS"] = "1"
# Before librosa is: a fresh install compiles some of it, and the compiler need not optimise.
os.environ["NUMBA_OPT"] = "0"

EXPORTABLE = ("ssdpt", "ssdpt-noaux", "ae", "mnv2", "gmm", "texture", "multiview")


def pytest_addoption(parser):
    parser.addoption("--order-seed", type=int, help="run files, and tests in them, in random order")


def pytest_collection_modifyitems(config, items):
    """A file's tests stay together, as `make test` gives them to one process."""
    seed = config.getoption("--order-seed")
    if seed is not None:
        draw = random.Random(seed)
        files = {item.path: draw.random() for item in items}
        items.sort(key=lambda item: (files[item.path], draw.random()))


# Timings are no part of these tests: machines are shared, and busy with the other tests.
hypothesis.settings.register_profile(
    "ssdpt", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("ssdpt")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """No test reads or writes the user's own cache of features."""
    import torch

    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSDPT_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("SSDPT_CACHE_GB", raising=False)
        yield


@pytest.fixture(scope="session")
def simulated(tmp_path_factory):
    """Two machines of three sections each, in the DCASE 2021 layout."""
    from ssdpt.data.simulator import simulate

    return simulate(tmp_path_factory.mktemp("simulated"), "tiny", workers=1)


@pytest.fixture(scope="session")
def fan(simulated):
    return simulated / "fan"


@pytest.fixture(scope="session")
def detectors(fan):
    """A tiny fitted detector of every system, by name."""
    from ssdpt import Detector
    from ssdpt.config.tree import load_config
    from ssdpt.systems import system_names

    return {
        name: Detector.fit(fan, config=load_config("tiny", {"system": name}))
        for name in system_names()
    }


@pytest.fixture(scope="session")
def models(detectors, tmp_path_factory):
    """The same as model folders; tests that change one copy it first."""
    root = tmp_path_factory.mktemp("models")
    for name, detector in detectors.items():
        detector.save(root / name)
    return {name: root / name for name in detectors}


@contextmanager
def _unmeasured() -> Iterator[None]:
    """Without coverage: a tracer runs millions of lines of torch, which takes twice as long."""
    measured = coverage.Coverage.current()
    if measured is not None:
        measured.stop()
    try:
        yield
    finally:
        if measured is not None:
            measured.start()


@pytest.fixture(scope="session")
def traced_once(tmp_path_factory):
    """Each model is traced once in a test run, however often it is exported."""
    import onnx

    from ssdpt.runtime import export

    trace, own = export.onnx_model, tmp_path_factory.getbasetemp()
    root = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def traced(system, arithmetic):
        content = hashlib.sha256(system.config.model_dump_json().encode())
        for array in system.arrays().values():
            content.update(array.tobytes())

        def make(path):
            with _unmeasured():
                onnx.save(trace(system, arithmetic)[0], path)

        path = made_once(root / f"{content.hexdigest()}-{arithmetic}.onnx", make)
        return onnx.load(path), system.graph().eval()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(export, "onnx_model", traced)
        yield


@pytest.fixture(scope="session")
def exports(models, traced_once, tmp_path_factory):
    """The models exported to ONNX, by name; tests that change one copy it first."""
    from ssdpt.fleet.fleet import Fleet, export_fleet
    from ssdpt.runtime import export

    root, clips = tmp_path_factory.mktemp("exports"), export.CLIPS

    def exported(name):
        fleet = Fleet.load(models[name], device="cpu")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(export, "CLIPS", clips)  # whatever the test that asks has set
            export_fleet(fleet, root / name, lambda _: export.ExportSettings())
        return root / name

    return OnDemand(EXPORTABLE, exported)


@pytest.fixture
def model(models, tmp_path):
    """A model folder of one's own (the fast one to load)."""
    return Path(shutil.copytree(models["gmm"], tmp_path / "model"))


@pytest.fixture(scope="session")
def fleet_folder(simulated, tmp_path_factory):
    """Models of both machines and their index."""
    from ssdpt.config.tree import load_config
    from ssdpt.data.layouts import read_layout
    from ssdpt.fleet.fleet import fit_fleet

    out = tmp_path_factory.mktemp("fleet") / "models"
    fit_fleet(read_layout(simulated), load_config("tiny", {"system": "gmm"}), out)
    return out


@pytest.fixture(scope="session")
def nodes():
    """The head of a Ray cluster; tests that need more nodes add them, and end them."""
    from nodes import Nodes

    with Nodes() as started:
        yield started


@dataclass(frozen=True)
class Answer:
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one error on stderr; fails where there are more, or a traceback."""
        lines = [x for x in self.err.splitlines() if not x.startswith("more: ssdpt help ")]
        assert len(lines) == 1, self.err
        assert lines[0].startswith("error: "), self.err
        return lines[0].removeprefix("error: ")


@pytest.fixture
def cli(capsys):
    """Run the command line in this process."""
    from ssdpt.cli import app

    def run(*arguments) -> Answer:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            app([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        code = stopped.value.code
        return Answer(code if isinstance(code, int) else 0, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def command():
    """The installed command itself."""
    return str(Path(sys.executable).with_name("ssdpt"))


@pytest.fixture
def real_cli(command):
    """Run the installed command as a process of its own."""

    def run(*arguments, **options) -> Answer:
        done = subprocess.run(
            [command, *map(str, arguments)],
            capture_output=True,
            text=True,
            **{"timeout": 300, **options},
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return run
