"""Splits a batch into shards for worker threads, each with one torch thread.

On a CPU torch splits every single operation among its threads, which mostly wait for each other if
operations are small. Here a shard passes the whole network on one thread instead. Its size does not
depend on the number of cores, and gradients are added in the order of the shards, so that results
are the same for any number of cores.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from ssdpt.common.threads import workers
from ssdpt.nn.native import being_traced

SHARD = 8  # segments: their activations stay in a core's own cache
_starting = threading.Lock()

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextlib.contextmanager
def threads_for_shards() -> Iterator[None]:
    """Inside this context, shards use all of torch's threads, and other operations use one.

    After each operation torch's threads spin for a while on cores that the shards could use.
    """
    before, _here.shards = (torch.get_num_threads(), _here.shards), _threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        threads, _here.shards = before
        torch.set_num_threads(threads)


def each(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """The results of `work` for every item, in order, on as many threads as torch has.

    Only a few items are in progress at a time, so that `items` may be of any length.
    """
    threads = _threads()
    if threads == 1:
        yield from map(work, items)
        return
    inference, gradient = torch.is_inference_mode_enabled(), torch.is_grad_enabled()

    def in_mode_of_caller(item: Item) -> Result:  # modes are per thread
        with torch.inference_mode(inference), torch.set_grad_enabled(gradient):
            return work(item)

    with _starting:
        pool = _pool(threads, os.getpid())
    waiting = iter(items)
    ahead = deque(pool.submit(in_mode_of_caller, item) for item in islice(waiting, 2 * threads))
    try:
        while ahead:
            yield ahead.popleft().result()
            ahead.extend(pool.submit(in_mode_of_caller, item) for item in islice(waiting, 1))
    finally:
        for future in ahead:
            future.cancel()


def sharded(module: nn.Module, batch: Tensor) -> Tensor:
    """`module(batch)` in shards; the examples of a batch must be independent."""
    if batch.device.type != "cpu" or len(batch) <= SHARD or being_traced():
        return module(batch)
    if not torch.is_grad_enabled():
        return torch.cat(list(each(module, torch.split(batch, SHARD))))
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    if not parameters:
        return module(batch)
    output: Tensor = _Sharded.apply(module, batch, *parameters)  # type: ignore[no-untyped-call]
    return output


class _Sharded(torch.autograd.Function):
    """Every shard has its own autograd graph, which ends in the parameters of the module."""

    @staticmethod
    def forward(ctx: Any, module: nn.Module, batch: Tensor, *parameters: Tensor) -> Tensor:
        def run(shard: Tensor) -> tuple[Tensor, Tensor]:
            with torch.enable_grad():
                inputs = shard.detach().requires_grad_()
                return inputs, module(inputs)

        ctx.parameters = parameters
        ctx.shards = list(each(run, torch.split(batch, SHARD)))
        return torch.cat([output.detach() for _, output in ctx.shards])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        parameters = ctx.parameters

        def run(item: tuple[tuple[Tensor, Tensor], Tensor]) -> tuple[Tensor, Tensor]:
            (inputs, output), output_gradient = item
            first, *others = torch.autograd.grad(output, (inputs, *parameters), output_gradient)
            # One vector, since adding hundreds of small tensors is slow.
            return first, torch.cat([other.flatten() for other in others])

        shards = zip(ctx.shards, torch.split(gradient, SHARD), strict=True)
        ctx.shards = None  # frees the graphs as soon as they are used
        firsts, others = zip(*each(run, shards), strict=True)
        sizes = [parameter.numel() for parameter in parameters]
        sums = functools.reduce(torch.add, others).split(sizes)
        return (
            None,
            torch.cat(firsts),
            *(part.view_as(parameter) for part, parameter in zip(sums, parameters, strict=True)),
        )


class _Here(threading.local):
    """State of the calling thread."""

    shards: int = 0  # threads for its shards inside `threads_for_shards`, else 0


_here = _Here()


def _threads() -> int:
    return _here.shards or torch.get_num_threads()


@functools.cache
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """One pool per number of threads; a forked process needs its own."""
    return workers(threads, "ssdpt-shard")
