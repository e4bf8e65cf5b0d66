"""The machine types of the simulated plant, by their DCASE 2021 names."""

from __future__ import annotations

from ssdpt.data.simulator.fan import Fan
from ssdpt.data.simulator.gearbox import Gearbox
from ssdpt.data.simulator.machine import Machine
from ssdpt.data.simulator.pump import Pump
from ssdpt.data.simulator.slider import Slider
from ssdpt.data.simulator.toy_car import ToyCar
from ssdpt.data.simulator.toy_train import ToyTrain
from ssdpt.data.simulator.valve import Valve

MACHINES: dict[str, type[Machine]] = {
    kind.name: kind for kind in (ToyCar, ToyTrain, Fan, Gearbox, Pump, Slider, Valve)
}
