"""Adds, removes, changes and replaces machines while the service runs."""

from __future__ import annotations

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings, MonitorConfig
from ssdpt.monitor.messages import MachineRemoved
from ssdpt.monitor.outputs.metrics import Metrics
from ssdpt.monitor.service.current_config import CurrentConfig
from ssdpt.monitor.service.event_recorder import EventRecorder
from ssdpt.monitor.service.housekeeping import Housekeeping
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.service.models import ModelCache
from ssdpt.monitor.service.opening import MachineOpener
from ssdpt.monitor.service.outputs import Outputs
from ssdpt.monitor.service.prognosis import Prognosis
from ssdpt.monitor.service.publisher import Publisher
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.setting_changes import baseline_after, keeps_baseline
from ssdpt.monitor.service.voice_filter import VoiceFilter
from ssdpt.monitor.setup_messages import BaselineChoice, ChangeEffect, MachineDefinition
from ssdpt.monitor.store.writer import StoreWriter
from ssdpt.sentences import Sentence

# Settings of the whole service that a changed file sets at once, and those that need a restart.
_AT_ONCE = (
    *("name", "timezone", "language", "public_url", "retention", "live_listening", "speed"),
)
_AFTER_RESTART = ("store", "device")
_STOPPING = 0.1  # seconds to wait for a source that is not read any more


class MachineAdmin:
    """Changes which machines are monitored."""

    def __init__(
        self,
        machines: MachineRegistry,
        current: CurrentConfig,
        opener: MachineOpener,
        models: ModelCache,
        publisher: Publisher,
        outputs: Outputs,
        recorder: EventRecorder,
        housekeeping: Housekeeping,
        writer: StoreWriter,
        metrics: Metrics,
        voices: VoiceFilter,
        prognosis: Prognosis,
    ) -> None:
        self._machines, self._current, self._opener = machines, current, opener
        self._models, self._publisher, self._outputs = models, publisher, outputs
        self._recorder, self._housekeeping = recorder, housekeeping
        self._writer, self._metrics, self._voices = writer, metrics, voices
        self._prognosis = prognosis

    def open_all(self) -> None:
        """All machines of the configuration; their capture is not started."""
        for settings in self._current.config.machines:
            self._prognosis.restore(settings.id)
            self._machines.put(self._opener.open_at_start(settings, self._current.config))
        self._opener.remove_leftovers()
        self.watch_sources()

    def add(self, settings: MachineSettings) -> str:
        """Monitor one more machine, also after a restart; gives its id."""
        with self._machines.changing:
            if settings.id in self._machines:
                raise SsdptError(Sentence("machines.exists", id=settings.id))
            settings = self._current.at_speed(settings)
            machine = self._open(settings, self._current.config)
            self._current.add(settings)
            self._machines.put(machine)
            _exchange_parts(None, machine)
            self._outputs.update(self._current.config)
            self.watch_sources()
        self._publisher.machine_changed(settings.id)
        return settings.id

    def remove(self, id: str) -> None:
        """Stop monitoring a machine that was added on the page; its history stays."""
        with self._machines.changing:
            machine = self._machines[id]
            self._current.remove(id)
            with self._machines.lock:
                self._end(machine)
            _exchange_parts(machine, None)
            self._outputs.update(self._current.config)
            self._opener.forget(id)
            self.watch_sources()

    def definition(self, id: str) -> MachineDefinition:
        """The settings of a machine without secrets, and where they can be changed."""
        return self._current.definition(id)

    def remove_ignored(self, id: str) -> None:
        """Remove the page's definition of a machine that the file defines as well."""
        with self._machines.changing:
            self._current.remove_ignored(id)

    def effect(self, settings: MachineSettings) -> ChangeEffect:
        """What new settings of a machine would mean for what it has learned."""
        previous = self._machines[settings.id]
        settings = self._completed(settings)
        if previous.baseline_status is None and not previous.learning:
            return ChangeEffect(baseline="kept")  # there is nothing to lose
        return ChangeEffect(baseline=baseline_after(previous.settings, settings))

    def change(self, settings: MachineSettings, choice: BaselineChoice | None) -> None:
        """Give a machine that was added on the page new settings; its history stays."""
        with self._machines.changing:
            previous = self._machines[settings.id]
            keeps = keeps_baseline(settings.id, self.effect(settings).baseline, choice)
            settings = self._completed(settings)
            # Ongoing events and what was learned are read from the store.
            self._housekeeping.save_values()
            if not keeps:
                if previous.fitting:
                    raise SsdptError(Sentence("machines.fitting", id=settings.id))
                self._give_up_baseline(previous)
            self._writer.flush()
            machine = self._open(settings, self._current.config, previous if keeps else None)
            self._current.change(settings)
            with self._machines.lock:
                self._replace(previous if keeps else None, machine)
            _exchange_parts(previous, machine)
            self._outputs.update(self._current.config)
            self._models.keep_only(one.model for one in self._machines)
            self.watch_sources()
        self._publisher.machine_changed(settings.id)

    def for_trial(self, settings: MachineSettings) -> MachineSettings:
        """Settings as they would be kept, of a machine that need not exist."""
        if settings.id in self._machines:
            return self._completed(settings)
        return self._current.at_speed(settings)

    def _completed(self, settings: MachineSettings) -> MachineSettings:
        """As it is kept: with its secrets, at the speed of the service's clock."""
        self._current.check_changeable(settings.id)
        stored = self._current.settings(settings.id).source
        source = settings.source.with_secrets_of(stored)
        return self._current.at_speed(settings.model_copy(update={"source": source}))

    def _give_up_baseline(self, machine: MachineMonitor) -> None:
        """Its events end: what they were compared with is gone."""
        with self._machines.lock:
            for message in machine.events.end_all(machine.now):
                self._publisher.publish(message)
            machine.collector = None
            self._recorder.forget(machine.id)
        self._opener.forget_baseline(machine.id)

    def reload(self) -> list[str]:
        """Read the configuration file again; a broken one leaves everything as it is.

        Gives what has changed, in sentences.
        """
        with self._machines.changing:
            return self._reload()

    def _reload(self) -> list[str]:
        written, config = self._current.read_again()
        self._voices.require(config.retention)
        before = self._current.config
        # Ongoing events and what was learned are read from the store.
        self._writer.flush()
        self._housekeeping.save_values()
        known = {machine.id: machine for machine in before.machines}
        wanted = {machine.id: machine for machine in config.machines}
        opened = {
            id: self._open(settings, config, self._machines.get(id))
            for id, settings in wanted.items()
            if known.get(id) != settings
            or not self._opener.keeps_enough(self._machines[id], config)
        }
        new_outputs = config.outputs != before.outputs
        outputs = self._outputs.open(config) if new_outputs else []
        changes: list[str] = []
        exchanged: list[tuple[MachineMonitor | None, MachineMonitor | None]] = []
        with self._machines.lock:
            for machine in [one for one in self._machines if one.id not in wanted]:
                self._end(machine)
                exchanged.append((machine, None))
                changes.append(Sentence("config.machineRemoved", machine=machine.id))
            for id, machine in opened.items():
                exchanged.append((self._machines.get(id), machine))
                self._replace(self._machines.get(id), machine)
                changes.append(
                    Sentence("config.machineChanged", machine=id)
                    if id in known
                    else Sentence("config.machineAdded", machine=id)
                )
            changes += [
                Sentence("config.settingChanged", setting=name)
                for name in _AT_ONCE
                if _differs(name, before, config)
            ]
            changes += [
                Sentence("config.restart", setting=name)
                for name in _AFTER_RESTART
                if _differs(name, before, config)
            ]
            self._current.use(written, config)
        for previous, present in exchanged:
            _exchange_parts(previous, present)
        if new_outputs:
            changes.append(Sentence("config.outputsUpdated"))
            self._outputs.replace(config, outputs)
        self._outputs.update(config)
        self._models.keep_only(machine.model for machine in self._machines)
        self.watch_sources()
        return [*changes, *written.upgrade_notes]

    def watch_sources(self) -> None:
        """Metrics show the sources of the present machines."""
        self._metrics.watch_sources(
            {
                machine.id: (lambda source=machine.capture.source: source.status)  # type: ignore[misc]
                for machine in self._machines
            }
        )

    def _open(
        self,
        settings: MachineSettings,
        config: MonitorConfig,
        previous: MachineMonitor | None = None,
    ) -> MachineMonitor:
        """A machine with what it had learned, not monitored yet."""
        self._prognosis.restore(settings.id)
        return self._opener.open(settings, config, previous)

    def _end(self, machine: MachineMonitor) -> None:
        """End its ongoing events, and notify everyone. Call with the lock of the machines."""
        for message in machine.events.end_all(machine.now):
            self._publisher.publish(message)
        self._machines.remove(machine.id)
        self._recorder.forget(machine.id)
        self._publisher.publish(MachineRemoved(machine=machine.id))

    def _replace(self, previous: MachineMonitor | None, machine: MachineMonitor) -> None:
        """Monitor this machine, in place of what it was before its settings changed.

        Call with the lock of the machines.
        """
        self._machines.put(machine)
        if previous is not None:
            machine.continue_from(previous)


def _exchange_parts(previous: MachineMonitor | None, present: MachineMonitor | None) -> None:
    """Stop what only the previous machine has, start what only the present one has.

    What both have goes on without a gap. Stopping may take a moment: not with a lock.
    """
    before = () if previous is None else previous.parts
    after = () if present is None else present.parts
    for part in (part for part in before if part not in after):
        part.stop(_STOPPING)
    for part in (part for part in after if part not in before):
        part.start()


def _differs(name: str, before: MonitorConfig, after: MonitorConfig) -> bool:
    return bool(getattr(before, name) != getattr(after, name))
