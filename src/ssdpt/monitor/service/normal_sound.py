"""What is normal for a machine that is listened to all the time: learned, accepted, kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ssdpt.alarms.commissioning import Commissioning
from ssdpt.alarms.judge import ScoreScale
from ssdpt.alarms.operating_points import UNKNOWN, OperatingPoints
from ssdpt.alarms.running import RunningDetector
from ssdpt.alarms.stream_judge import StreamJudge
from ssdpt.features.indicators import Indicators
from ssdpt.monitor.capture.capture import AudioCapture
from ssdpt.monitor.learning.references import References
from ssdpt.monitor.learning.sound_learner import SoundLearner
from ssdpt.monitor.messages import MachineState
from ssdpt.monitor.scoring.live_model import LiveModel
from ssdpt.types import Floats


class NormalSound:
    """The usual level of a machine, and what its sound is compared with.

    What judges the machine follows: it always belongs to the same baseline.
    """

    def __init__(
        self, alarms: StreamJudge, capture: AudioCapture, running: RunningDetector
    ) -> None:
        """`alarms`: what judges the machine; `running`: knows its usual level."""
        self.running = running
        self.references = References()
        self._alarms, self._capture = alarms, capture
        self._sound_learner = SoundLearner(capture.rate)

    @property
    def sample(self) -> Floats | None:
        """Some seconds (samples,) of normal sound, at the current operating point if known."""
        samples = self.references.samples
        here = samples.get(self._point)
        return here if here is not None else next(iter(samples.values()), None)

    @property
    def _point(self) -> int:
        return self._alarms.scores.operating_point or UNKNOWN

    def learn(
        self,
        now: float,
        state: MachineState,
        level_dbfs: float,
        spectrum: Floats | None,
        indicators: Indicators | None,
        model: LiveModel | None,
    ) -> None:
        """Take a normal second that ended now as such, while not all is known.

        `spectrum` (bins,) in dB; `model`: that scores the machine.
        """
        learns = state == "learning" or not self.references.complete
        if state in ("starting", "learning", "normal") and learns and self.running.running:
            self.running.learn(level_dbfs)
        if model is None:
            return
        if state == "normal":
            completed = self.references.learn(
                now,
                self._capture,
                spectrum,
                indicators,
                self._point,
                recordings=len(model.detector.fingerprint),
            )
            if completed:
                self._alarms.compare_with(self.references.indicators)
        if self.references.sound is None:
            self.references.sound = self._sound_learner.update(
                self._capture, now, normal=state == "normal"
            )

    def forget_level(self) -> None:
        """Learn anew how loud the machine runs."""
        self.running = RunningDetector(self.running.off_below_dbfs)

    def adopt(
        self, scale: ScoreScale, points: OperatingPoints | None, references: References
    ) -> None:
        """Use what was newly learned from now on."""
        self._alarms.adopt(scale, points, references.indicators)
        self.references = references
        self._take_usual_level()

    def accept_drift(self, now: float | None, since: float | None) -> None:
        """Take the recent scores as usual, and the sound since `since` as normal.

        `now`: end of the last second, None before the first; `since`: from when on the machine was
        judged without a pause, None where the last second was not. In seconds since 1970.
        """
        point, points = self._point, self._alarms.scores.baseline.points
        self._alarms.accept_drift()
        if now is None or since is None:
            return
        several_points = points is not None and len(points.points) > 1
        self.references.accept(now, self._capture, since, point, several_points=several_points)
        if not several_points:
            # The last minutes are no longer held as sound: the next ones are learned.
            self.references.sound, self._sound_learner = None, SoundLearner(self._capture.rate)
        self._alarms.compare_with(self.references.indicators)
        self._take_usual_level()

    def accept_as_healthy(self, now: float | None, since: float | None) -> None:
        """Take the recent scores as usual, and the sound since `since` as normal too.

        `now`: end of the last second, None before the first; `since`: from when on the machine was
        judged without a pause, None where the last second was not. In seconds since 1970.
        """
        point = self._point
        self._alarms.accept_drift()
        if now is not None:
            begin = now if since is None else since
            self.references.commission(now, self._capture, begin, point)
            self._alarms.compare_with(self.references.indicators)

    def continue_from(self, previous: NormalSound) -> None:
        """Go on from the same machine with the same model before its settings changed."""
        off_below_dbfs = self.running.off_below_dbfs
        self.running, self.references = previous.running, previous.references
        self.running.off_below_dbfs = off_below_dbfs
        self._alarms.compare_with(self.references.indicators)
        if previous._capture.rate == self._capture.rate:
            self._sound_learner = previous._sound_learner
        else:
            self.references.sound = None

    def values(self, model: LiveModel | None) -> dict[str, Any]:
        """What was learned with this model and must outlive a restart, by key."""
        values: dict[str, Any] = {"usual_dbfs": self.running.usual_dbfs}
        if model is not None:
            baseline = self._alarms.scores.baseline
            values["baseline"] = {"model": model.digest, **baseline.to_json()}
            values["block_maxima"] = baseline.blocks.to_json()
            values["commissioning"] = self._alarms.commissioning.to_json()
            values |= self.references.values()
        return values

    def restore(self, get: Callable[[str], Any], model: LiveModel | None) -> None:
        """The reverse of `values`, but for the usual level.

        What was learned with another model does not count.
        """
        baseline = get("baseline")
        if not baseline or model is None or baseline["model"] != model.digest:
            return
        self._alarms.scores.baseline.restore(baseline, get("block_maxima"))
        self.references.restore(get)
        self._alarms.compare_with(self.references.indicators)
        state = get("commissioning")
        over = state is None  # it was learned by a version that knew no commissioning
        self._alarms.commissioning = (
            Commissioning.over() if over else Commissioning.from_json(state)
        )

    def _take_usual_level(self) -> None:
        if self.references.usual_dbfs is not None:
            self.running = RunningDetector(self.running.off_below_dbfs, self.references.usual_dbfs)
