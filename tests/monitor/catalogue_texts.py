"""The English texts that the package looks up in its catalogue, found in its source.

Each call of `text` or `plural` of a language is followed to the strings that it may be given:
through conditions, local names, parameters of functions and constants of a module. Where that
cannot be followed, it is an error, so that no text goes unnoticed.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Mapping
from pathlib import Path

import ssdpt

PACKAGE = Path(ssdpt.__file__).parent
LOOKUPS = {"text": 1, "plural": 2}  # by method of a language: how many texts it is given
LANGUAGES = {"Language", "Words", "ENGLISH"}  # who names one of these uses the catalogue


def catalogue_modules():
    """The names of all modules that use the catalogue."""
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text("utf-8")
        if not any(name in source for name in LANGUAGES):
            continue
        names = {
            node.id if isinstance(node, ast.Name) else node.name
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Name | ast.ClassDef)
        }
        if names & LANGUAGES:
            place = path.relative_to(PACKAGE.parent).with_suffix("")
            yield ".".join(part for part in place.parts if part != "__init__")


class CatalogueTexts:
    """Those of one module."""

    def __init__(self, name):
        self.module = importlib.import_module(name)
        self.tree = ast.parse(Path(self.module.__file__).read_text("utf-8"))
        self.parents = {
            child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)
        }
        self.aliases = dict(self._aliases())

    def texts(self):
        """All texts; AssertionError where they cannot be told."""
        found = set()
        for call in self._calls():
            count = self._lookups(call)
            if count:
                found.update(*self._arguments(call, count))
        return found

    def loose(self):
        """Of a module that does nothing but word: what reads like words and is not looked up."""
        looked_up = self.texts()
        for node in ast.walk(self.tree):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and reads_like_words(node.value)
                and node.value not in looked_up
                and not isinstance(self.parents[node], ast.Expr)  # a docstring
            ):
                yield node.value

    def _calls(self):
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.Call))

    def _aliases(self):
        """Names that a lookup is assigned to, such as `say = language.text`."""
        for node in ast.walk(self.tree):
            for target, value in assigned(node):
                if isinstance(value, ast.Attribute) and value.attr in LOOKUPS:
                    yield last_name(target), LOOKUPS[value.attr]
                elif last_name(value) == "_say":
                    yield last_name(target), LOOKUPS["text"]

    def _lookups(self, call):
        """How many texts a call looks up; 0: it is another call."""
        name = last_name(call.func)
        if isinstance(call.func, ast.Attribute) and name in LOOKUPS:
            return LOOKUPS[name]
        return self.aliases.get(name, 0)

    def _arguments(self, call, count):
        for argument in call.args[:count]:
            if isinstance(argument, ast.Starred):
                yield self._strings(argument.value)
                return
            yield self._strings(argument)

    def _strings(self, node):
        """The strings that an expression may be."""
        match node:
            case ast.Constant(value=str(text)):
                return {text}
            case ast.IfExp(body=body, orelse=other):
                return self._strings(body) | self._strings(other)
            case ast.Subscript(value=value):
                return self._strings(value)
            case ast.Name(id=name):
                return self._named(node, name)
        raise AssertionError(f"{self._place(node)}: cannot tell which text is looked up")

    def _named(self, node, name):
        function = self._function(node)
        if function is None or not (found := self._local(function, name)):
            assert hasattr(self.module, name), f"{self._place(node)}: {name} is not known"
            return set(strings_in(getattr(self.module, name)))
        return found

    def _local(self, function, name):
        """What a name of a function may be: what is assigned, iterated over, or given to it."""
        found = set()
        for node in ast.walk(function):
            for target, value in assigned(node):
                if isinstance(target, ast.Name) and target.id == name:
                    found |= self._strings(value)
            if isinstance(node, ast.For) and last_name(node.target) == name:
                found |= self._strings(node.iter)
        parameters = [each.arg for each in function.args.posonlyargs + function.args.args]
        if name in parameters:
            number = parameters.index(name) - (parameters[0] == "self")
            calls = [call for call in self._calls() if last_name(call.func) == function.name]
            assert calls, f"{self._place(function)}: nothing calls {function.name}"
            for call in calls:
                found |= self._strings(call.args[number])
        return found

    def _function(self, node):
        while node is not None and not isinstance(node, ast.FunctionDef):
            node = self.parents.get(node)
        return node

    def _place(self, node):
        return f"{self.module.__name__}, line {node.lineno}"


def reads_like_words(text):
    """Whether people may read it: `Events` and `not yet`, but no code such as `alert`."""
    words = "".join(sign if sign.isalpha() else " " for sign in text).split()
    return any(word.istitle() and len(word) > 1 for word in words) or (
        len(words) > 1 and " " in text.strip()
    )


def strings_in(value):
    """All texts of a constant: of a table its values."""
    if isinstance(value, str):
        yield str(value)
    else:
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from strings_in(each)


def assigned(node):
    """Targets and values of an assignment, each by itself."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            return list(zip(targets, values, strict=True))
        case ast.Assign(targets=[target], value=value):
            return [(target, value)]
    return []


def last_name(node):
    """Of a name or an attribute; empty for anything else."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
