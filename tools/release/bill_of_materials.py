"""What the package needs and bundles, as CycloneDX files."""

from __future__ import annotations

import json
import re
from pathlib import Path

from release.command import ReleaseError, run

# A heading of the file that the build of the page writes: name, version, licence and its text.
_LICENCE = re.compile(r"^## (\S+) - (\d\S*) \(.+\)\n\n(?=\S)", re.MULTILINE)


def python_packages(python: Path, environment: Path, pyproject: Path, out: Path) -> int:
    """The Python packages of an environment; how many there are."""
    run(
        *(python, "-m", "cyclonedx_py", "environment", environment),
        *("--pyproject", pyproject, "--output-reproducible", "--output-file", out),
        cwd=out.parent,
    )
    return _count(out)


def page_packages(web: Path, out: Path) -> int:
    """The JavaScript packages that are built into the page; how many there are."""
    text = run(
        *("npm", "sbom", "--sbom-format=cyclonedx", "--package-lock-only", "--omit=dev"),
        "--loglevel=error",
        cwd=web,
    )
    bill = json.loads(text[text.index("{") :])
    # A number and a time that are drawn anew each time: the same page has the same file.
    bill.pop("serialNumber", None)
    bill.get("metadata", {}).pop("timestamp", None)
    out.write_text(json.dumps(bill, indent=2, sort_keys=True) + "\n", "utf-8")
    return _count(out)


def check_licences(bill: Path, licences: Path) -> int:
    """The file that is shipped with the page has the licence of each package and version; how many.

    ReleaseError for one that is missing, and for one that is not in the page.
    """
    shipped = set(_LICENCE.findall(licences.read_text("utf-8")))
    components = json.loads(bill.read_text("utf-8"))["components"]
    # The name of a package in a scope is in two parts. Types are gone from the built page.
    names = {
        ("/".join(filter(None, (one.get("group"), one["name"]))), one["version"])
        for one in components
    }
    bundled = {package for package in names if not package[0].startswith("@types/")}
    for packages, problem in (
        (bundled - shipped, "has no licence of"),
        (shipped - bundled, "has licences of what is not in the page:"),
    ):
        if packages:
            listed = ", ".join(f"{name} {version}" for name, version in sorted(packages))
            raise ReleaseError(f"{licences.name} {problem} {listed}")
    return len(shipped)


def _count(bill: Path) -> int:
    return len(json.loads(bill.read_text("utf-8"))["components"])
