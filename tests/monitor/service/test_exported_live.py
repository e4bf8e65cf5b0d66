"""A machine of the service may be scored by an export of the default model."""

from __future__ import annotations

import pytest
from monitors import SPEED, pump

from ssdpt.fleet.fleet import Fleet, export_fleet
from ssdpt.monitor.config import MonitorConfig
from ssdpt.monitor.learning.baseline import learn_baseline
from ssdpt.monitor.sources.simulated_source import SimulatedSource
from ssdpt.runtime.export import ExportSettings
from ssdpt.runtime.exported import ExportedDetector
from waiting import wait_until


@pytest.mark.parametrize("runtime", ["onnx", "openvino"])
def test_an_export_of_the_default_model_scores_a_machine(opened, traced_once, tmp_path, runtime):
    clips = SimulatedSource(pump().source, 16000).normal_clips(12)
    learned = learn_baseline(clips, 16000, "pump").detector
    assert learned.system_name in {"texture", "multiview"}
    learned.save(tmp_path / "model")
    fleet, out = Fleet.load(tmp_path / "model", device="cpu"), tmp_path / "exported"
    export_fleet(fleet, out, lambda _: ExportSettings(runtime=runtime))
    machine = pump().model_copy(update={"model": out})
    monitor = opened(MonitorConfig(machines=(machine,), speed=SPEED))
    wait_until(lambda: monitor.api.machine_status("pump-1").state == "normal", "it is scored")
    assert isinstance(monitor.machines["pump-1"].model.detector, ExportedDetector)
    assert not monitor.store.events(kind="anomaly")
