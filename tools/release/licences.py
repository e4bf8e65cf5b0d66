"""The licences of the Python packages that an install brings, in one file."""

from __future__ import annotations

from importlib.metadata import Distribution, distributions
from pathlib import Path

from release.command import ReleaseError

_OWN = {"pip", "setuptools", "wheel", "ssdpt"}  # of every environment, and the package itself
_NAMES = ("licen", "copying", "notice", "authors")  # how files with licences begin
_LONGEST_NAME = 80  # characters; a longer field is the text of a licence


def write_python_licences(site_packages: Path, out: Path) -> int:
    """Name, version, licence and its text of every package; ReleaseError where one names none."""
    packages = [
        package
        for package in distributions(path=[str(site_packages)])
        if package.name.lower() not in _OWN
    ]
    packages.sort(key=lambda package: package.name.lower())
    names = {package.name: _licence(package) for package in packages}
    missing = [one.name for one in packages if not (names[one.name] or _texts(one))]
    if missing:
        raise ReleaseError(f"no licence is named by {', '.join(missing)}")
    lines = [
        "# Licences of Python packages",
        "",
        "None of these is part of ssdpt: pip fetches them, as the extras ask for.",
    ]
    for package in packages:
        lines += ["", f"## {package.name} {package.version} ({names[package.name] or 'see below'})"]
        for text in _texts(package):
            lines += ["", *(f"    {line}".rstrip() for line in text.splitlines())]
    out.write_text("\n".join([*lines, ""]), "utf-8")
    return len(packages)


def _licence(package: Distribution) -> str:
    """What the package says its licence is, in a few words."""
    metadata = package.metadata
    fields = [metadata.get("License-Expression", ""), metadata.get("License", "")]
    fields += [
        classifier.rsplit(" :: ", 1)[1]
        for classifier in metadata.get_all("Classifier", [])
        if classifier.startswith("License :: ") and not classifier.endswith("OSI Approved")
    ]
    short = (" ".join(field.split()) for field in fields)
    return next((field for field in short if field and len(field) <= _LONGEST_NAME), "")


def _texts(package: Distribution) -> list[str]:
    """The files with licences beside the package's metadata."""
    files = sorted(package.files or [], key=str)
    found = [
        file
        for file in files
        if ".dist-info" in file.parts[0] and file.name.lower().startswith(_NAMES)
    ]
    paths = [Path(str(file.locate())) for file in found]
    return [path.read_text("utf-8", "replace") for path in paths if path.is_file()]
