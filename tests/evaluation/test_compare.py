from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from evaluation_fakes import FakeDataset, FakeFleet, make_fakes

from ssdpt.common.files import digest
from ssdpt.errors import SsdptError
from ssdpt.evaluation.compare import compare


def noisier(fleet: FakeFleet, amount: float, machines=None) -> FakeFleet:
    generator = np.random.default_rng(9)
    return FakeFleet(
        {
            name: replace(
                detector,
                values={
                    clip: value
                    + (amount if machines is None or name in machines else 0)
                    * generator.standard_normal()
                    for clip, value in detector.values.items()
                },
            )
            for name, detector in fleet.detectors.items()
        }
    )


@pytest.fixture(scope="module")
def fakes(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    return make_fakes(root, ("fan", "pump"), clips=25, seconds=0.1)


def test_a_model_does_not_differ_from_itself(fakes):
    fleet, dataset = fakes
    comparison = compare(fleet, fleet, dataset, resamples=100)
    difference = comparison.overall.auc_difference
    assert (difference.low, difference.value, difference.high) == (0, 0, 0)
    assert comparison.verdict == (
        "No clear difference between A and B: AUC difference +0.000 (+0.000 to +0.000) on 200 "
        "clips. No clear difference on fan, pump."
    )


def test_models_of_the_same_name_are_distinguished(fakes):
    fleet, dataset = fakes
    comparison = compare(fleet, fleet, dataset, names=("m", "m"), resamples=10)
    assert {"AUC m (first)", "AUC m (second)"} <= set(comparison.summary_rows()[0])


def test_the_better_model_is_named_whichever_comes_first(fakes):
    fleet, dataset = fakes
    worse = noisier(fleet, 1.0)
    one = compare(worse, fleet, dataset, names=("old", "new"), resamples=200)
    assert one.verdict.startswith("new is better than old: AUC difference +0.")
    assert "new is clearly better on fan, pump." in one.verdict
    other = compare(fleet, worse, dataset, names=("old", "new"), resamples=200)
    assert other.verdict.startswith("old is better than new: AUC difference -0.")
    assert other.overall.auc_difference.value == -one.overall.auc_difference.value
    assert json.loads(json.dumps(one.as_json()))["verdict"] == one.verdict
    rows = one.summary_rows()
    assert [row["machine"] for row in rows] == ["fan", "pump", "all"]
    assert rows[0]["AUC difference"].startswith("+0.")


def test_machines_may_differ_in_their_verdict(fakes):
    fleet, dataset = fakes
    comparison = compare(noisier(fleet, 1.0, {"pump"}), fleet, dataset, resamples=200)
    assert "B is clearly better on pump." in comparison.verdict
    assert "No clear difference on fan." in comparison.verdict


def test_pairing_narrows_the_interval(fakes):
    fleet, dataset = fakes
    comparison = compare(fleet, noisier(fleet, 0.02), dataset, resamples=300).overall
    alone = comparison.auc_a.high - comparison.auc_a.low
    assert comparison.auc_difference.high - comparison.auc_difference.low < 0.7 * alone


def test_clips_known_to_or_unscorable_by_either_model_are_left_out(fakes):
    fleet, dataset = fakes
    first, second, third, fourth, *_ = dataset.recordings
    a = FakeFleet({k: replace(d, values=dict(d.values)) for k, d in fleet.detectors.items()})
    b = FakeFleet({k: replace(d, values=dict(d.values)) for k, d in fleet.detectors.items()})
    a["fan"].fingerprint = frozenset({digest(first.path)})
    b["fan"].fingerprint = frozenset({digest(second.path)})
    del a["fan"].values[third.path.name]
    del b["fan"].values[fourth.path.name]
    comparison = compare(a, b, dataset, resamples=20)
    assert comparison.overall.clips == 200 - 4
    assert sum(len(left.names) for left in comparison.left_out) == 4


def test_no_common_clips_is_an_error(fakes):
    fleet, dataset = fakes
    fan, pump = (FakeFleet({name: fleet[name]}) for name in ("fan", "pump"))
    with pytest.raises(SsdptError, match=r"Nothing to compare: .*100 no model for machine"):
        compare(fan, pump, dataset)
    normal = FakeDataset(tuple(r for r in dataset.recordings if r.label == "normal"))
    with pytest.raises(SsdptError, match="both normal and faulty clips"):
        compare(fleet, fleet, normal)
