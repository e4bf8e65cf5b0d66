"""C code is compiled once and cached; without a compiler there is no error."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from ssdpt.nn import compiled as module
from ssdpt.nn.compiled import compiled

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("SSDPT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    return tmp_path / "cache" / "native"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "number.c"
    path.write_text("int number(void) { return 7; }\n")
    return path


@pytest.fixture
def no_compiling(monkeypatch):
    def refuse(*_):
        raise AssertionError("compiled again")

    monkeypatch.setattr(module, "_compile", refuse)


def test_compiled_code_runs(source, cache):
    assert compiled(source).number() == 7
    assert len(list(cache.iterdir())) == 1


def test_the_second_time_the_cache_is_used(source, request):
    compiled(source)
    request.getfixturevalue("no_compiling")
    assert compiled(source).number() == 7


@pytest.mark.parametrize("changed", ["source", "included", "compiler", "processor"])
def test_the_key_depends_on_all_inputs(source, cache, changed, monkeypatch, tmp_path):
    included = tmp_path / "part.h"
    included.write_text("")
    compiled(source, [included])
    if changed == "source":
        source.write_text("int number(void) { return 8; }\n")
    elif changed == "included":
        included.write_text("/* changed */\n")
    elif changed == "compiler":
        monkeypatch.setenv("CC", "cc -DOTHER")
    else:
        monkeypatch.setattr(module, "_processor", lambda: b"another")
    assert compiled(source, [included]).number() == (8 if changed == "source" else 7)
    assert len(list(cache.iterdir())) == 2


@pytest.fixture
def process(source):
    """The command of a process that compiles the code, prints its result and exits."""
    script = (
        "import sys; from pathlib import Path; from ssdpt.nn.compiled import compiled; "
        "print(compiled(Path(sys.argv[1])).number())"
    )
    return [sys.executable, "-c", script, str(source)]


def test_a_damaged_file_is_compiled_again(source, cache, process):
    # In a separate process: this one would keep using the library it has already loaded.
    subprocess.run(process, check=True)
    (path,) = cache.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert compiled(source).number() == 7
    assert path.read_bytes() == whole


def test_two_processes_at_once(cache, process):
    both = [subprocess.Popen(process, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [one.communicate()[0] for one in both] == ["7\n", "7\n"]
    assert {path.suffix for path in cache.iterdir()} == {".so"}
    assert not [path for path in cache.iterdir() if path.name.startswith(".")]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_without_a_writable_cache(source, tmp_path, monkeypatch):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    monkeypatch.setenv("SSDPT_CACHE", str(closed))
    assert compiled(source).number() == 7


def test_a_file_in_place_of_the_cache(source, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SSDPT_CACHE", str(tmp_path / "file"))
    assert compiled(source).number() == 7


@pytest.mark.parametrize("command", ["no-such-compiler", "false", "cc --no-such-option"])
def test_without_a_compiler(source, monkeypatch, command):
    monkeypatch.setenv("CC", command)
    assert compiled(source) is None


def test_without_a_path(source, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert compiled(source) is None


def test_code_that_cannot_be_compiled(source, cache):
    source.write_text("int number(void) { return; \n")
    assert compiled(source) is None
    assert not cache.exists()
