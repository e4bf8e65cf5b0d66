"""How many mutants the tests have killed, as a table:

    make mutation                                   # runs mutmut first
    .venv/bin/python tests/mutation/mutation_table.py [--survivors]

mutmut changes one thing in a function (`<` into `<=`, 3 into 4, an argument into None) and runs
the tests that reach it. A mutant that no test notices has survived: a fault there would go unseen.
Where no test reaches a function, its mutants have survived too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path("mutants")
SURVIVED, UNTESTED = 0, 33  # exit codes, as mutmut keeps them
WANTED = 85.0  # % of the mutants of each module


@dataclass(frozen=True)
class Result:
    """Of one module."""

    module: str
    killed: int
    survivors: tuple[str, ...]  # names of mutants
    not_run: int

    @property
    def mutants(self) -> int:
        return self.killed + len(self.survivors) + self.not_run

    @property
    def percent(self) -> float:
        """Killed, of those that were run; NaN where none was."""
        run = self.mutants - self.not_run
        return 100 * self.killed / run if run else float("nan")


def result_of(module: str, exit_codes: Mapping[str, int | None]) -> Result:
    """What mutmut has kept of one module: an exit code for each mutant, None if it was not run."""
    survivors = tuple(name for name, code in exit_codes.items() if code in (SURVIVED, UNTESTED))
    not_run = sum(code is None for code in exit_codes.values())
    killed = len(exit_codes) - len(survivors) - not_run
    return Result(module, killed, survivors, not_run)


def results(folder: Path) -> list[Result]:
    """Of all modules that have mutants, by name."""
    found = []
    for path in sorted(folder.rglob("*.py.meta")):
        module = path.relative_to(folder).as_posix().removesuffix(".meta").removeprefix("src/")
        codes = json.loads(path.read_text("utf-8"))["exit_code_by_key"]
        if codes:
            found.append(result_of(module, codes))
    return found


def table(rows: Iterable[Result]) -> str:
    """A row for each module."""
    lines = [f"{'module':<40} mutants  killed  survived  not run  killed %"]
    lines += [
        f"{row.module:<40} {row.mutants:>7}  {row.killed:>6}  {len(row.survivors):>8}  "
        f"{row.not_run:>7}  {row.percent:>8.1f}"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> int:
    rows = results(FOLDER)
    print(table(rows))
    if "--survivors" in sys.argv:
        for row in rows:
            print(*row.survivors, sep="\n")
    return 0 if rows and all(row.percent >= WANTED for row in rows if row.mutants) else 1


if __name__ == "__main__":
    sys.exit(main())
