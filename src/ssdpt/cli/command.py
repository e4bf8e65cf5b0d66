"""Common to every command: --quiet, --verbose, --version, and errors as one sentence."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

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


class Group(TyperGroup):
    """A group of commands; an unknown command is an error that lists the valid ones."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        names = self.list_commands(ctx)
        if args and args[0] not in names:
            REPORTER.error(f"no command is called '{args[0]}'; there are {', '.join(names)}")
            raise typer.Exit(EXIT_ERROR)
        return super().resolve_command(ctx, args)


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
