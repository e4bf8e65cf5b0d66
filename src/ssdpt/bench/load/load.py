"""The service under load: latencies, shedding, CPU, memory, file handles, start and stop."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
import torch

from ssdpt.bench.load.api_requests import Answer, ApiRequests
from ssdpt.bench.load.plant import LoadPlant, build_plant
from ssdpt.bench.load.service_process import ServiceProcess
from ssdpt.bench.load.slope import slope
from ssdpt.bench.load.usage import Usage
from ssdpt.bench.load.verdicts import Verdicts
from ssdpt.bench.machine import describe
from ssdpt.common.progress import Reporter, Task
from ssdpt.config.tree import Config
from ssdpt.errors import SsdptError

_WARM = 20.0  # seconds of the machines until a whole clip of each is scored
_LONGEST_WARM = 120.0  # seconds of ours
_SAMPLE_EVERY = 1.0  # seconds
_LONGEST_RECOVERY = 300.0  # seconds after load has fallen
_LATE = 2.0  # seconds from the last sample to the verdict
# Hours of the machines' clock that are left out of slopes: the last minutes of sound fill their
# buffers, and after the first hour every machine learns once more, for which libraries are loaded.
_SETTLED_HOURS = 2.0


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How much load, and for how long."""

    machines: int
    clients: int  # of the live stream
    requests_per_second: float
    seconds: float
    speed: float = 1.0  # of the machines' clock
    then_machines: int | None = None  # left after that time, to see whether shedding ends
    shared: Config | None = None  # settings of one model for all; None: each has its own


@dataclass(frozen=True, slots=True)
class _Sample:
    seconds: float  # since the measurement began
    machine_hours: float  # likewise, by the machines' clock
    usage: Usage


def bench_load(options: LoadOptions, reporter: Reporter) -> dict[str, Any]:
    """Start the service with simulated machines, load it, and measure it from outside."""
    with tempfile.TemporaryDirectory(prefix="ssdpt-") as place:
        folder = Path(place)
        plant = build_plant(folder, options.machines, options.speed, options.shared, reporter)
        service = ServiceProcess(plant.config, plant.data, folder / "serve.log")
        with service:
            measured = asyncio.run(_measure(service, plant, options, reporter))
    return {
        "machine": {**describe(torch.device("cpu")), "cores": len(os.sched_getaffinity(0))},
        "machines": options.machines,
        "model": "one each" if options.shared is None else f"shared, {options.shared.system}",
        "clients": options.clients,
        "requests_per_second": options.requests_per_second,
        "seconds": options.seconds,
        "speed": options.speed,
        "start_seconds": service.start_seconds,
        **measured,
        "stop_seconds": service.stop_seconds,
    }


async def _measure(
    service: ServiceProcess, plant: LoadPlant, options: LoadOptions, reporter: Reporter
) -> dict[str, Any]:
    verdicts = Verdicts(service.address, options.speed)
    verdicts.add_service(await asyncio.to_thread(_status, service.address))
    following = asyncio.create_task(verdicts.follow())
    requests = ApiRequests(service.address, plant.ids)
    samples: list[_Sample] = []
    readers: dict[str, Any] = {}
    try:
        async with _stream_readers(service.address, options.clients, readers):
            await _warm_up(verdicts, options, following)
            verdicts.reset()
            asking = asyncio.create_task(requests.run(options.requests_per_second, options.seconds))
            with reporter.task("load", total=options.seconds) as task:
                await _sample(service, verdicts, options.seconds, samples, task)
            await asking
            _check_following(following)
            delays, answers = np.array(verdicts.delays), list(requests.answers)
            taken = {"readings": verdicts.readings, "scored": verdicts.scored}
            recovery = await _recover(plant, verdicts, options, reporter)
    finally:
        following.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await following
    elapsed = samples[-1].seconds - samples[0].seconds
    offered = options.machines * options.speed * elapsed  # seconds of sound
    return {
        "api_ms": {name: 1000 * value for name, value in _quantiles(_times(answers)).items()},
        "api_ms_p99_by_route": _by_route(answers),
        "api_failed": sum(answer.status != 200 for answer in answers),
        # With a clock that is sped up, the times of samples are not ours: no delay is known.
        "verdict_seconds": _quantiles(delays) if len(delays) else None,
        "seconds_read": taken["readings"] / offered,
        "seconds_scored": taken["scored"] / offered,
        "verdicts_later_than_2_s": int(np.sum(delays > _LATE)),
        "shedding": ", ".join(f"degree {n} from {at:.0f} s" for at, n in verdicts.shedding),
        **recovery,
        "live_clients": readers,
        **_used(samples),
    }


async def _warm_up(verdicts: Verdicts, options: LoadOptions, following: asyncio.Task[None]) -> None:
    """Until every machine is read, and a whole clip of each could be scored."""
    begun = time.monotonic()
    while time.monotonic() - begun < _LONGEST_WARM:
        _check_following(following)
        warm = time.monotonic() - begun >= max(_WARM / options.speed, 2.0)
        if warm and len(verdicts.machines) == options.machines:
            return
        await asyncio.sleep(0.1)


def _check_following(following: asyncio.Task[None]) -> None:
    """Whoever follows the live stream does so until the end."""
    if following.done():
        following.result()  # raises what has ended it
        raise SsdptError("the service has ended the live stream of a client that reads at once")


async def _sample(
    service: ServiceProcess, verdicts: Verdicts, seconds: float, samples: list[_Sample], task: Task
) -> None:
    """Measure the process every second."""
    begun, clock_begun = time.monotonic(), verdicts.machine_time
    while True:
        passed = time.monotonic() - begun
        machine_hours = (verdicts.machine_time - clock_begun) / 3600
        samples.append(_Sample(passed, machine_hours, service.usage))
        if passed >= seconds:
            return
        await asyncio.sleep(min(_SAMPLE_EVERY, max(0.05, seconds - passed)))
        task.advance(time.monotonic() - begun - passed)


async def _recover(
    plant: LoadPlant, verdicts: Verdicts, options: LoadOptions, reporter: Reporter
) -> dict[str, Any]:
    """Take machines away, and see how long shedding goes on."""
    if options.then_machines is None:
        return {}
    plant.write_config(options.then_machines)
    begun = time.monotonic()
    with reporter.task("fewer machines", total=None):
        while verdicts.degree and time.monotonic() - begun < _LONGEST_RECOVERY:
            await asyncio.sleep(0.1)
    recovered = None if verdicts.degree else time.monotonic() - begun
    return {"then_machines": options.then_machines, "recovered_after_seconds": recovered}


@contextlib.asynccontextmanager
async def _stream_readers(
    address: str, clients: int, result: dict[str, Any]
) -> AsyncIterator[None]:
    """Clients of the live stream in a process of their own; `result` is filled at the end."""
    if not clients:
        yield
        return
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "ssdpt.bench.load.stream_readers", address, str(clients)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield
    finally:
        output, _ = await process.communicate(b"")  # its input ends
        if output:
            result.update(json.loads(output))


def _status(address: str) -> dict[str, Any]:
    with urlopen(f"{address}/v1/status", timeout=60) as reply:
        status: dict[str, Any] = json.loads(reply.read())
        return status


def _used(samples: Sequence[_Sample]) -> dict[str, Any]:
    """What the process used."""
    first, last = samples[0], samples[-1]
    return {
        "cores_used": (last.usage.cpu_seconds - first.usage.cpu_seconds)
        / (last.seconds - first.seconds),
        "memory_mb": {"first": first.usage.memory_mb, "last": last.usage.memory_mb},
        "files": {"first": first.usage.files, "last": last.usage.files},
        "threads": last.usage.threads,
        "growth": _growth(samples),
    }


def _growth(samples: Sequence[_Sample]) -> dict[str, Any] | None:
    """By hour of the machines' clock, once all has settled; None where the run ends before."""
    settled = [one for one in samples if one.machine_hours >= _SETTLED_HOURS]
    hours = [one.machine_hours for one in settled]
    memory = slope(hours, [one.usage.memory_mb for one in settled])
    files = slope(hours, [float(one.usage.files) for one in settled])
    if memory is None or files is None:
        return None
    return {
        "from_hour": hours[0],
        "to_hour": hours[-1],
        "memory_mb": {"first": settled[0].usage.memory_mb, "last": settled[-1].usage.memory_mb},
        "memory_mb_per_hour": asdict(memory),
        "files_per_hour": asdict(files),
    }


def _times(answers: Sequence[Answer]) -> np.ndarray:
    return np.array([answer.seconds for answer in answers])


def _by_route(answers: Sequence[Answer]) -> dict[str, float]:
    routes = sorted({answer.route for answer in answers})
    by_route = {route: [one for one in answers if one.route == route] for route in routes}
    return {
        route: 1000 * float(np.quantile(_times(group), 0.99)) for route, group in by_route.items()
    }


def _quantiles(values: np.ndarray) -> dict[str, float]:
    if not len(values):
        return {}
    shares = {"p50": 0.5, "p99": 0.99, "max": 1.0}
    return {name: float(np.quantile(values, share)) for name, share in shares.items()}
