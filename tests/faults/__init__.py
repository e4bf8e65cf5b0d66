"""The fault campaign: the program is killed, starved and lied to; nothing acknowledged may be lost.

    make faults                                   the whole campaign
    python -m faults --list                       its experiments
    python -m faults kill-service-sqlite --trials 10 --seed 7

Run from the folder `tests`. `docs/explanation/reliability.md` says which promise each experiment
tests.
"""

from __future__ import annotations

import sys
from pathlib import Path

# The code beside these tests is what is tested. Helpers come from other tests: `tests` is no
# package, each of its folders is a place to import from.
_TESTS = Path(__file__).parents[1]
PLACES = [
    str(folder)
    for folder in (_TESTS.parent / "src", _TESTS, _TESTS / "e2e", _TESTS / "monitor" / "store")
]
if PLACES[0] not in sys.path:
    sys.path.insert(0, PLACES[0])
sys.path += [place for place in PLACES[1:] if place not in sys.path]
