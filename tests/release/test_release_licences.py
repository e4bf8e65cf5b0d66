"""The licences of installed packages, from their metadata."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from release.bill_of_materials import check_licences
from release.command import ReleaseError
from release.licences import write_python_licences


def package(site: Path, name: str, fields: str, text: str = "") -> None:
    folder = site / f"{name}-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{fields}")
    files = ["METADATA"]
    if text:
        (folder / "LICENSE.txt").write_text(text)
        files.append("LICENSE.txt")
    (folder / "RECORD").write_text("".join(f"{folder.name}/{file},,\n" for file in files))


def test_every_package_has_its_licence_and_its_text(tmp_path: Path) -> None:
    package(tmp_path, "alpha", "License-Expression: MIT\n", "Permission is granted\n")
    package(tmp_path, "beta", "Classifier: License :: OSI Approved :: BSD License\n")
    package(tmp_path, "gamma", f"License: {'x' * 100}\n", "All of it\n")
    package(tmp_path, "pip", "")
    out = tmp_path / "licences.md"
    assert write_python_licences(tmp_path, out) == 3
    text = out.read_text()
    assert "## alpha 1.0 (MIT)\n\n    Permission is granted\n" in text
    assert "## beta 1.0 (BSD License)\n" in text
    assert "## gamma 1.0 (see below)\n\n    All of it\n" in text


def test_a_package_without_a_licence_ends_the_release(tmp_path: Path) -> None:
    package(tmp_path, "alpha", "")
    with pytest.raises(ReleaseError, match="no licence is named by alpha"):
        write_python_licences(tmp_path, tmp_path / "licences.md")


@pytest.fixture
def bill(tmp_path: Path) -> Path:
    """The packages of a page, and of types that are gone from it."""
    packages = [
        {"name": "react", "version": "19.0.1"},
        {"name": "react-dom", "version": "19.0.1"},
        {"group": "@scope", "name": "part", "version": "2.0"},
        {"group": "@types", "name": "react", "version": "19.1"},
    ]
    (tmp_path / "bill.json").write_text(json.dumps({"components": packages}))
    return tmp_path / "bill.json"


_SHIPPED = {"react": "19.0.1", "react-dom": "19.0.1", "@scope/part": "2.0"}


def _licences(folder: Path, packages: dict[str, str]) -> Path:
    parts = [f"## {name} - {version} (MIT)\n\nText\n" for name, version in packages.items()]
    (folder / "licenses.md").write_text("# Licenses\n\n## Contribution\n\n" + "\n".join(parts))
    return folder / "licenses.md"


def test_the_page_ships_the_licence_of_each_package(bill: Path, tmp_path: Path) -> None:
    assert check_licences(bill, _licences(tmp_path, _SHIPPED)) == 3


@pytest.mark.parametrize(
    ("packages", "sentence"),
    [
        # Its name is within that of another package.
        ({"react-dom": "19.0.1", "@scope/part": "2.0"}, "has no licence of react 19.0.1"),
        ({**_SHIPPED, "react": "18.0.0"}, "has no licence of react 19.0.1"),
        ({**_SHIPPED, "old": "1.0"}, "has licences of what is not in the page: old 1.0"),
    ],
)
def test_other_packages_than_those_of_the_page_end_the_release(
    bill: Path, tmp_path: Path, packages: dict[str, str], sentence: str
) -> None:
    with pytest.raises(ReleaseError, match=sentence):
        check_licences(bill, _licences(tmp_path, packages))


def test_a_licence_without_its_text_is_none(bill: Path, tmp_path: Path) -> None:
    licences = _licences(tmp_path, _SHIPPED)
    licences.write_text(licences.read_text().replace("2.0 (MIT)\n\nText\n", "2.0 (MIT)\n"))
    with pytest.raises(ReleaseError, match="has no licence of @scope/part"):
        check_licences(bill, licences)
