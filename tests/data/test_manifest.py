"""The CSV manifest: only the path is needed, and errors name the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ssdpt.data.layouts import read_layout
from ssdpt.errors import SsdptError
from ssdpt.types import Recording


def manifest(folder: Path, text: str, *files: str) -> Path:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"sound")
    path = folder / "list.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_all_columns(tmp_path: Path) -> None:
    path = manifest(
        tmp_path,
        "path,machine,section,domain,split,label,attributes,fault,operator\n"
        "a/x.wav,pump,01,target,train,normal,speed=2; load=high,,Ann\n"
        "\n"
        "a/y.wav,pump,,,Test,Abnormal,,cavitation,Bob\n",
        "a/x.wav",
        "a/y.wav",
    )
    dataset = read_layout(path)
    assert dataset.layout == "manifest"
    assert dataset.notes == ("columns passed over: operator",)
    assert dataset.recordings == (
        Recording(
            tmp_path / "a/y.wav",
            "pump",
            split="test",
            label="anomaly",
            fault="cavitation",
        ),
        Recording(
            tmp_path / "a/x.wav",
            "pump",
            "01",
            "target",
            "train",
            "normal",
            (("speed", "2"), ("load", "high")),
        ),
    )


@pytest.mark.parametrize(
    "text", ["path\nx.wav\n", "\ufeffPath\r\nx.wav\r\n", "path;fault\nx.wav;\n"]
)
def test_only_the_path_is_needed(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "mill"
    folder.mkdir()
    dataset = read_layout(manifest(folder, text, "x.wav"))
    assert dataset.recordings == (Recording(folder / "x.wav", "mill"),)


def test_absolute_path(tmp_path: Path) -> None:
    sound = tmp_path / "else" / "x.wav"
    sound.parent.mkdir()
    sound.write_bytes(b"sound")
    (tmp_path / "lists").mkdir()
    dataset = read_layout(manifest(tmp_path / "lists", f"path\n{sound}\n"))
    assert dataset.recordings[0].path == sound


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("machine\npump\n", "no column named path"),
        ("", "no column named path"),
        ("path\n", "no recordings"),
        ("path,path\nx.wav,x.wav\n", "column path is there twice"),
        ("path,label\nx.wav,normal\n,normal\n", "line 3: no path"),
        ("path\nx.wav\nz.wav\n", "line 3: no such file: .*z.wav"),
        ("path\nx.wav\nx.wav\n", "line 3: the same file as in line 2"),
        ("path,label\nx.wav,fine\n", "line 2: label is 'fine'; write one of normal, anomaly"),
        ("path,domain\nx.wav,moon\n", "line 2: domain is 'moon'; write one of source, target"),
        ("path,split\nx.wav,dev\n", "line 2: split is 'dev'; write one of train, test, suppl"),
        ("path,machine\nx.wav,../up\n", "line 2: machine is '../up'; write a name without"),
        ("path,section\nx.wav,a/b\n", "line 2: section is 'a/b'"),
        ("path,attributes\nx.wav,fast\n", "line 2: attribute 'fast'; write name=value"),
        ("path,label,fault\nx.wav,normal,crack\n", "line 2: labelled normal, yet with the fault"),
        ("path,label\nx.wav,normal,speed\n", "line 2: 3 fields, but the header has 2"),
        ('path,label\n"x.wav,normal\n', "line 2: not valid CSV"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, text: str, message: str) -> None:
    path = manifest(tmp_path, text, "x.wav")
    with pytest.raises(SsdptError, match=message) as caught:
        read_layout(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_not_text(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_bytes(b"path\n\xff\xfe\n")
    with pytest.raises(SsdptError, match="cannot be read as UTF-8 text"):
        read_layout(path)
