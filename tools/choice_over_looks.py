"""What leaving one machine type out would choose among all variants that were ever looked at.

python tools/choice_over_looks.py [--recipe] [--tolerance 0] [--not NAME] [LOOKS.csv]

Prints, for the sets fitted together and each alone, the variant of the highest mean on the other
machine types and its score on the type left out. Systems to compare with and lines without a figure
for every set are not among the candidates. With `--recipe` only the shipped recipe and what
`ssdpt ablate` removes from it or changes in it, and the simplest of those that are about as good:
within `--tolerance` of the best. 0: the best, however complex it is. `--not`: a short name that is
no candidate, such as a variant that the simulated plant rules out.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Collection
from pathlib import Path

from ssdpt.experiments.ablation.choice import TOLERANCE, Choice, LeaveOneTypeOut
from ssdpt.experiments.ablation.variants import CHANGES, AblationVariant

LOOKS = Path(__file__).parents[1] / "docs/explanation/looks-variants.csv"
FITTED = ("together", "alone")
_COMPARED = "gaussian"  # short name of another system, which is no variant of the recipe
_RECIPE = "shipped recipe: "  # how the variants of `ssdpt ablate` with it begin
_ABLATED = "ssdpt ablate"
_NO_SETS = ("date", "measured by", "variant", "short name", "fitted", "mean")


def choice_over_looks(
    path: Path,
    fitted: str,
    *,
    recipe: bool = False,
    tolerance: float = TOLERANCE,
    ruled_out: Collection[str] = (),
) -> LeaveOneTypeOut:
    """The choice among the lines of a file of looks, `fitted` together or alone."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = [
            line
            for line in csv.DictReader(file)
            if line["fitted"] == fitted and line["short name"] not in ruled_out
        ]
    if recipe:
        lines = [
            line
            for line in lines
            if line["measured by"] == _ABLATED and line["variant"].startswith(_RECIPE)
        ]
    simpler = {change.name: change.complexity for change in CHANGES} if recipe else {}
    columns = [name for name in lines[0] if name not in _NO_SETS]
    # `gearbox 22` as the ablation names it: the data set, then the machine type.
    sets = {name: "/".join(reversed(name.split())) for name in columns}
    variants, figures = [], {}
    for number, line in enumerate(lines):
        name = f"{line['variant']} ({number})"  # the same variant may have been measured again
        compared = line["short name"] == _COMPARED
        complexity = simpler.get(line["short name"], 0)
        variants.append(
            AblationVariant(name, line["variant"], complexity=complexity, compared=compared)
        )
        figures[name] = {sets[column]: float(line[column]) for column in columns if line[column]}
    return LeaveOneTypeOut(variants, tuple(sets.values()), figures, tolerance)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("looks", type=Path, nargs="?", default=LOOKS)
    parser.add_argument("--recipe", action="store_true")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE)
    parser.add_argument("--not", dest="ruled_out", action="append", default=[])
    given = parser.parse_args()
    for fitted in FITTED:
        chosen = choice_over_looks(
            given.looks,
            fitted,
            recipe=given.recipe,
            tolerance=given.tolerance,
            ruled_out=given.ruled_out,
        )
        print(
            f"fitted {fitted}, {len(chosen.candidates)} lines: chosen without the type "
            f"{chosen.chosen_without:.3f}, chosen with all types {chosen.chosen_with:.3f} "
            f"({chosen.with_all.label})"
        )
        for choice in chosen.choices:
            print(f"  without {choice.left_out}: {choice.variant.label}: {_scores(chosen, choice)}")


def _scores(chosen: LeaveOneTypeOut, choice: Choice) -> str:
    figures = chosen.figures[choice.variant.name]
    return ", ".join(f"{name} {figures[name]:.3f}" for name in choice.sets)


if __name__ == "__main__":
    main()
