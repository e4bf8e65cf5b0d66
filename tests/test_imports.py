"""The public names of the package, and what importing it loads."""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys

import pytest

import ssdpt

_BLOCK = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {
            *("torch", "scipy", "sklearn", "matplotlib", "sounddevice"),
            *("onnx", "onnxscript", "onnxruntime", "openvino", "ray", "pyarrow"),
        }:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
sys.meta_path.insert(0, Missing())
"""


def base_modules():
    """Every module that the base install must be able to import."""
    import ssdpt.cli
    import ssdpt.data

    yield from ("ssdpt", "ssdpt.config.tree", "ssdpt.types", "ssdpt.errors", "ssdpt.common.files")
    yield from (
        "ssdpt.common.progress",
        "ssdpt.detection.storage",
        "ssdpt.detection.card",
        "ssdpt.systems",
    )
    yield from ("ssdpt.scoring.calibrate", "ssdpt.scoring.aggregate", "ssdpt.training.log")
    yield from (
        "ssdpt.scoring.gaussian",
        "ssdpt.detection.scorer",
        "ssdpt.detection.batch",
        "ssdpt.fleet.fleet",
    )
    yield from (f"ssdpt.runtime.{name}" for name in ("manifest", "session", "chunks", "card"))
    yield from ("ssdpt.runtime.exported", "ssdpt.common.cluster", "ssdpt.fleet.archive")
    yield from ("ssdpt.config.settings", "ssdpt.config.registry", "ssdpt.config.validation")
    for package in (ssdpt.cli, ssdpt.data):
        yield package.__name__
        for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
            if not module.ispkg:
                yield module.name


def python(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120
    )


def test_all_is_what_there_is():
    assert set(ssdpt.__all__) == {"__version__", "load", *ssdpt._LAZY}
    assert len(ssdpt.__all__) == len(set(ssdpt.__all__))
    for name in ssdpt.__all__:
        assert getattr(ssdpt, name) is not None
    with pytest.raises(AttributeError, match="Detektor"):
        _ = ssdpt.Detektor


def test_the_version_is_the_installed_one():
    from importlib.metadata import version

    assert ssdpt.__version__ == version("ssdpt")


def test_load_gives_a_detector(models):
    assert ssdpt.load(str(models["gmm"])).machine == "fan"


def test_every_module_imports():
    for module in pkgutil.walk_packages(ssdpt.__path__, "ssdpt."):
        importlib.import_module(module.name)


def test_importing_loads_nothing_heavy():
    """Modules are counted, not seconds: a busy computer counts the same."""
    process = python(
        "import sys, json; before = set(sys.modules); import ssdpt;"
        "package = set(sys.modules) - before; import ssdpt.cli;"
        "print(json.dumps([sorted(package), sorted(set(sys.modules) - before)]))"
    )
    package, command_line = map(set, json.loads(process.stdout))
    assert {name for name in package if name.startswith("ssdpt")} == {"ssdpt", "ssdpt.version"}
    assert len(package) < 60
    assert len(command_line) < 350
    heavy = {"torch", "scipy", "sklearn", "matplotlib", "soundfile", "soxr"}
    heavy |= {"numpy", "pydantic", "yaml", "rich.markdown"}
    assert heavy & command_line == set()


def test_the_base_install_imports_every_module_it_should():
    code = _BLOCK + "import importlib\nfor name in sys.argv[1:]: importlib.import_module(name)"
    done = python(code, *base_modules())
    assert done.returncode == 0, done.stderr


def test_without_torch_fit_says_what_to_install(tmp_path):
    code = _BLOCK + "from ssdpt.cli import main; main()"
    done = python(code, "fit", str(tmp_path), "--out", str(tmp_path / "m"))
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: this needs torch: pip install 'ssdpt[train]'",
        "more: ssdpt help install",
    ]
