from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hmean
from sklearn.metrics import roc_auc_score

from ssdpt.evaluation.tables import Row, machine_draws, result_tables


def make_rows(machine="fan", sections=("00", "01"), domains=("source", "target"), seed=0):
    generator = np.random.default_rng(seed)
    return [
        Row(machine, section, domain, anomalous, float(generator.normal(anomalous)), 0.8)
        for section in sections
        for domain in domains
        for anomalous in [False] * 12 + [True] * 9
    ]


def area(rows, **options):
    return roc_auc_score([r.anomalous for r in rows], [r.value for r in rows], **options)


def test_2021_definition_takes_both_kinds_of_one_domain():
    rows = make_rows()
    [machine] = result_tables(rows, resamples=50).machines
    assert [(c.domain, c.section) for c in machine.cells] == [
        *(("source", "00"), ("source", "01")),
        *(("target", "00"), ("target", "01")),
    ]
    areas, partial = [], []
    for cell in machine.cells:
        members = [r for r in rows if (r.section, r.domain) == (cell.section, cell.domain)]
        areas.append(area(members))
        partial.append(area(members, max_fpr=0.1))
        assert cell.auc.value == pytest.approx(areas[-1])
        assert cell.pauc.value == pytest.approx(partial[-1])
        assert cell.auc.low <= cell.auc.value <= cell.auc.high
    means = machine.means
    assert means.auc.value == pytest.approx(np.mean(areas))
    assert means.pauc.value == pytest.approx(np.mean(partial))
    assert means.h_auc.value == pytest.approx(hmean(areas))
    assert means.h_pauc.value == pytest.approx(hmean(partial))
    assert means.official_2021.value == pytest.approx(hmean(areas + partial))


def test_2022_definition_sets_a_domain_against_the_anomalies_of_both():
    rows = make_rows()
    [machine] = result_tables(rows, resamples=50).machines
    official = []
    for section in machine.sections:
        inside = [r for r in rows if r.section == section.section]
        source = area([r for r in inside if r.domain == "source" or r.anomalous])
        target = area([r for r in inside if r.domain == "target" or r.anomalous])
        assert section.auc_source.value == pytest.approx(source)
        assert section.auc_target.value == pytest.approx(target)
        assert section.pauc.value == pytest.approx(area(inside, max_fpr=0.1))
        official += [source, target, area(inside, max_fpr=0.1)]
    assert machine.means.official_2022.value == pytest.approx(hmean(official))


def test_means_over_all_run_over_every_cell_not_over_machines():
    rows = make_rows("fan") + make_rows("pump", sections=("00",), domains=("source",), seed=1)
    results = result_tables(rows, resamples=50)
    cells = [cell for machine in results.machines for cell in machine.cells]
    assert len(cells) == 5
    assert results.means.auc.value == pytest.approx(np.mean([c.auc.value for c in cells]))
    assert results.rates.normals == 5 * 12
    assert results.machine("pump").clips == 21


def test_machines_come_sorted_as_the_challenge_sorts_them():
    rows = [row for name in ("valve", "fan", "ToyCar") for row in make_rows(name)]
    names = [m.machine for m in result_tables(rows, resamples=5).machines]
    assert names == ["ToyCar", "fan", "valve"]


def test_a_cell_without_both_kinds_is_left_out_and_named():
    rows = [
        r
        for r in make_rows()
        if not (r.section == "00" and r.domain == "target" and r.anomalous)
        and not (r.section == "01" and r.domain == "source" and not r.anomalous)
    ]
    [machine] = result_tables(rows, resamples=20).machines
    undefined = {(c.section, c.domain) for c in machine.cells if c.auc is None}
    assert undefined == {("00", "target"), ("01", "source")}
    assert machine.notes == (
        "fan, section 01, source domain: no normal clips, so it has no AUC and is left out of "
        "the means",
        "fan, section 00, target domain: no anomalous clips, so it has no AUC and is left out of "
        "the means",
    )
    defined = [c.auc.value for c in machine.cells if c.auc]
    assert machine.means.auc.value == pytest.approx(np.mean(defined))
    # The 2022 definition borrows the other domain's anomalies, but no normal clips.
    first, second = machine.sections
    assert first.auc_target is not None
    assert second.auc_source is None


def test_without_any_anomaly_only_the_rates_remain():
    results = result_tables([r for r in make_rows() if not r.anomalous], resamples=5)
    assert results.means.auc is None
    assert results.means.official_2022 is None
    assert results.machines[0].means.pauc_printed is None
    assert len(results.machines[0].notes) == 4
    assert results.rates.false_alarms > 0


def test_equal_clips_draw_equal_resamples():
    rows = make_rows()
    doubled = [Row(r.machine, r.section, r.domain, r.anomalous, 2 * r.value) for r in rows]
    first, second = (machine_draws(x, seed=4, resamples=30) for x in (rows, doubled))
    assert np.array_equal(first.auc, second.auc)
    assert first.auc.shape == (31, 4)
    assert first.official_2022.shape == (31, 6)
    other = machine_draws([Row("pump", *r.__getstate__()[1:]) for r in rows], seed=4, resamples=30)
    assert np.array_equal(first.auc[0], other.auc[0])
    assert not np.array_equal(first.auc[1:], other.auc[1:])
