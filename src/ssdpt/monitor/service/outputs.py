"""The outputs of the service: opened, replaced, tested and closed together."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from functools import partial

from ssdpt.common.at_once import do_at_once
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MonitorConfig, OutputSettings
from ssdpt.monitor.events.image import event_png
from ssdpt.monitor.events.picture import read_picture
from ssdpt.monitor.messages import Message, OutputInfo, OutputTest
from ssdpt.monitor.outputs import create_output
from ssdpt.monitor.outputs.base import Output, Refused, TryAgain
from ssdpt.monitor.outputs.context import MachineLabel, OutputContext
from ssdpt.monitor.outputs.metrics import Metrics
from ssdpt.monitor.store import Store
from ssdpt.sentences import Sentence, said

TEST_LIMIT = 15.0  # seconds until a receiver must have answered; the page waits a little longer
_LOG = logging.getLogger(__name__)
_CLOSING = 2.0  # seconds to send what waits
_OPEN_EVENTS = 1000  # that outputs are told of at their start


class UnknownOutput(KeyError):
    """There is no output with this number."""


class Outputs:
    """All outputs of the configuration, in its order."""

    def __init__(
        self, config: MonitorConfig, store: Store, metrics: Metrics, problem: Callable[[], str]
    ) -> None:
        """`problem`: why machines are not monitored, in a sentence; empty while they are.

        SsdptError: one of them cannot be opened.
        """
        self._store, self._metrics, self._problem = store, metrics, problem
        self._settings: tuple[OutputSettings, ...] = ()
        self._outputs: list[Output] = []
        self._use(config, self.open(config))

    def open(self, config: MonitorConfig) -> list[Output]:
        """Those of a configuration; SsdptError where one cannot be opened.

        One whose settings are those of an output in use is that output, with what waits in it: its
        receiver may be away. The others are new, and not started.
        """
        context = self._context(config)
        present = list(zip(self._settings, self._outputs, strict=True))
        outputs, new = [], []
        for settings in config.outputs:
            kept = next((one for one in present if one[0] == settings), None)
            if kept is not None:
                present.remove(kept)
                outputs.append(kept[1])
            else:
                new.append(create_output(settings, context))
                outputs.append(new[-1])
        if new:
            events = self._store.events(open_only=True, limit=_OPEN_EVENTS)[::-1]
            for output in new:
                output.resume(events)
        return outputs

    def start(self) -> None:
        """Start to send."""
        for output in self._outputs:
            output.start()

    def replace(self, config: MonitorConfig, outputs: Sequence[Output]) -> None:
        """Use those that `open` gave; others send for a moment what they hold, and are closed."""
        before = self._outputs
        for output in outputs:
            if output not in before:
                output.start()
        self._use(config, outputs)
        _close([output for output in before if output not in outputs])

    def update(self, config: MonitorConfig) -> None:
        """Machines, names, language and so on have changed."""
        context = self._context(config)
        for output in self._outputs:
            output.update(context)

    def publish(self, message: Message) -> None:
        """Never waits for a receiver."""
        for output in self._outputs:
            output.publish(message)

    def close(self) -> None:
        """Send what waits for a moment, and close all."""
        _close(self._outputs)

    def infos(self) -> list[OutputInfo]:
        """How they are doing."""
        return [
            OutputInfo(
                number=number,
                kind=settings.kind,
                name=output.name,
                groups=output.groups,
                message=status.message,
                healthy=status.healthy,
                last_success=status.last_success,
                quiet_until=status.quiet_until,
                queued=status.queued,
                sent=status.sent,
                failed=status.failed,
                dropped=status.dropped,
            )
            for number, (settings, output) in enumerate(
                zip(self._settings, self._outputs, strict=True), 1
            )
            for status in (output.status,)
        ]

    def test(self, number: int, limit: float = TEST_LIMIT) -> OutputTest:
        """Send a test message; gives the receiver's answer within `limit` seconds."""
        if not 1 <= number <= len(self._outputs):
            raise UnknownOutput(number)
        output = self._outputs[number - 1]
        result = OutputTest(ok=False, message=Sentence("outputs.noAnswer", seconds=limit))

        def work() -> None:
            nonlocal result
            try:
                result = OutputTest(ok=True, message=output.test(limit))
            except (TryAgain, Refused, SsdptError) as error:
                result = OutputTest(ok=False, message=said(error))
            except Exception as error:
                # Its text might hold a secret.
                name = type(error).__name__
                result = OutputTest(ok=False, message=Sentence("outputs.noTest", error=name))

        # On a thread that is abandoned if it hangs in a library.
        thread = threading.Thread(target=work, name=f"test {output.name}", daemon=True)
        thread.start()
        thread.join(limit + 1.0)  # so that the output's own sentence comes first
        return result

    def _use(self, config: MonitorConfig, outputs: Sequence[Output]) -> None:
        self._settings = config.outputs
        self._outputs = list(outputs)
        self._metrics.watch_outputs(self._outputs)

    def _context(self, config: MonitorConfig) -> OutputContext:
        return OutputContext(
            machines={
                machine.id: MachineLabel(machine.title, machine.site, machine.group)
                for machine in config.machines
            },
            plant=config.name,
            language=config.language,
            timezone=config.timezone,
            public_url=config.public_url,
            has_pictures=config.retention.keep_audio,
            picture=self._picture,
            problem=self._problem,
        )

    def _picture(self, event: str) -> bytes | None:
        try:
            path, found = self._store.attachment(event, "spectrogram"), self._store.event(event)
            if path is None or found is None:
                return None
            return event_png(read_picture(path.read_bytes()), began=found.began)
        except Exception as error:  # people are told without it
            _LOG.warning("the picture of event %s cannot be read (%s)", event, error)
            return None


def _close(outputs: Sequence[Output]) -> None:
    """All at once: one whose receiver hangs must not take the time of the others."""
    tasks = {
        f"closing output {number} ({output.name})": partial(output.close, _CLOSING)
        for number, output in enumerate(outputs, 1)
    }
    do_at_once(tasks, _CLOSING + 1.0)
