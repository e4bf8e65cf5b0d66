"""One update after another: on a CPU as they come, on a GPU as one captured graph.

Everything that changes from update to update (examples, random choices, rates) is drawn for an
epoch ahead and lies on the device; an update takes its row and moves on to the next. So the whole
update, from cutting out segments to the optimiser's step, is the same work on the same memory
every time, which a GPU can repeat without being told each kernel.
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
    """Several updates of one batch size, drawn ahead."""

    draws: dict[str, Tensor]  # (updates, …) each; "index" (updates, batch) among them
    learning_rate: Tensor  # (updates,)
    forgetting: Tensor  # (updates,): weight of the newest in the running mean

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
    """The state of one training on its device, and the way it changes."""

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
        self.figures: tuple[str, ...] = ()  # names of the totals
        self.totals = torch.zeros(0, device=device)
        self._create_optimiser_state()
        self._plan: Plan | None = None
        self._place = torch.zeros(1, dtype=torch.long, device=device)
        self._captured: dict[int, tuple[torch.cuda.CUDAGraph, Plan]] = {}

    def begin(self, plan: Plan, place: int) -> None:
        """Go on with `plan` from its update `place` on."""
        self._plan = plan.to(self.device)
        if plan.batch in self._captured:
            _, room = self._captured[plan.batch]
            for own, fresh in zip(room.tensors(), self._plan.tensors(), strict=True):
                own.copy_(fresh)
        self._place.fill_(place)

    def update(self) -> None:
        """The next update of the plan."""
        assert self._plan is not None
        if self._plan.batch in self._captured:
            self._captured[self._plan.batch][0].replay()
        else:
            self._update(self._plan)

    def rehearse(self, plan: Plan) -> float:
        """Make a few updates, put everything back as it was; the seconds that one takes."""
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
        """Drop what was captured, and the memory it holds."""
        self._captured.clear()
        self._plan = None
        torch.cuda.empty_cache()

    def tensors(self) -> dict[str, Tensor]:
        """All that changes in training, in the memory where it stays."""
        tensors = {"state": self.flat.state}
        for number, state in enumerate(self.optimiser.state.values()):
            tensors |= {f"optimiser/{number}/{name}": value for name, value in state.items()}
        if self.figures:
            tensors["totals"] = self.totals
        if self.average is not None:
            tensors["average"] = self.average
        return tensors | self._counters()

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """The reverse of `tensors`; what was not there yet is zero."""
        for name, value in self.tensors().items():
            if name in tensors:
                value.copy_(tensors[name])
            else:
                value.zero_()

    def saved(self) -> dict[str, Tensor]:
        """The same for a checkpoint: by the parameters' names, whose order differs by device."""
        vectors = {"state": self.flat.state, **self._moments()}
        if self.average is not None:
            vectors["average"] = self.average
        tensors = {
            f"{kind}/{name}": part
            for kind, vector in vectors.items()
            for name, part in self.flat.by_name(vector).items()
        }
        steps = next(iter(self.optimiser.state.values()))["step"]
        if self.figures:
            tensors["totals"] = self.totals
        return tensors | {"steps": steps} | self._counters()

    def load(self, tensors: dict[str, Tensor]) -> None:
        """The reverse of `saved`; KeyError or RuntimeError where they are another network's."""
        expected = self.saved()
        moments = self._moments()
        for kind, vector in moments.items():
            for name, part in self.flat.by_name(vector).items():
                part.copy_(tensors[f"{kind}/{name}"])
        for name, value in expected.items():
            if name.split("/")[0] not in {*moments, "steps"}:
                value.copy_(tensors[name])
        place = 0
        for piece, state in self.optimiser.state.items():
            end = place + len(piece)
            for kind, vector in moments.items():
                state[kind].copy_(vector[place:end])
            state["step"].copy_(tensors["steps"])
            place = end

    def _moments(self) -> dict[str, Tensor]:
        """The optimiser's running means, (parameters,) each: copies."""
        states = list(self.optimiser.state.values())
        return {
            kind: torch.cat([state[kind] for state in states]) for kind in ("exp_avg", "exp_avg_sq")
        }

    def _counters(self) -> dict[str, Tensor]:
        counters = [item for item in self.objective.network.buffers() if item.dtype == torch.long]
        return {f"counter/{number}": item for number, item in enumerate(counters)}

    def _create_optimiser_state(self) -> None:
        """Have the optimiser allocate now what every later update works on."""
        before = self.flat.state.clone()
        self.optimiser.step()
        self.flat.state.copy_(before)
        for state in self.optimiser.state.values():
            for value in state.values():
                value.zero_()

    @torch.no_grad()
    def _update(self, plan: Plan) -> None:
        batch = {
            name: values.index_select(0, self._place)[0] for name, values in plan.draws.items()
        }
        rate = plan.learning_rate.index_select(0, self._place)[0]
        group = self.optimiser.param_groups[0]
        if self.device.type == "cuda":
            group["lr"].copy_(rate)
        else:
            group["lr"] = rate.item()
        carry = self.config.carry_gradients
        if not carry:
            self.flat.gradients.zero_()
        with torch.enable_grad():
            figures = self.objective.add_gradients(batch)
        if not carry:
            self._clip()
        self.optimiser.step()
        if carry:
            self._clip()
        if self.average is not None:
            self.average.lerp_(self.flat.state, plan.forgetting.index_select(0, self._place)[0])
        if not self.figures:
            self.figures = tuple(figures)
            self.totals = torch.zeros(len(figures), device=self.device)
        self.totals += torch.stack([figures[name].detach().float() for name in self.figures])
        self._place += 1

    def _clip(self) -> None:
        if self.config.clip_norm is not None:
            norm = self.flat.gradients.norm()
            self.flat.gradients.mul_((self.config.clip_norm / (norm + 1e-6)).clamp(max=1.0))

    def _capture(self, plan: Plan) -> None:
        """Record an update on its own copy of the plan."""
        room = Plan(
            {name: value.clone() for name, value in plan.to(self.device).draws.items()},
            plan.learning_rate.to(self.device, copy=True),
            plan.forgetting.to(self.device, copy=True),
        )
        side = side_stream(self.device, "capture")
        with CAPTURING:
            side.wait_stream(torch.cuda.current_stream(self.device))
            with torch.cuda.stream(side):
                for _ in range(_TIMED_UPDATES):  # compiles kernels, fills caches
                    self._place.zero_()
                    self._update(room)
            torch.cuda.current_stream(self.device).wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=side, capture_error_mode="thread_local"):
                self._update(room)
        self._place.zero_()
        self._captured[plan.batch] = (graph, room)
