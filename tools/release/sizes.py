"""Time and bytes of each extra: `make sizes` (a fresh environment for each; minutes).

Prints a table and, if all were measured, writes it into docs/reference/sizes.md. `make release` and
continuous integration hold the limits of base and edge.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from release.build import build_wheel
from release.command import ReleaseError
from release.extras import extras
from release.installs import Install

MEGABYTE = 1e6
# What an install may take, in MB, whatever is added.
LARGEST = {"": 118, "edge": 190}
SLOWEST_IMPORT = 0.03  # s, `import ssdpt`
SLOWEST_HELP = 0.25  # s, `ssdpt --help`
_TRIES = 15
_PAGE = "docs/reference/sizes.md"
_BEGIN, _END = "<!-- written by make sizes -->", "<!-- end of what is written by make sizes -->"
# Seconds of CPU time, which hardly depend on what else the computer does.
_CPU_TIME = """
import resource, subprocess, sys
def seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
times = []
for _ in range({tries}):
    before = seconds()
    subprocess.run({command!r}, check=True, stdout=subprocess.DEVNULL)
    times.append(seconds() - before)
print(min(times))
"""


@dataclass(frozen=True, slots=True)
class Size:
    """What an install of the package with some extras takes."""

    extras: str  # separated by commas; empty = the base install
    packages: int  # the package itself is one
    megabytes: float  # 1 MB = 1,000,000 bytes, with bytecode
    bytecode: float  # MB of them, which pip compiles
    seconds: float  # to install, with all files in pip's cache or beside it


def measure(install: Install, extras: str) -> Size:
    """The size of an install."""
    listed = install.run("python", "-m", "pip", "list", "--format=freeze").splitlines()
    own = {"pip", "setuptools", "wheel"}  # of every environment
    packages = sum(line.split("==")[0] not in own for line in listed)
    bytecode = install.added_bytecode / MEGABYTE
    return Size(extras, packages, install.added_bytes / MEGABYTE, bytecode, install.seconds)


def check_size(size: Size) -> None:
    """ReleaseError if the install is larger than it may be."""
    most = LARGEST.get(size.extras)
    if most is not None and size.megabytes > most:
        raise ReleaseError(
            f"the {size.extras or 'base'} install takes {size.megabytes:.1f} MB, "
            f"{most} are the most: remove what is not needed"
        )


@dataclass(frozen=True, slots=True)
class Speed:
    """Seconds of CPU time of `import ssdpt` and of `ssdpt --help`."""

    imported: float
    helped: float


def measure_speed(install: Install) -> Speed:
    """The best of some tries: a busy computer makes all of them slower."""
    python = str(install.program("python"))
    bare = _cpu_time(install, [python, "-c", "pass"])
    imported = _cpu_time(install, [python, "-c", "import ssdpt"]) - bare
    helped = _cpu_time(install, [str(install.program("ssdpt")), "--help"])
    return Speed(imported, helped)


def check_speed(speed: Speed) -> None:
    """ReleaseError if one of them is too slow."""
    if speed.imported > SLOWEST_IMPORT or speed.helped > SLOWEST_HELP:
        raise ReleaseError(
            f"import ssdpt takes {speed.imported:.3f} s, ssdpt --help {speed.helped:.3f} s; "
            f"{SLOWEST_IMPORT} and {SLOWEST_HELP} are the most: import heavy packages where they "
            "are used"
        )


def _cpu_time(install: Install, command: list[str]) -> float:
    script = _CPU_TIME.format(tries=_TRIES, command=command)
    return float(install.run("python", "-c", script))


def table(sizes: list[Size]) -> str:
    """The sizes as a Markdown table."""
    lines = [
        "| install | packages | MB | of it bytecode | seconds |",
        "| --- | --- | --- | --- | --- |",
    ]
    for size in sizes:
        name = f"`ssdpt[{size.extras}]`" if size.extras else "`ssdpt`"
        numbers = (size.packages, size.megabytes, size.bytecode, size.seconds)
        lines.append(f"| {name} | {' | '.join(f'{number:,.0f}' for number in numbers)} |")
    return "\n".join(lines)


def speed_line(speed: Speed) -> str:
    """What was measured, and what it may be."""
    return (
        f"`import ssdpt` takes {speed.imported * 1000:.0f} ms of CPU time "
        f"(at most {SLOWEST_IMPORT * 1000:.0f}), `ssdpt --help` {speed.helped:.2f} s "
        f"(at most {SLOWEST_HELP})."
    )


def write_page(page: Path, content: str) -> None:
    """Put what was measured between the two marks of the page."""
    text = page.read_text("utf-8")
    before, _, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not end:
        raise ReleaseError(f"{page} lacks the lines {_BEGIN} and {_END}: put them back")
    page.write_text(f"{before}{_BEGIN}\n\n{content}\n\n{_END}{after}", "utf-8")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="make sizes", description=__doc__)
    parser.add_argument("--python", default=sys.executable)
    root = Path(__file__).parents[2]
    everything = ["", *extras(root)]
    parser.add_argument("--extras", nargs="*", default=everything, help="default: all")
    options = parser.parse_args()
    sizes = []
    try:
        with tempfile.TemporaryDirectory(prefix="ssdpt-sizes-") as folder:
            wheel = build_wheel(root, Path(sys.executable), Path(folder))
            for extra in options.extras:
                place = Path(folder) / (extra or "base")
                install = Install(options.python, place, wheel, extra, root / "constraints.txt")
                sizes.append(measure(install, extra))
                if not extra:
                    speed = measure_speed(install)
                install.remove()
                print(f"{extra or 'base'}: {sizes[-1].megabytes:.1f} MB", file=sys.stderr)
        content = table(sizes)
        if "" in options.extras:
            content += f"\n\n{speed_line(speed)}"
        print(content)
        if options.extras == everything:
            write_page(root / _PAGE, content)
        if "" in options.extras:
            check_speed(speed)
        for size in sizes:
            check_size(size)
    except ReleaseError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
