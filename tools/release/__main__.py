"""`make release`: from what is committed to the files of a release in dist/.

Each step prints what it found; the first that fails ends it with one sentence.
"""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from release.bill_of_materials import check_licences, page_packages, python_packages
from release.build import build_twice, sha256, tracked_files
from release.changelog import released_text
from release.command import ReleaseError, run
from release.contents import check_sdist, check_wheel
from release.extras import extras
from release.installs import Install, check_base, check_edge, make_export, run_tests
from release.licences import write_python_licences
from release.sizes import check_size, check_speed, measure, measure_speed, speed_line

ROOT = Path(__file__).parents[2]
OUT = ROOT / "dist"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument("--build-only", action="store_true", help="build and check; no installs")
    parser.add_argument("--python", default="python3.11", help="runs every test")
    parser.add_argument("--other-python", nargs="*", default=["python3.12", "python3.13"])
    parser.add_argument("--tests", default="", help="arguments of pytest; make gives test-all's")
    options = parser.parse_args()
    try:
        release(options)
    except ReleaseError as error:
        sys.exit(f"error: {error}")


def release(options: argparse.Namespace) -> None:
    """All steps."""
    if run("git", "status", "--porcelain", cwd=ROOT).strip():
        raise ReleaseError("there are changes that are not committed: commit them first")
    version = _version()
    lines = len(released_text(ROOT / "CHANGELOG.md", version).splitlines())
    print(f"changelog: {version}, {lines} lines", flush=True)
    shutil.rmtree(OUT, ignore_errors=True)
    wheel, sdist = sorted(
        build_twice(ROOT, Path(sys.executable), OUT), key=lambda path: path.suffix != ".whl"
    )
    print(f"built twice, the same bytes: {wheel.name}, {sdist.name}", flush=True)
    tracked = tracked_files(ROOT)
    print(f"{sdist.name}: {check_sdist(sdist, tracked)} files, all committed", flush=True)
    print(f"{wheel.name}: {check_wheel(wheel, tracked)} files, all of the package", flush=True)
    page = OUT / "sbom-page.cdx.json"
    print(f"{page.name}: {page_packages(ROOT / 'web', page)} packages", flush=True)
    count = check_licences(page, ROOT / "src" / "ssdpt" / "server" / "static" / "licenses.md")
    print(f"licenses.md of the page: {count} packages, all of them and no other", flush=True)
    if not options.build_only:
        _try_installs(options, wheel, sdist)
    sums = [f"{sha256(path)}  {path.name}" for path in sorted(OUT.iterdir())]
    (OUT / "SHA256SUMS").write_text("\n".join([*sums, ""]), "utf-8")
    print("\n".join(sums), flush=True)


def _try_installs(options: argparse.Namespace, wheel: Path, sdist: Path) -> None:
    pins = ROOT / "constraints.txt"
    with tempfile.TemporaryDirectory(prefix="ssdpt-release-") as folder:
        everything = ",".join(extras(ROOT))
        whole = Install(options.python, Path(folder) / "all", wheel, everything, pins)
        bill = OUT / "sbom-python.cdx.json"
        count = python_packages(
            Path(sys.executable), whole.folder / "venv", ROOT / "pyproject.toml", bill
        )
        print(f"{bill.name}: {count} packages", flush=True)
        licences = OUT / "licences-python.md"
        count = write_python_licences(whole.site_packages, licences)
        print(f"{licences.name}: {count} packages", flush=True)
        export, clip = make_export(whole)
        for python in [options.python, *options.other_python]:
            for extra in ("", "edge"):
                name = f"python{_python_version(python)}-{extra or 'base'}"
                install = Install(python, Path(folder) / name, wheel, extra, pins)
                size = measure(install, extra)
                check_size(size)
                if extra:
                    check_edge(install, export, clip)
                else:
                    check_base(install)
                    speed = measure_speed(install)
                    print(speed_line(speed), flush=True)
                    check_speed(speed)
                print(f"{name}: works, {size.megabytes:.1f} MB", flush=True)
        tests = Install(options.python, Path(folder) / "tests", wheel, "dev", pins)
        said = run_tests(tests, sdist, shlex.split(options.tests))
        print(f"tests of the wheel: {said}", flush=True)


def _python_version(python: str) -> str:
    return run(python, "-c", "import sys; print(*sys.version_info[:2], sep='.')", cwd=ROOT).strip()


def _version() -> str:
    text = (ROOT / "src" / "ssdpt" / "version.py").read_text("utf-8")
    match = re.search(r'__version__ = "([^"]+)"', text)
    if match is None:
        raise ReleaseError("src/ssdpt/version.py has no __version__")
    return match[1]


if __name__ == "__main__":
    main()
