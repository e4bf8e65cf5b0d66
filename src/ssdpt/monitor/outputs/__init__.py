"""Who is notified of states, scores and events: MQTT brokers, webhooks, mailboxes.

One file `<kind>_output.py` is one kind of output, with its settings and its class. Outputs of other
packages are entry points of the group `ssdpt.outputs`. `base` has the contract. `metrics` is what
Prometheus reads, `export` writes CSV and Parquet files.
"""

from __future__ import annotations

from collections.abc import Mapping

from ssdpt.monitor.config import OutputSettings
from ssdpt.monitor.outputs.base import Output


def create_output(settings: OutputSettings, names: Mapping[str, str] | None = None) -> Output:
    """An output that is not started; `names` are the machines' names for people, by id.

    SsdptError: waiting cannot help, for example where a password file is missing.
    """
    output: Output = OutputSettings.registry.load(settings.kind)(settings, names)
    return output


def open_output(settings: OutputSettings, names: Mapping[str, str] | None = None) -> Output:
    """A started output; as `create_output`."""
    output = create_output(settings, names)
    output.start()
    return output
