"""Common to every command: --quiet, --verbose, --version, and errors as one sentence."""

from __future__ import annotations

import difflib
import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterable
from typing import Annotated, Any, cast, get_type_hints

import typer
from typer.core import TyperGroup

from ssdpt.cli.console import REPORTER
from ssdpt.errors import SsdptError
from ssdpt.version import __version__

EXIT_ANOMALY = 1
EXIT_ERROR = 2
EXIT_INTERRUPTED = 130

_EXTRAS = {
    "torch": "train",
    "scipy": "train",
    "sklearn": "train",
    "matplotlib": "train",
    "onnx": "onnx",
    "onnxscript": "onnx",
    "onnxruntime": "onnx",
    "openvino": "openvino",
    "sounddevice": "live",
    "ray": "ray",
    "pyarrow": "parquet",
    "h5py": "sensors",
    **dict.fromkeys(("fastapi", "uvicorn", "starlette", "sqlalchemy", "alembic"), "serve"),
    **dict.fromkeys(("aiomqtt", "prometheus_client"), "serve"),
    "psycopg": "postgres",
    "av": "stream",
}


def _show_version(requested: bool) -> None:
    if requested:
        sys.stdout.write(f"ssdpt {__version__}\n")
        raise typer.Exit


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only results and errors.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", help="Print details, and tracebacks of errors.")
]
Version = Annotated[
    bool,
    typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
]


# Of the click that typer brings, or that it uses; both have it under this name.
_UsageError = cast(type[Exception], typer.BadParameter.__bases__[0])


class Group(TyperGroup):
    """A group of commands; what is typed wrongly is one sentence with the nearest right word."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        names = self.list_commands(ctx)
        if args and args[0] not in names:
            nearest = _nearest(args[0], names)
            known = f"did you mean {nearest}?" if nearest else f"there are {', '.join(names)}"
            REPORTER.error(f"no command is called '{args[0]}'; {known}")
            raise typer.Exit(EXIT_ERROR)
        return super().resolve_command(ctx, args)

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        try:
            return super().make_context(info_name, args, parent, **extra)
        except _UsageError as error:
            path = f"{parent.command_path} {info_name}" if parent else "ssdpt"
            raise _wrong_usage(error, path, self) from error

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except _UsageError as error:
            name = ctx.invoked_subcommand or ""
            path = f"{ctx.command_path} {name}".rstrip()
            raise _wrong_usage(error, path, self.commands.get(name, self)) from error


def _wrong_usage(error: Any, path: str, command: Any) -> BaseException:
    """Say what is wrong with an option or a value of `command`; what is to be raised."""
    if type(error).__name__ == "NoArgsIsHelpError":  # not an error: it prints the help
        return cast(BaseException, error)
    reason = error.format_message().rstrip(".").replace("Value error, ", "")
    reason = reason[:1].lower() + reason[1:]
    if type(error).__name__ == "NoSuchOption":
        options = [name for one in command.params for name in (*one.opts, *one.secondary_opts)]
        nearest = _nearest(error.option_name, (name for name in options if name.startswith("-")))
        hint = f"; did you mean {nearest}?" if nearest else ""
        reason = f"there is no option {error.option_name}{hint}"
    REPORTER.error(f"{path}: {reason}")
    REPORTER.say(f"more: {path} --help")
    return typer.Exit(EXIT_ERROR)


def _nearest(word: str, words: Iterable[str]) -> str:
    """The word that was probably meant; empty if none is near."""
    return next(iter(difflib.get_close_matches(word, [*words], 1, 0.7)), "")


def everywhere(quiet: Quiet = False, verbose: Verbose = False, version: Version = False) -> None:
    """The common options, for groups of commands."""
    REPORTER.quiet = REPORTER.quiet or quiet
    REPORTER.verbose = REPORTER.verbose or verbose


def command(app: typer.Typer, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as the command `name`, with the common options."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        hints = get_type_hints(function, include_extras=True)
        specific = [
            parameter.replace(annotation=hints[parameter.name])
            for parameter in inspect.signature(function).parameters.values()
        ]
        common = [
            inspect.Parameter(label, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind)
            for label, kind in (("quiet", Quiet), ("verbose", Verbose), ("version", Version))
        ]

        @functools.wraps(function)
        def run(*, quiet: bool, verbose: bool, version: bool, **arguments: Any) -> None:
            # The options may also be given before the command.
            everywhere(quiet, verbose)
            guarded(function, **arguments)

        run.__signature__ = inspect.Signature(specific + common)  # type: ignore[attr-defined]
        run.__annotations__ = {item.name: item.annotation for item in specific + common}
        app.command(name)(run)
        return function

    return register


def guarded(function: Callable[..., Any], **arguments: Any) -> None:
    """Run a command; errors that the user can fix become one line and exit code 2."""
    try:
        function(**arguments)
    except SsdptError as error:
        if REPORTER.verbose:
            REPORTER.console.print_exception()
        REPORTER.error(str(error))
        raise typer.Exit(EXIT_ERROR) from error
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").split(".")[0])
        if extra is None:
            raise
        REPORTER.error(f"this needs {error.name}: pip install 'ssdpt[{extra}]'")
        raise typer.Exit(EXIT_ERROR) from error
    except KeyboardInterrupt as error:
        REPORTER.error("interrupted; continue a fit from its last checkpoint with --resume")
        raise typer.Exit(EXIT_INTERRUPTED) from error
    except BrokenPipeError:
        # The reader (head, less) has closed the pipe; writing more would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        if REPORTER.verbose:
            REPORTER.console.print_exception()
        REPORTER.error(f"{error.filename or 'the output'}: {error.strerror or error}")
        raise typer.Exit(EXIT_ERROR) from error
