"""One training loop for every network: seeded, checkpointed, resumable, with progress.

Every random draw of an epoch comes from a generator seeded by (seed, epoch), so that a run resumed
from a checkpoint draws what the uninterrupted run would have drawn, on any device.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.config.settings import TrainingConfig
from ssdpt.errors import SsdptError
from ssdpt.training.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from ssdpt.training.log import TrainingLog
from ssdpt.training.objective import Objective
from ssdpt.training.updates import Plan, Updates

_REPORT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Run:
    """Where and how one training runs, independent of what is learned."""

    seed: int
    device: torch.device
    folder: Path  # for checkpoint and log
    identity: str  # of settings and recordings; prevents a wrong resume
    resume: bool = False
    name: str = "training"  # shown with the progress bar
    models: int = 1  # number of such trainings in the whole fit, for the time estimate
    after_epoch: Callable[[int], None] | None = None  # called with the averaged weights in place


def choose_device(name: str) -> torch.device:
    """The device for `auto`, `cpu`, `cuda` or `cuda:1`; an SsdptError if it does not exist."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise SsdptError(f"'{name}' is not a device: use auto, cpu or cuda") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise SsdptError("no CUDA GPU was found; use --device cpu or --device auto")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise SsdptError(
            f"there is no GPU '{name}': the last one is cuda:{torch.cuda.device_count() - 1}"
        )
    if device.type not in {"cpu", "cuda"}:
        raise SsdptError(f"device '{name}' is not supported: use auto, cpu or cuda")
    return device


def train(
    objective: Objective, config: TrainingConfig, run: Run, reporter: Reporter = SILENT
) -> None:
    """Train `objective.network` in place; afterwards it holds the final (averaged) weights."""
    if run.device.index is not None:
        torch.cuda.set_device(run.device)  # of this thread: kernels go there
    network = objective.network.to(run.device).train()
    saved = load_checkpoint(run.folder, run.identity) if run.resume else None
    trainer = Trainer(objective, config, run, saved.batch_size if saved else config.batch_size)
    if saved and saved.step == trainer.steps:
        trainer.restore(saved)
    else:
        trainer.start(saved, reporter)
    with reporter.task(run.name, total=trainer.steps) as task:
        task.advance(trainer.step)
        trainer.run_all(task.advance)
    trainer.finish()
    network.eval()


class Trainer:
    """Runs the epochs, with progress, log and checkpoints; `Updates` makes the updates."""

    def __init__(self, objective: Objective, config: TrainingConfig, run: Run, batch: int) -> None:
        self.objective, self.config, self.settings = objective, config, run
        self.updates = Updates(objective, config, run.device)
        self.log = TrainingLog(run.folder)
        self.step = 0
        self._set_batch_size(batch)

    def start(self, saved: Checkpoint | None, reporter: Reporter) -> None:
        """Find the batch size, restore an interrupted run, and report the estimated time."""
        run = self.settings
        seconds = self.rehearse(reporter)
        if saved and self.batch != saved.batch_size:
            raise SsdptError(
                f"{run.name}: the checkpoint was made with batches of {saved.batch_size}, for "
                f"which {run.device} has too little memory now; free some of it, or fit without "
                "--resume"
            )
        if saved:
            self.restore(saved)
            reporter.say(f"{run.name}: resuming from update {self.step} of {self.steps}")
            return
        models = f" for {run.models} models" if run.models > 1 else ""
        reporter.say(
            f"estimated time {duration(seconds * self.steps * run.models)}{models}: "
            f"{self.config.epochs} epochs of {self.objective.examples} examples on {run.device}"
        )

    def rehearse(self, reporter: Reporter) -> float:
        """Find a batch size that fits into memory; return the seconds per update."""
        while True:
            with suppress(torch.OutOfMemoryError):
                return max(self.updates.rehearse(plan) for plan in self.plans(0))
            # Not inside the except clause: the exception keeps the tensors in memory.
            if self.batch < 4:
                raise SsdptError(
                    f"{self.settings.name}: too little memory on {self.settings.device} even for "
                    "the smallest batch; free some of it or use --device cpu"
                )
            reporter.warn(
                f"too little memory on {self.settings.device} for batches of {self.batch}: "
                f"using {self.batch // 2}"
            )
            self.updates.forget()
            self._set_batch_size(self.batch // 2)

    def run_all(self, advance: _Advance) -> None:
        """Make all remaining updates."""
        saved = shown = time.monotonic()
        epoch_began, epoch_step, shown_step = time.monotonic(), self.step, self.step
        plans: list[Plan] = []
        while self.step < self.steps:
            epoch, within = divmod(self.step, self.per_epoch)
            if within == 0:
                epoch_began, epoch_step = time.monotonic(), self.step
                if self.config.carry_gradients:
                    self.updates.flat.gradients.zero_()
            if within == 0 or not plans:
                plans = self.plans(epoch)
                self.updates.begin(plans[0], within)
            if within == len(plans[0]) < self.per_epoch:
                self.updates.begin(plans[1], 0)
            self.updates.update()
            self.step += 1
            end_of_epoch = within + 1 == self.per_epoch
            now = time.monotonic()
            if end_of_epoch or now - shown > _REPORT_SECONDS:
                metrics = self._metrics(within + 1)
                now = time.monotonic()  # reading the metrics waited for the GPU
                examples = (self.step - epoch_step) * self.batch
                rate = examples / max(now - epoch_began, 1e-9)  # examples per second
                note = _note(epoch, self.config.epochs, metrics, rate)
                advance(self.step - shown_step, note)
                shown, shown_step = now, self.step
            if end_of_epoch:
                self.log.write(
                    epoch=epoch + 1,
                    **metrics,
                    learning_rate=self._learning_rate(self.step - 1),
                    seconds=round(now - epoch_began, 3),
                    examples_per_second=round(rate, 1),
                )
                self.updates.totals.zero_()
                if self.settings.after_epoch:
                    self._call_after_epoch(epoch + 1, self.settings.after_epoch)
            # Carried gradients are part of the state within an epoch, and zero between epochs.
            can_save = end_of_epoch or not self.config.carry_gradients
            if can_save and (
                self.step == self.steps or now - saved > self.config.checkpoint_seconds
            ):
                self.save()
                saved = now

    def _set_batch_size(self, size: int) -> None:
        # A last batch of a single example joins the one before it: BatchNorm needs two.
        self.batch = size
        self.per_epoch = max(1, math.ceil((self.objective.examples - 1) / size))
        self.steps = self.config.epochs * self.per_epoch

    def plans(self, epoch: int) -> list[Plan]:
        """A plan for the full batches of an epoch, and one for a last batch of another size."""
        generator = torch.Generator().manual_seed(_mixed_seed(self.settings.seed, epoch))
        order = torch.randperm(self.objective.examples, generator=generator)
        last = len(order) - (self.per_epoch - 1) * self.batch
        full = self.per_epoch if last == self.batch else self.per_epoch - 1
        sizes = [(full, self.batch), (self.per_epoch - full, last)]
        plans = []
        first = epoch * self.per_epoch
        for updates, batch in sizes:
            if updates:
                index, order = order[: updates * batch], order[updates * batch :]
                draws = {"index": index.view(updates, batch)}
                draws |= self.objective.draw(updates, batch, generator)
                steps = range(first, first + updates)
                plans.append(
                    Plan(
                        draws,
                        torch.tensor([self._learning_rate(step) for step in steps]),
                        torch.tensor([self._forgetting(step) for step in steps]),
                    )
                )
                first += updates
        return plans

    def _learning_rate(self, step: int) -> float:
        config = self.config
        warmup = config.warmup * self.steps
        if step < warmup:
            return config.learning_rate * (step + 1) / (warmup + 1)
        if config.schedule == "exponential":
            return config.learning_rate * config.decay ** (step // self.per_epoch)
        if config.schedule == "cosine":
            done = (step - warmup) / max(self.steps - warmup, 1)
            return config.learning_rate * 0.5 * (1 + math.cos(math.pi * done))
        return config.learning_rate

    def _forgetting(self, step: int) -> float:
        """Weight of the newest value in the running mean; larger at the start of training."""
        return 1 - min(self.config.averaging, (2 + step) / (11 + step))

    def _metrics(self, updates: int) -> dict[str, float]:
        """Means over the updates of this epoch so far; an SsdptError if the loss is not finite."""
        totals = self.updates.totals.tolist()
        metrics = {
            name: total / updates for name, total in zip(self.updates.metrics, totals, strict=True)
        }
        if not math.isfinite(metrics["loss"]):
            raise SsdptError(
                f"{self.settings.name}: the loss is no longer a finite number at update "
                f"{self.step}; use a lower learning rate, another seed or precision float32"
            )
        return metrics

    def save(self) -> None:
        """Write a checkpoint."""
        save_checkpoint(
            self.settings.folder,
            Checkpoint(self.settings.identity, self.step, self.batch, self.updates.saved()),
        )

    def restore(self, saved: Checkpoint) -> None:
        """Restore a checkpoint."""
        try:
            self.updates.load(saved.tensors)
        except (KeyError, RuntimeError) as error:
            raise SsdptError(
                f"{self.settings.folder}: the checkpoint is of another network; delete it or fit "
                "without --resume"
            ) from error
        self.step = saved.step
        self.log.keep_before(epoch=self.step // self.per_epoch + 1)

    def _call_after_epoch(self, epoch: int, after_epoch: Callable[[int], None]) -> None:
        """Call `after_epoch` with the network as it would be if training ended here."""
        network, state = self.objective.network, self.updates.flat.state
        current = state.clone()
        if self.updates.average is not None:
            state.copy_(self.updates.average)
        network.eval()
        after_epoch(epoch)
        network.train()
        state.copy_(current)

    def finish(self) -> None:
        """Leave the averaged weights in the network."""
        if self.updates.average is not None:
            self.updates.flat.state.copy_(self.updates.average)


class _Advance(Protocol):
    def __call__(self, steps: float, note: str) -> None: ...


def _note(epoch: int, epochs: int, metrics: dict[str, float], rate: float) -> str:
    shown = " ".join(f"{name} {value:.3f}" for name, value in metrics.items())
    return f"epoch {epoch + 1}/{epochs} {shown} {rate:.0f}/s"


def _mixed_seed(seed: int, number: int) -> int:
    """Distinct, well-spread seeds for distinct epochs (63 bits, splitmix64 finaliser)."""
    value = (seed * 0x9E3779B97F4A7C15 + number) & (2**64 - 1)
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
    return (value ^ (value >> 31)) & (2**63 - 1)


def duration(seconds: float) -> str:
    """`45 s`, `3 min`, `2 h 10 min`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
