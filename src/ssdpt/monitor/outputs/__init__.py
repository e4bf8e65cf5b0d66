"""Who is notified of states, scores and events: people, MQTT brokers, other programs.

One file `<kind>_output.py` is one kind of output, with its settings and its class. Outputs of other
packages are entry points of the group `ssdpt.outputs`. `base` has the contract. `metrics` is what
Prometheus reads, `export` writes CSV and Parquet files.
"""

from __future__ import annotations

from ssdpt.monitor.config import OutputSettings
from ssdpt.monitor.outputs.base import Output
from ssdpt.monitor.outputs.context import OutputContext


def create_output(settings: OutputSettings, context: OutputContext | None = None) -> Output:
    """An output that is not started; `context` is what it knows of the plant.

    SsdptError: waiting cannot help, for example where a password file is missing.
    """
    output: Output = OutputSettings.registry.load(settings.kind)(settings, context)
    return output


def open_output(settings: OutputSettings, context: OutputContext | None = None) -> Output:
    """A started output; as `create_output`."""
    output = create_output(settings, context)
    output.start()
    return output
