"""One training loop for every network: seeded, checkpointed, resumable, watched.

Every random draw of update n comes from a generator seeded by (seed, n), so that a run resumed
from a checkpoint draws what the uninterrupted run would have drawn.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor, nn

from ssdpt.config import TrainingConfig
from ssdpt.errors import SsdptError
from ssdpt.progress import SILENT, Reporter
from ssdpt.training.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from ssdpt.training.log import TrainingLog

_REPORT_SECONDS = 0.5
_TIMED_UPDATES = 3


class Objective(Protocol):
    """What is learnt: a network, examples by number, and the loss of a batch of them."""

    @property
    def network(self) -> nn.Module: ...

    @property
    def examples(self) -> int: ...

    def loss(self, index: Tensor, generator: torch.Generator) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss to minimise, and further figures to show (means over the batch)."""
        ...


@dataclass(frozen=True, slots=True)
class Run:
    """Where and how one training runs, apart from what is learnt."""

    seed: int
    device: torch.device
    folder: Path  # checkpoint and log go here
    identity: str  # changes with the settings or the recordings; guards against a wrong resume
    resume: bool = False
    name: str = "training"  # shown with the progress bar
    models: int = 1  # how many such trainings the whole fit takes, for the time estimate


def choose_device(name: str) -> torch.device:
    """`auto`, `cpu`, `cuda` or `cuda:1` to a device that is there."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise SsdptError(f"'{name}' is not a device: use auto, cpu or cuda") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise SsdptError("no CUDA GPU was found; use --device cpu or --device auto")
    if device.type not in {"cpu", "cuda"}:
        raise SsdptError(f"device '{name}' is not supported: use auto, cpu or cuda")
    return device


def train(
    objective: Objective, config: TrainingConfig, run: Run, reporter: Reporter = SILENT
) -> None:
    """Train `objective.network` in place; afterwards it holds the final (averaged) weights."""
    network = objective.network.to(run.device).train()
    trainer = _Trainer(objective, config, run)
    if run.resume and (saved := load_checkpoint(run.folder, run.identity)):
        trainer.restore(saved)
        if trainer.step < trainer.steps:
            reporter.say(f"{run.name}: going on from update {trainer.step} of {trainer.steps}")
    else:
        trainer.announce(reporter)
    with reporter.task(run.name, total=trainer.steps) as task:
        task.advance(trainer.step)
        trainer.run_all(task.advance)
    trainer.finish()
    network.eval()


class _Trainer:
    """The state of one training: weights, optimiser, running mean, figures of this epoch."""

    def __init__(self, objective: Objective, config: TrainingConfig, run: Run) -> None:
        self.objective, self.config, self.settings = objective, config, run
        self.network = objective.network
        # A last batch of a single example joins the one before it: BatchNorm needs two.
        self.per_epoch = max(1, math.ceil((objective.examples - 1) / config.batch_size))
        self.steps = config.epochs * self.per_epoch
        self.step = 0
        optimiser = torch.optim.AdamW if config.optimiser == "adamw" else torch.optim.Adam
        self.optimiser = optimiser(
            self.network.parameters(), config.learning_rate, weight_decay=config.weight_decay
        )
        self.average = (
            {name: value.clone() for name, value in self.network.state_dict().items()}
            if config.averaging
            else {}
        )
        self.totals: dict[str, Tensor] = {}
        self.log = TrainingLog(run.folder)

    def announce(self, reporter: Reporter) -> None:
        """Time a few updates, put everything back as it was, and say how long it will take."""
        before = {name: value.clone() for name, value in self.network.state_dict().items()}
        order = torch.arange(min(self.config.batch_size, self.objective.examples))
        seconds = []
        for _ in range(_TIMED_UPDATES):
            begun = time.perf_counter()
            loss, _ = self.objective.loss(order.to(self.settings.device), self._generator(0))
            loss.backward()  # type: ignore[no-untyped-call]
            loss.item()  # waits for the device
            seconds.append(time.perf_counter() - begun)
        self.network.load_state_dict(before)
        self.network.zero_grad(set_to_none=True)
        total = min(seconds) * self.steps * self.settings.models
        models = f" for {self.settings.models} models" if self.settings.models > 1 else ""
        reporter.say(
            f"estimated time {duration(total)}{models}: {self.config.epochs} epochs of "
            f"{self.objective.examples} examples on {self.settings.device}"
        )

    def run_all(self, advance: _Advance) -> None:
        """Every update that is still to be made."""
        saved = shown = time.monotonic()
        epoch_began, epoch_step, shown_step = time.monotonic(), self.step, self.step
        while self.step < self.steps:
            epoch, within = divmod(self.step, self.per_epoch)
            if within == 0:
                epoch_began, epoch_step = time.monotonic(), self.step
            self._update(epoch, within)
            end_of_epoch = within + 1 == self.per_epoch
            now = time.monotonic()
            if end_of_epoch or now - shown > _REPORT_SECONDS:
                figures = self._figures(within + 1)
                made = (self.step - epoch_step) * self.config.batch_size
                rate = made / max(now - epoch_began, 1e-9)  # examples a second
                note = _note(epoch, self.config.epochs, figures, rate)
                advance(self.step - shown_step, note)
                shown, shown_step = now, self.step
            if end_of_epoch:
                self.log.write(
                    epoch=epoch + 1,
                    **figures,
                    learning_rate=self._learning_rate(self.step - 1),
                    seconds=round(now - epoch_began, 3),
                    examples_per_second=round(rate, 1),
                )
                self.totals = {}
            # Carried gradients are part of the state within an epoch, and zero between epochs.
            safe = end_of_epoch or not self.config.carry_gradients
            if safe and (end_of_epoch or now - saved > self.config.checkpoint_seconds):
                self.save()
                saved = now

    def _update(self, epoch: int, within: int) -> None:
        config = self.config
        if config.carry_gradients and within == 0:
            self.optimiser.zero_grad(set_to_none=True)
        for group in self.optimiser.param_groups:
            group["lr"] = self._learning_rate(self.step)
        loss, figures = self.objective.loss(self._batch(epoch, within), self._generator(self.step))
        loss.backward()  # type: ignore[no-untyped-call]
        if not config.carry_gradients:
            self._clip()
        self.optimiser.step()
        if config.carry_gradients:
            self._clip()
        else:
            self.optimiser.zero_grad(set_to_none=True)
        self.step += 1
        self._average()
        for name, value in {"loss": loss, **figures}.items():
            self.totals[name] = self.totals.get(name, 0.0) + value.detach()

    def _batch(self, epoch: int, within: int) -> Tensor:
        """The examples of one update: a fresh order every epoch."""
        if within == 0 or not hasattr(self, "_order"):
            generator = torch.Generator().manual_seed(_mixed_seed(self.settings.seed, 1, epoch))
            order = torch.randperm(self.objective.examples, generator=generator)
            self._order = order.to(self.settings.device)
        size = self.config.batch_size
        end = None if within + 1 == self.per_epoch else (within + 1) * size
        return self._order[within * size : end]

    def _generator(self, step: int) -> torch.Generator:
        generator = torch.Generator(self.settings.device)
        return generator.manual_seed(_mixed_seed(self.settings.seed, 2, step))

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

    def _clip(self) -> None:
        if self.config.clip_norm is not None:
            nn.utils.clip_grad_norm_(self.network.parameters(), self.config.clip_norm)

    @torch.no_grad()
    def _average(self) -> None:
        """Running mean of the weights; young means forget faster, so that the start fades."""
        if not self.average:
            return
        decay = min(self.config.averaging, (1 + self.step) / (10 + self.step))
        for name, value in self.network.state_dict().items():
            if value.is_floating_point():
                self.average[name].lerp_(value, 1 - decay)
            else:
                self.average[name].copy_(value)

    def _figures(self, updates: int) -> dict[str, float]:
        """Means over the updates of this epoch so far; stops the run when the loss is lost."""
        figures = {name: value.item() / updates for name, value in self.totals.items()}
        if not math.isfinite(figures["loss"]):
            raise SsdptError(
                f"{self.settings.name}: the loss is no longer a finite number at update "
                f"{self.step}; use a lower learning rate or another seed"
            )
        return figures

    def save(self) -> None:
        """Write a checkpoint."""
        save_checkpoint(
            self.settings.folder,
            Checkpoint(
                identity=self.settings.identity,
                step=self.step,
                network=self.network.state_dict(),
                average=self.average,
                optimiser=self.optimiser.state_dict()["state"],
                totals=self.totals,
            ),
        )

    def restore(self, saved: Checkpoint) -> None:
        """Go back to a checkpoint."""
        device = self.settings.device
        self.network.load_state_dict(saved.network)
        self.optimiser.load_state_dict({**self.optimiser.state_dict(), "state": saved.optimiser})
        self.average = {name: value.to(device) for name, value in saved.average.items()}
        self.totals = {name: value.to(device) for name, value in saved.totals.items()}
        self.step = saved.step
        self.log.keep_before(epoch=self.step // self.per_epoch + 1)

    def finish(self) -> None:
        """Leave the averaged weights in the network."""
        if self.average:
            self.network.load_state_dict(self.average)


class _Advance(Protocol):
    def __call__(self, steps: float, note: str) -> None: ...


def _note(epoch: int, epochs: int, figures: dict[str, float], rate: float) -> str:
    shown = " ".join(f"{name} {value:.3f}" for name, value in figures.items())
    return f"epoch {epoch + 1}/{epochs} {shown} {rate:.0f}/s"


def _mixed_seed(seed: int, purpose: int, number: int) -> int:
    """Distinct, well-spread seeds for distinct purposes (63 bits, splitmix64 finaliser)."""
    value = (seed * 0x9E3779B97F4A7C15 + purpose * 0xBF58476D1CE4E5B9 + number) & (2**64 - 1)
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
