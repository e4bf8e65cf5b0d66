"""The machine types of the plant, by the names of DCASE 2021."""

from __future__ import annotations

from ssdpt.data.plant.fan import Fan
from ssdpt.data.plant.gearbox import Gearbox
from ssdpt.data.plant.machine import Machine
from ssdpt.data.plant.pump import Pump
from ssdpt.data.plant.slider import Slider
from ssdpt.data.plant.toy_car import ToyCar
from ssdpt.data.plant.toy_train import ToyTrain
from ssdpt.data.plant.valve import Valve

MACHINES: dict[str, type[Machine]] = {
    kind.name: kind for kind in (ToyCar, ToyTrain, Fan, Gearbox, Pump, Slider, Valve)
}
