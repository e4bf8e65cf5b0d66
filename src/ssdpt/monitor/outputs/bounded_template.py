"""What templates may do: read what they are given, with little time and memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ssdpt.monitor.outputs.template_mistakes import in_line
from ssdpt.sentences import Sentence

_MOST_LOOPS = 2  # in each other
_LONGEST_RANGE = 1000


@cache
def template_environment(finalize: Callable[[Any], Any] | None) -> Any:
    """An environment of Jinja; `finalize` turns every value that is filled in into text.

    What is missing is an error. Powers, and texts or lists that are multiplied, are refused: a few
    characters of them would take hours or all memory.
    """
    from jinja2 import StrictUndefined
    from jinja2.exceptions import SecurityError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Environment(ImmutableSandboxedEnvironment):
        intercepted_binops = frozenset({"*", "**"})

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            if operator == "**" or not all(isinstance(it, int | float) for it in (left, right)):
                raise SecurityError(Sentence("outputs.onlyNumbers", operator=operator))
            return super().call_binop(context, operator, left, right)

    environment = Environment(undefined=StrictUndefined, finalize=finalize)
    environment.globals["range"] = _short_range
    return environment


def check_statements(environment: Any, text: str) -> None:
    """ValueError for statements that could repeat themselves without end."""
    from jinja2 import nodes

    refused = {
        **{nodes.Macro: "macro", nodes.CallBlock: "call", nodes.Block: "block"},
        **{nodes.Include: "include", nodes.Import: "import", nodes.FromImport: "from"},
        nodes.Extends: "extends",
    }
    tree = environment.parse(text)
    for node in tree.find_all(tuple(refused)):
        what = Sentence("outputs.noStatement", statement=refused[type(node)])
        raise ValueError(in_line(node.lineno, what))
    _check_loops(tree, nodes.For, 0)


def _check_loops(node: Any, loop: type, depth: int) -> None:
    for inner in node.iter_child_nodes():
        is_loop = isinstance(inner, loop)
        if is_loop and (depth == _MOST_LOOPS or getattr(inner, "recursive", False)):
            what = Sentence("outputs.loopsTooDeep", deepest=_MOST_LOOPS)
            raise ValueError(in_line(inner.lineno, what))
        _check_loops(inner, loop, depth + is_loop)


def _short_range(*bounds: int) -> range:
    numbers = range(*bounds)
    if len(numbers) > _LONGEST_RANGE:
        raise ValueError(Sentence("outputs.rangeTooLong", longest=_LONGEST_RANGE))
    return numbers
