"""Which recordings train, which are held out, which test: by recording, by seed, by name alone.

Nothing here depends on where the files lie or in which order a folder lists them: every draw is
made over recordings sorted by machine, section, domain and file name.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np

from ssdpt.errors import SsdptError
from ssdpt.types import Recording

_LEAST_RECORDINGS = 5  # fewer than this are divided by time instead of by recording


def identity(recording: Recording) -> tuple[str, ...]:
    """What orders a recording among others, whatever folder the data set was copied to."""
    return (
        recording.machine,
        recording.section,
        recording.domain,
        recording.split,
        recording.label,
        recording.fault,
        recording.attribute_text,
        # From the file name upwards: two recordings differ before the common root is reached.
        *reversed(recording.path.parts),
    )


def training_split(
    recordings: Sequence[Recording], seed: int, test_share: float = 0.2
) -> tuple[list[Recording], list[Recording]]:
    """Divide into (train, test).

    A machine whose layout names training recordings keeps its division. Any other gets a seeded
    one by recording: `test_share` of the normal (or unlabelled) recordings of each section, and
    every anomaly, go to test; each section keeps at least one for training. Supplemental clips
    are in neither.
    """
    if not 0 <= test_share < 1:
        raise SsdptError(f"the test share must be at least 0 and below 1, not {test_share}")
    train: list[Recording] = []
    test: list[Recording] = []
    for machine in _groups(recordings, lambda recording: recording.machine):
        if any(recording.split == "train" for recording in machine):
            train += [recording for recording in machine if recording.split == "train"]
            test += [recording for recording in machine if recording.split in ("test", "")]
            continue
        free = [r for r in machine if r.split == "" and r.label != "anomaly"]
        test += [r for r in machine if r.split == "test" or (not r.split and r.label == "anomaly")]
        for section in _groups(free, lambda recording: recording.section):
            count = min(len(section) - 1, round(test_share * len(section)))
            order = _shuffled(section, seed)
            test += order[:count]
            train += order[count:]
    return sorted(train, key=identity), sorted(test, key=identity)


def held_out(
    recordings: Sequence[Recording], share: float, minimum: int, seed: int
) -> tuple[list[Recording], list[Recording]]:
    """Divide into (fit, held): `share` of the recordings, at least `minimum`, are held out.

    Each section and domain gives its part, by largest remainder, and keeps at least one recording
    for fitting; so fewer than `minimum` are held where there are not enough.
    """
    groups = _groups(recordings, _stratum)
    wanted = max(minimum, math.ceil(share * len(recordings)))
    fit: list[Recording] = []
    held: list[Recording] = []
    for group, count in zip(groups, _apportion([len(g) for g in groups], wanted), strict=True):
        order = _shuffled(group, seed)
        held += order[:count]
        fit += order[count:]
    return sorted(fit, key=identity), sorted(held, key=identity)


def folds(recordings: Sequence[Recording], count: int, seed: int) -> list[list[int]]:
    """Divide the indices of `recordings` into `count` folds, each with its part of every section
    and domain. The sizes differ by one at most; folds are empty where recordings are too few."""
    if count < 1:
        raise SsdptError(f"the number of folds must be at least 1, not {count}")
    places: defaultdict[Recording, list[int]] = defaultdict(list)
    for index, recording in enumerate(recordings):
        places[recording].append(index)
    order = [r for group in _groups(recordings, _stratum) for r in _shuffled(group, seed)]
    # Dealt out like cards through all groups, so that small groups do not all fill the first fold.
    return [sorted(places[r].pop() for r in order[start::count]) for start in range(count)]


def _stratum(recording: Recording) -> tuple[str, str, str]:
    return recording.machine, recording.section, recording.domain


def _groups(
    recordings: Iterable[Recording], key: Callable[[Recording], Hashable]
) -> list[list[Recording]]:
    """Groups of equal `key`; groups and members in the order of identity."""
    groups: defaultdict[Hashable, list[Recording]] = defaultdict(list)
    for recording in sorted(recordings, key=identity):
        groups[key(recording)].append(recording)
    return list(groups.values())


def _shuffled(group: list[Recording], seed: int) -> list[Recording]:
    """A seeded order. Each group has a stream of its own, so that adding a section or a machine
    leaves the draws of the others as they were."""
    name = "\0".join(_stratum(group[0]))
    entropy = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest())
    generator = np.random.default_rng([seed, entropy])
    return [group[index] for index in generator.permutation(len(group))]


def _apportion(sizes: list[int], wanted: int) -> list[int]:
    """`wanted` places over groups in proportion to `sizes`, at most all but one of each."""
    total = sum(sizes)
    largest = [size - 1 for size in sizes]
    wanted = min(wanted, sum(largest))
    quotas = [wanted * size / total for size in sizes]
    given = [min(math.floor(quota), most) for quota, most in zip(quotas, largest, strict=True)]
    while sum(given) < wanted:
        open_groups = [i for i in range(len(sizes)) if given[i] < largest[i]]
        # The group furthest below its quota comes next; ties go to the first.
        best = max(open_groups, key=lambda i: (quotas[i] - given[i], -i))
        given[best] += 1
    return given


def divided(recordings: Sequence[Recording], count: int, seed: int) -> list[list[int]]:
    """Positions of clips, each given by its recording, in `count` parts that share no recording.

    Where there are hardly any recordings, each part is a stretch of time of every recording.
    """
    distinct = list(dict.fromkeys(recordings))
    if len(distinct) >= max(_LEAST_RECORDINGS, count):
        part_of = {
            distinct[index]: number
            for number, fold in enumerate(folds(distinct, count, seed))
            for index in fold
        }
        return [
            [place for place, item in enumerate(recordings) if part_of[item] == number]
            for number in range(count)
        ]
    parts: list[list[int]] = [[] for _ in range(count)]
    for shift, recording in enumerate(distinct):
        indices = [index for index, item in enumerate(recordings) if item == recording]
        for number, stretch in enumerate(np.array_split(indices, count)):
            # Shifted, so that recordings of one clip do not all fall into the first part.
            parts[(number + shift) % count] += stretch.tolist()
    return parts
