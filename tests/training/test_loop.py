"""The training loop: the published optimiser, reproducible results, resuming."""

from __future__ import annotations

import json
import math
import re
from itertools import chain

import pytest
import torch
from torch import nn

from ssdpt.common.progress import Reporter
from ssdpt.config.settings import TrainingConfig
from ssdpt.errors import SsdptError
from ssdpt.training.loop import Run, choose_device, duration, train
from ssdpt.training.objective import Objective

CPU = torch.device("cpu")
REHEARSED = 4  # updates that only time the work: three whole batches and the last one


class Fake(Objective):
    """Learns to add four numbers; records its batches."""

    def __init__(self, examples=37, seed=0, stop_at=None, lost_at=None):
        torch.manual_seed(seed)
        self.network = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 1))
        self.inputs = torch.randn(examples, 4, generator=torch.Generator().manual_seed(5))
        self.examples = examples
        self.stop_at, self.lost_at = stop_at, lost_at
        self.batches, self.weights = [], []

    def draw(self, updates, batch, generator):
        return {"noise": 0.1 * torch.randn(updates, batch, 4, generator=generator)}

    def loss(self, batch):
        index = batch["index"]
        self.batches.append(index.tolist())
        self.weights.append([p.detach().clone() for p in self.network.parameters()])
        if len(self.batches) == self.stop_at:
            raise KeyboardInterrupt
        inputs = self.inputs[index]
        wrong = self.network(inputs + batch["noise"])[:, 0] - inputs.sum(1)
        loss = wrong.square().mean()
        if len(self.batches) == self.lost_at:
            loss = loss * math.nan
        return loss, {"accuracy": (wrong.abs() < 1).float().mean()}


class Push(Objective):
    """One weight with a constant gradient."""

    examples = 8

    def __init__(self, gradient=1.0):
        self.network = nn.Linear(1, 1, bias=False)
        nn.init.constant_(self.network.weight, 3.0)
        self.gradient = gradient
        self.seen = []

    def loss(self, batch):
        self.seen.append(self.network.weight.grad.item())
        return self.gradient * self.network.weight.sum(), {}


class MessageCollector(Reporter):
    def __init__(self):
        self.messages = []

    def say(self, message):
        self.messages.append(message)

    warn = say


def config(**changes):
    return TrainingConfig(**{"epochs": 4, "batch_size": 8, "learning_rate": 0.01, **changes})


def run_in(folder, **changes):
    return Run(**{"seed": 0, "device": CPU, "folder": folder, "identity": "x", **changes})


def state(objective):
    return {name: value.clone() for name, value in objective.network.state_dict().items()}


def same(a, b):
    return all(torch.equal(a[name], b[name]) for name in a)


def log_of(folder):
    return [json.loads(line) for line in (folder / "training.jsonl").read_text().splitlines()]


class TestOrder:
    def test_every_example_once_an_epoch_in_a_fresh_order(self, tmp_path):
        objective = Fake()
        train(objective, config(), run_in(tmp_path))
        batches = objective.batches[REHEARSED:]
        epochs = [list(chain(*batches[start : start + 5])) for start in range(0, 20, 5)]
        assert all(sorted(epoch) == list(range(37)) for epoch in epochs)
        assert epochs[0] != epochs[1]

    @pytest.mark.parametrize(("examples", "sizes"), [(33, [8, 8, 8, 9]), (34, [8] * 4 + [2])])
    def test_no_batch_of_one(self, tmp_path, examples, sizes):
        """BatchNorm cannot learn from a single example."""
        objective = Fake(examples)
        train(objective, config(epochs=1), run_in(tmp_path))
        assert [len(batch) for batch in objective.batches[REHEARSED:]] == sizes

    def test_one_seed_one_result(self, tmp_path):
        results = []
        for number, seed in enumerate([0, 0, 1]):
            objective = Fake()
            train(objective, config(), run_in(tmp_path / str(number), seed=seed))
            results.append(state(objective))
        assert same(results[0], results[1])
        assert not same(results[0], results[2])


class TestOptimiser:
    def test_adamw_decays_the_weights(self, tmp_path):
        objective = Push(gradient=0.0)
        train(objective, config(weight_decay=0.1, schedule="constant"), run_in(tmp_path))
        assert objective.network.weight.item() == pytest.approx(3 * (1 - 0.01 * 0.1) ** 4)

    def test_adam_does_not(self, tmp_path):
        objective = Push(gradient=0.0)
        train(objective, config(optimiser="adam", weight_decay=0), run_in(tmp_path))
        assert objective.network.weight.item() == 3.0

    def test_the_last_epoch_is_the_result(self, tmp_path):
        """Nothing is chosen: all 4 × 2 updates of 0.01 (Adam under a constant push) are kept."""
        objective = Push()
        settings = config(batch_size=4, weight_decay=0, schedule="constant")
        train(objective, settings, run_in(tmp_path))
        assert objective.network.weight.item() == pytest.approx(3 - 8 * 0.01, abs=1e-5)

    @pytest.mark.parametrize(
        ("changes", "rates"),
        [
            ({}, [0.01, 0.0095, 0.009025, 0.00857375]),
            ({"schedule": "constant"}, [0.01] * 4),
            ({"schedule": "constant", "warmup": 0.5}, [0.01 / 3, 0.02 / 3, 0.01, 0.01]),
            (
                {"schedule": "cosine"},
                [0.005 * (1 + math.cos(math.pi * done / 4)) for done in range(4)],
            ),
        ],
    )
    def test_learning_rate_schedules(self, tmp_path, changes, rates):
        train(Push(), config(**changes), run_in(tmp_path))
        assert [line["learning_rate"] for line in log_of(tmp_path)] == pytest.approx(rates)

    def test_gradients_are_zeroed_after_every_update(self, tmp_path):
        objective = Push()
        train(objective, config(batch_size=2), run_in(tmp_path))
        assert objective.seen[3:] == [0.0] * 16

    def test_carried_gradients_are_zeroed_once_an_epoch_and_clipped_after_the_step(self, tmp_path):
        objective = Push()
        settings = config(epochs=2, batch_size=2, carry_gradients=True, clip_norm=1.5)
        train(objective, settings, run_in(tmp_path))
        assert objective.seen[3:] == pytest.approx([0.0, 1.0, 1.5, 1.5] * 2)

    def test_the_gradient_norm_is_clipped(self, tmp_path, monkeypatch):
        norms = []
        step = torch.optim.AdamW.step

        def watched(self, *arguments):
            norms.append(self.param_groups[0]["params"][0].grad.norm().item())
            return step(self, *arguments)

        monkeypatch.setattr(torch.optim.AdamW, "step", watched)
        train(Push(gradient=9.0), config(clip_norm=0.5), run_in(tmp_path / "a"))
        train(Push(gradient=9.0), config(clip_norm=None), run_in(tmp_path / "b"))
        # Each run steps once with no gradient, to have its memory allocated, and rehearses once.
        assert norms == pytest.approx([0, *[0.5] * 5, 0, *[9.0] * 5])

    def test_the_average_of_the_weights(self, tmp_path):
        objective = Fake()
        train(objective, config(averaging=0.9), run_in(tmp_path))
        after = [
            w[2] for w in objective.weights[REHEARSED + 1 :]
        ]  # the linear layer's, after each update
        mean = objective.weights[REHEARSED][2].clone()
        plain = Fake()
        train(plain, config(), run_in(tmp_path / "plain"))
        for step, weight in enumerate([*after, plain.network[1].weight.detach()], start=1):
            mean.lerp_(weight, 1 - min(0.9, (1 + step) / (10 + step)))
        torch.testing.assert_close(objective.network[1].weight.detach(), mean)
        assert not torch.equal(mean, plain.network[1].weight)


class TestResume:
    @pytest.mark.parametrize("averaging", [0.0, 0.9])
    @pytest.mark.parametrize("stop_at", [6, 9, 10, 17, 23])
    def test_a_resumed_training_equals_an_uninterrupted_one(self, tmp_path, stop_at, averaging):
        settings = config(averaging=averaging, checkpoint_seconds=1e-9)
        whole = Fake()
        train(whole, settings, run_in(tmp_path / "whole"))
        with pytest.raises(KeyboardInterrupt):
            train(Fake(stop_at=stop_at), settings, run_in(tmp_path / "cut"))
        resumed = Fake(seed=9)  # whatever it starts with is replaced
        collector = MessageCollector()
        train(resumed, settings, run_in(tmp_path / "cut", resume=True), collector)
        assert same(state(resumed), state(whole))
        assert f"from update {stop_at - 5} of 20" in collector.messages[0]
        cut, straight = log_of(tmp_path / "cut"), log_of(tmp_path / "whole")
        assert [line["epoch"] for line in cut] == [1, 2, 3, 4]
        assert [line["loss"] for line in cut] == [line["loss"] for line in straight]

    def test_resuming_with_another_order_of_the_parameters(self, tmp_path):
        """As on a GPU, whose kernels need another order."""

        class Turned(Fake):
            def ordered_parameters(self):
                return super().ordered_parameters()[::-1]

        settings = config(averaging=0.9, checkpoint_seconds=1e-9)
        whole = Fake()
        train(whole, settings, run_in(tmp_path / "whole"))
        with pytest.raises(KeyboardInterrupt):
            train(Turned(stop_at=13), settings, run_in(tmp_path / "cut"))
        resumed = Fake(seed=9)
        train(resumed, settings, run_in(tmp_path / "cut", resume=True))
        for name, value in state(whole).items():
            torch.testing.assert_close(state(resumed)[name], value)

    def test_a_checkpoint_of_another_network_is_rejected(self, tmp_path):
        train(Fake(), config(), run_in(tmp_path))
        with pytest.raises(SsdptError, match="of another network"):
            train(Push(), config(), run_in(tmp_path, resume=True))

    def test_a_finished_training_is_not_done_again(self, tmp_path):
        first = Fake()
        train(first, config(averaging=0.9), run_in(tmp_path))
        again = Fake(seed=3)
        train(again, config(averaging=0.9), run_in(tmp_path, resume=True))
        assert again.batches == []
        assert same(state(first), state(again))
        assert len(log_of(tmp_path)) == 4

    def test_without_resume_it_starts_over(self, tmp_path):
        for _ in range(2):
            objective = Fake()
            train(objective, config(), run_in(tmp_path))
        assert len(objective.batches) == REHEARSED + 20
        assert [line["epoch"] for line in log_of(tmp_path)] == [1, 2, 3, 4]

    def test_nothing_to_resume_is_a_fresh_start(self, tmp_path):
        objective = Fake()
        train(objective, config(), run_in(tmp_path, resume=True))
        assert len(log_of(tmp_path)) == 4

    def test_carried_gradients_are_saved_between_epochs_only(self, tmp_path):
        settings = config(carry_gradients=True, checkpoint_seconds=1e-9)
        whole = Fake()
        train(whole, settings, run_in(tmp_path / "whole"))
        with pytest.raises(KeyboardInterrupt):
            train(Fake(stop_at=12), settings, run_in(tmp_path / "cut"))
        resumed, collector = Fake(), MessageCollector()
        train(resumed, settings, run_in(tmp_path / "cut", resume=True), collector)
        assert "from update 5 of 20" in collector.messages[0]
        assert same(state(resumed), state(whole))


class Hungry(Fake):
    """Runs out of memory for batches larger than `most`."""

    def __init__(self, most):
        super().__init__()
        self.most = most

    def loss(self, batch):
        if len(batch["index"]) > self.most:
            raise torch.OutOfMemoryError
        return super().loss(batch)


class TestMemory:
    def test_a_smaller_batch_is_used_and_reported(self, tmp_path):
        objective, collector = Hungry(most=3), MessageCollector()
        train(objective, config(epochs=1), run_in(tmp_path), collector)
        warnings = [text for text in collector.messages if "too little memory" in text]
        assert warnings == [
            "too little memory on cpu for batches of 8: using 4",
            "too little memory on cpu for batches of 4: using 2",
        ]
        sizes = [len(batch) for batch in objective.batches[-18:]]
        assert sizes == [2] * 17 + [3]  # 37 examples, none of them alone

    def test_a_resumed_run_keeps_the_smaller_batch(self, tmp_path):
        settings = config(checkpoint_seconds=1e-9)
        whole = Hungry(most=4)
        train(whole, settings, run_in(tmp_path / "whole"))
        cut = Hungry(most=4)
        cut.stop_at = 20
        with pytest.raises(KeyboardInterrupt):
            train(cut, settings, run_in(tmp_path / "cut"))
        resumed = Hungry(most=4)
        train(resumed, settings, run_in(tmp_path / "cut", resume=True))
        assert same(state(resumed), state(whole))

    def test_a_resumed_run_that_would_need_smaller_batches_is_rejected(self, tmp_path):
        settings = config(checkpoint_seconds=1e-9)
        with pytest.raises(KeyboardInterrupt):
            train(Fake(stop_at=20), settings, run_in(tmp_path))
        with pytest.raises(SsdptError, match="made with batches of 8, for which cpu has too"):
            train(Hungry(most=4), settings, run_in(tmp_path, resume=True))

    def test_too_little_memory_is_an_error(self, tmp_path):
        with pytest.raises(SsdptError, match="too little memory on cpu even for"):
            train(Hungry(most=0), config(), run_in(tmp_path))


def test_a_loss_that_is_not_finite_is_an_error(tmp_path):
    with pytest.raises(SsdptError, match="no longer a finite number") as caught:
        train(Fake(lost_at=7), config(), run_in(tmp_path, name="fan"))
    assert str(caught.value).startswith("fan: ")
    assert "\n" not in str(caught.value)


def test_the_estimate_comes_first_and_changes_nothing(tmp_path):
    collector, objective = MessageCollector(), Fake()
    before = state(objective)
    seen = []
    objective.network.register_forward_pre_hook(lambda *_: seen.append(state(objective)))
    train(objective, config(), run_in(tmp_path, models=3), collector)
    (message,) = collector.messages
    assert re.fullmatch(
        r"estimated time \d+ s for 3 models: 4 epochs of 37 examples on cpu", message
    )
    assert same(seen[REHEARSED], before)  # the first real update starts from the untouched network


def test_the_log_has_a_line_per_epoch(tmp_path):
    train(Fake(), config(), run_in(tmp_path))
    lines = log_of(tmp_path)
    assert [line["epoch"] for line in lines] == [1, 2, 3, 4]
    assert set(lines[0]) == {
        *("epoch", "loss", "accuracy", "learning_rate", "seconds", "examples_per_second"),
    }
    assert lines[-1]["loss"] < lines[0]["loss"]


def test_progress_is_reported(tmp_path):
    class Counting(Reporter):
        steps, notes = 0.0, ()

        def task(self, description, total=None):
            self.total = total
            return super().task(description, total)

    reporter = Counting()
    with pytest.MonkeyPatch.context() as patch:
        from ssdpt.common.progress import Task

        def advance(self, steps=1, note=""):
            reporter.steps += steps
            reporter.notes = (*reporter.notes, note)

        patch.setattr(Task, "advance", advance)
        train(Fake(), config(), run_in(tmp_path), reporter)
    assert reporter.steps == reporter.total == 20
    assert reporter.notes[-1].startswith("epoch 4/4 loss ")


def test_devices():
    assert choose_device("cpu") == CPU
    assert choose_device("auto").type in {"cpu", "cuda"}
    for name in ("toaster", "meta"):
        with pytest.raises(SsdptError, match="device"):
            choose_device(name)
    if not torch.cuda.is_available():
        with pytest.raises(SsdptError, match="no CUDA GPU"):
            choose_device("cuda")


def test_durations_as_text():
    assert [duration(s) for s in (0.1, 45, 200, 7800)] == ["1 s", "45 s", "3 min", "2 h 10 min"]
