"""The updates of a training: run directly on a CPU, as a captured CUDA graph on a GPU.

Everything that changes from update to update (examples, random choices, rates) is drawn for a whole
epoch in advance and stored on the device; each update reads its row. So the whole update, from
cutting segments to the optimiser's step, is the same work on the same memory every time, which a
GPU can replay without launching each kernel.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch
from torch import Tensor

from ssdpt.config.settings import TrainingConfig
from ssdpt.nn.streams import CAPTURING, side_stream
from ssdpt.training.flat import FlatParameters
from ssdpt.training.objective import Objective

_TIMED_UPDATES = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """Several updates of one batch size, drawn in advance."""

    draws: dict[str, Tensor]  # (updates, …) each; "index" (updates, batch) among them
    learning_rate: Tensor  # (updates,)
    forgetting: Tensor  # (updates,): weight of the newest value in the running mean

    def __len__(self) -> int:
        return len(self.learning_rate)

    @property
    def batch(self) -> int:
        return self.draws["index"].shape[1]

    def tensors(self) -> list[Tensor]:
        return [*self.draws.values(), self.learning_rate, self.forgetting]

    def to(self, device: torch.device) -> Plan:
        """The same plan on another device."""
        draws = {name: value.to(device) for name, value in self.draws.items()}
        return Plan(draws, self.learning_rate.to(device), self.forgetting.to(device))


class Updates:
    """The state of one training on its device, and its updates."""

    def __init__(self, objective: Objective, config: TrainingConfig, device: torch.device) -> None:
        self.objective, self.config, self.device = objective, config, device
        self.flat = FlatParameters(objective.network, objective.ordered_parameters())
        objective.bind(self.flat)
        on_gpu = device.type == "cuda"
        kind = torch.optim.AdamW if config.optimiser == "adamw" else torch.optim.Adam
        self.optimiser = kind(
            self.flat.pieces(),
            torch.tensor(config.learning_rate, device=device) if on_gpu else config.learning_rate,
            weight_decay=config.weight_decay,
            fused=True,
            capturable=on_gpu,
        )
        self.average = self.flat.state.clone() if config.averaging else None
        self.metrics: tuple[str, ...] = ()  # names of the totals
        self.totals = torch.zeros(0, device=device)
        self._create_optimiser_state()
        self._plan: Plan | None = None
        self._position = torch.zeros(1, dtype=torch.long, device=device)
        self._captured: dict[int, tuple[torch.cuda.CUDAGraph, Plan]] = {}

    def begin(self, plan: Plan, position: int) -> None:
        """Continue with `plan` from its update `position`."""
        self._plan = plan.to(self.device)
        if plan.batch in self._captured:
            _, captured = self._captured[plan.batch]
            for target, source in zip(captured.tensors(), self._plan.tensors(), strict=True):
                target.copy_(source)
        self._position.fill_(position)

    def update(self) -> None:
        """Make the next update of the plan."""
        assert self._plan is not None
        if self._plan.batch in self._captured:
            self._captured[self._plan.batch][0].replay()
        else:
            self._update(self._plan)

    def rehearse(self, plan: Plan) -> float:
        """Make a few updates and undo them; return the seconds per update."""
        before = {name: value.clone() for name, value in self.tensors().items()}
        seconds = []
        try:
            self.begin(plan, 0)
            if self.device.type == "cuda":
                self._capture(plan)
            for _ in range(min(_TIMED_UPDATES, len(plan))):
                begun = time.perf_counter()
                self.update()
                self.totals.tolist()  # waits for the device
                seconds.append(time.perf_counter() - begun)
        finally:
            self.restore(before)
            self.flat.gradients.zero_()
        return min(seconds)

    def forget(self) -> None:
        """Delete the captured graphs and free their memory."""
        self._captured.clear()
        self._plan = None
        torch.cuda.empty_cache()

    def tensors(self) -> dict[str, Tensor]:
        """All tensors that change in training, not copied."""
        tensors = {"state": self.flat.state}
        for number, state in enumerate(self.optimiser.state.values()):
            tensors |= {f"optimiser/{number}/{name}": value for name, value in state.items()}
        if self.metrics:
            tensors["totals"] = self.totals
        if self.average is not None:
            tensors["average"] = self.average
        return tensors | self._counters()

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Restore the values of `tensors`; missing ones become zero."""
        for name, value in self.tensors().items():
            if name in tensors:
                value.copy_(tensors[name])
            else:
                value.zero_()

    def saved(self) -> dict[str, Tensor]:
        """The state for a checkpoint, by parameter name: their order depends on the device."""
        vectors = {"state": self.flat.state, **self._moments()}
        if self.average is not None:
            vectors["average"] = self.average
        tensors = {
            f"{kind}/{name}": part
            for kind, vector in vectors.items()
            for name, part in self.flat.by_name(vector).items()
        }
        steps = next(iter(self.optimiser.state.values()))["step"]
        if self.metrics:
            tensors["totals"] = self.totals
        return tensors | {"steps": steps} | self._counters()

    def load(self, tensors: dict[str, Tensor]) -> None:
        """Restore the result of `saved`; KeyError or RuntimeError if it is of another network."""
        expected = self.saved()
        moments = self._moments()
        for kind, vector in moments.items():
            for name, part in self.flat.by_name(vector).items():
                part.copy_(tensors[f"{kind}/{name}"])
        for name, value in expected.items():
            if name.split("/")[0] not in {*moments, "steps"}:
                value.copy_(tensors[name])
        start = 0
        for piece, state in self.optimiser.state.items():
            end = start + len(piece)
            for kind, vector in moments.items():
                state[kind].copy_(vector[start:end])
            state["step"].copy_(tensors["steps"])
            start = end

    def _moments(self) -> dict[str, Tensor]:
        """Copies of the optimiser's running means, (parameters,) each."""
        states = list(self.optimiser.state.values())
        return {
            kind: torch.cat([state[kind] for state in states]) for kind in ("exp_avg", "exp_avg_sq")
        }

    def _counters(self) -> dict[str, Tensor]:
        counters = [item for item in self.objective.network.buffers() if item.dtype == torch.long]
        return {f"counter/{number}": item for number, item in enumerate(counters)}

    def _create_optimiser_state(self) -> None:
        """Make the optimiser allocate the state that every later update uses."""
        before = self.flat.state.clone()
        self.optimiser.step()
        self.flat.state.copy_(before)
        for state in self.optimiser.state.values():
            for value in state.values():
                value.zero_()

    @torch.no_grad()
    def _update(self, plan: Plan) -> None:
        batch = {
            name: values.index_select(0, self._position)[0] for name, values in plan.draws.items()
        }
        rate = plan.learning_rate.index_select(0, self._position)[0]
        group = self.optimiser.param_groups[0]
        if self.device.type == "cuda":
            group["lr"].copy_(rate)
        else:
            group["lr"] = rate.item()
        carry = self.config.carry_gradients
        if not carry:
            self.flat.gradients.zero_()
        with torch.enable_grad():
            metrics = self.objective.add_gradients(batch)
        if not carry:
            self._clip()
        self.optimiser.step()
        if carry:
            self._clip()
        if self.average is not None:
            self.average.lerp_(self.flat.state, plan.forgetting.index_select(0, self._position)[0])
        if not self.metrics:
            self.metrics = tuple(metrics)
            self.totals = torch.zeros(len(metrics), device=self.device)
        self.totals += torch.stack([metrics[name].detach().float() for name in self.metrics])
        self._position += 1

    def _clip(self) -> None:
        if self.config.clip_norm is not None:
            norm = self.flat.gradients.norm()
            self.flat.gradients.mul_((self.config.clip_norm / (norm + 1e-6)).clamp(max=1.0))

    def _capture(self, plan: Plan) -> None:
        """Capture an update that reads from its own copy of the plan."""
        captured = Plan(
            {name: value.clone() for name, value in plan.to(self.device).draws.items()},
            plan.learning_rate.to(self.device, copy=True),
            plan.forgetting.to(self.device, copy=True),
        )
        side = side_stream(self.device, "capture")
        with CAPTURING:
            side.wait_stream(torch.cuda.current_stream(self.device))
            with torch.cuda.stream(side):
                for _ in range(_TIMED_UPDATES):  # compiles kernels, fills caches
                    self._position.zero_()
                    self._update(captured)
            torch.cuda.current_stream(self.device).wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=side, capture_error_mode="thread_local"):
                self._update(captured)
        self._position.zero_()
        self._captured[plan.batch] = (graph, captured)
