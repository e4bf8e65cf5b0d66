"""Plugins are found by name: built-in ones by file, those of other packages by entry point."""

from __future__ import annotations

import subprocess
import sys

import pytest

from packages import install
from ssdpt.common.plugins import PluginRegistry
from ssdpt.errors import SsdptError


@pytest.fixture
def install_foreign(tmp_path, monkeypatch):
    """Installs a package `foreign` with entry points."""
    return lambda points, code: install(
        tmp_path, monkeypatch, "foreign", {"test.things": points}, code
    )


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """Of a package with two built-in things."""
    package = tmp_path / "own_things"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported too early')")
    (package / "red_thing.py").write_text("class RedThing: pass")
    (package / "light_blue_thing.py").write_text("raise OSError('no blue today')")
    (package / "base.py").write_text("class Base: pass")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("own_things", "own_things.red_thing"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return PluginRegistry("thing", package="own_things", suffix="_thing", group="test.things")


def test_names_are_known_without_an_import(registry, install_foreign):
    install_foreign({"green": "foreign:Green"}, "raise RuntimeError('imported too early')")
    assert registry.names() == ["green", "light-blue", "red"]


def test_a_plugin_is_loaded_by_its_name(registry, install_foreign, tmp_path):
    (tmp_path / "own_things" / "__init__.py").write_text("")
    install_foreign({"green": "foreign:Shades.Green"}, "class Shades:\n    class Green: pass")
    assert registry.load("red").__name__ == "RedThing"
    assert registry.load("green").__name__ == "Green"


def test_a_package_that_is_installed_later_is_found_after_a_refresh(registry, install_foreign):
    assert "green" not in registry.names()
    install_foreign({"green": "foreign:Green"}, "class Green: pass")
    registry.refresh()
    assert registry.load("green").__name__ == "Green"


def test_what_is_wrong_with_a_plugin_is_a_sentence(registry, install_foreign, tmp_path):
    (tmp_path / "own_things" / "__init__.py").write_text("")
    install_foreign({"red": "foreign:Red", "green": "foreign:Missing"}, "class Red: pass")
    with pytest.raises(SsdptError, match=r"^'pink' is not valid; choose green, light-blue, red$"):
        registry.load("pink")
    with pytest.raises(SsdptError, match="more than one thing is called 'red', in foreign and ss"):
        registry.load("red")
    with pytest.raises(SsdptError, match=r"'light-blue' of package ssdpt .*OSError: no blue today"):
        registry.load("light-blue")
    with pytest.raises(SsdptError, match=r"'green' of package foreign cannot be imported .*Missi"):
        registry.load("green")


def test_the_configuration_imports_only_what_it_uses():
    code = (
        "import sys\n"
        "from ssdpt.monitor.config import MachineSettings, OutputSettings\n"
        "assert not [name for name in sys.modules if name.startswith(('ssdpt.monitor.sources', "
        "'ssdpt.monitor.outputs'))]\n"
        "MachineSettings.model_validate({'id': 'a', 'source': {'kind': 'network', 'url': 'x'}})\n"
        "for kind in OutputSettings.registry.names(): OutputSettings.class_for(kind)\n"
        "for name in ('av', 'sounddevice', 'aiomqtt', 'prometheus_client', 'torch', 'scipy', "
        "'ssdpt.monitor.sources.folder_source'):\n"
        "    assert name not in sys.modules, name\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
