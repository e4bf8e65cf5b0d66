"""The command line of the fault campaign."""

from __future__ import annotations

import argparse
import os
import random
import sys

from faults import PLACES
from faults.campaign import Campaign
from faults.experiments import EXPERIMENTS


def main() -> int:
    """Run the chosen experiments; 1 where a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m faults", description=__doc__)
    parser.add_argument("names", nargs="*", help="experiments, or the beginning of their names")
    parser.add_argument("--list", action="store_true", help="only print the experiments")
    parser.add_argument("--seed", type=int, help="of all random moments; default: a new one")
    parser.add_argument("--trials", type=int, help="of each experiment; default: its own number")
    parser.add_argument("--only", type=int, metavar="N", help="only trial N of each experiment")
    options = parser.parse_args()
    chosen = [
        experiment
        for experiment in EXPERIMENTS
        if not options.names or experiment.name.startswith(tuple(options.names))
    ]
    if not chosen:
        parser.error(f"no experiment is called {' or '.join(options.names)}; see --list")
    if options.list:
        for experiment in chosen:
            print(experiment.name)
        return 0
    os.environ["PYTHONPATH"] = os.pathsep.join(PLACES)  # of all commands that are started
    seed = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    survived = Campaign(seed, trials=options.trials).run(chosen, options.only)
    return 0 if survived else 1


if __name__ == "__main__":
    sys.exit(main())
