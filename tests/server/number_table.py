"""Numbers as the service writes them in every language, for the page's tests to compare with.

`python tests/server/number_table.py > web/tests/numbers.json` writes them.
"""

from __future__ import annotations

import json
import math
import random

from ssdpt.monitor.language import LANGUAGES, Language

SEED = 3
# Halves that floats hold exactly and that they do not; sizes at which the rule changes; zeros.
EDGES = (
    *(0.0, 0.004, -0.004, 0.005, -0.005, 0.5, -0.5, 1.005, 1.5, 2.5, -2.5, 2.675, 3.5, 4.45),
    *(0.9995, 0.99949, 9.994, 9.995, 9.996, 99.94, 99.95, 99.949, 99.5, 100.0, 130.04, 891.0),
    *(999.4, 999.5, 999.7, 1000.0, 1005.0, 1234.5, 2245.0, 9999.4, 9999.5, 10_000.0, 25_600.0),
    *(123_456.7, 1e-7, 1.5e-5, -31.5, -0.49, 0.1 + 0.2, 7.5 - 7.4),
)
SHARES = (0.0, 0.001, 0.00499, 0.005, 0.125, 0.285, 0.6, 0.995, 0.9951, 1.0)
BANDS = (
    *((30.0, 150.0), (150.0, 800.0), (850.0, 990.0), (800.0, 1500.0), (891.25, 1122.02)),
    *((994.0, 1006.0), (996.0, 1004.0), (2240.0, 2980.0), (4050.0, 4120.0), (0.0, 50.0)),
    *((9950.0, 12_800.0), (12_345.0, 12_349.0)),
)


def rows():
    """(what, its values, its text in each language): [`score`, [1.005], [`1.01`, `1,01`, …]]."""
    random_ = random.Random(SEED)
    drawn = [round(10 ** random_.uniform(-3, 5), random_.randint(0, 4)) for _ in range(60)]
    drawn += [-value for value in drawn[:20]]
    words = [Language(code) for code in LANGUAGES]
    for value in (*EDGES, *drawn):
        yield "score", [value], [each.numbers.score(value) for each in words]
        yield "whole", [value], [each.numbers.fixed(value) for each in words]
        yield "tenths", [value], [each.numbers.fixed(value, 1) for each in words]
        yield "figures", [value], [each.numbers.figures(value) for each in words]
        if value >= 0:
            yield "hertz", [value], [each.numbers.hertz(value) for each in words]
    for share in SHARES:
        yield "percent", [share], [each.percent(share) for each in words]
    ends = [(value, value * random_.uniform(1.001, 3)) for value in map(abs, drawn)]
    for low, high in (*BANDS, *ends):
        yield "band", [low, high], [list(each.numbers.band(low, high)) for each in words]


def table():
    """All of it as JSON, a row in a line."""
    assert all(math.isfinite(value) for _, values, _ in rows() for value in values)
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows())
    return f'{{"languages": {json.dumps(LANGUAGES)}, "rows": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    print(table(), end="")
