"""Requests made from the description of the API, by every role.

python tests/fuzz/fuzz_api.py --examples 500
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import hypothesis
import requests
import schemathesis
from fuzz_oracle import wrong_in
from fuzz_target import ROOT
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from schemathesis import checks
from schemathesis.generation.modes import GenerationMode

from fuzz_server import AsgiServer  # isort: skip (its folder is found by fuzz_target)
from examples import EVENT, RECORDING, TRIAL  # isort: skip

ROLES = ("anonymous", "viewer", "operator", "admin")
KNOWN = {
    **{"machine": "fan-1", "event": EVENT, "name": "viewer", "trial": TRIAL},
    **{"recording": RECORDING, "number": 1, "note": 1},
}
_CHECKS = [
    *(checks.not_a_server_error, checks.status_code_conformance),
    *(checks.content_type_conformance, checks.response_schema_conformance),
    checks.response_headers_conformance,
]
_MOST_SECONDS = 2.0  # of processor time
_MOST_BYTES = 5_000_000


@dataclass
class ApiResult:
    """What came of one operation."""

    operation: str
    calls: Counter[str] = field(default_factory=Counter)  # by role
    statuses: Counter[int] = field(default_factory=Counter)
    slowest: float = 0.0  # seconds of processor time
    largest: int = 0  # bytes
    failure: str = ""


def operations() -> dict[str, Any]:
    """All operations of the description, by method and path."""
    description = json.loads((ROOT / "web" / "openapi.json").read_text("utf-8"))
    schema = schemathesis.openapi.from_dict(description)
    return {one.ok().label: one.ok() for one in schema.get_all_operations()}


class ApiFuzz:
    """One server; sends requests that fit the description, and some that do not."""

    def __init__(self, folder: Path) -> None:
        self._server = AsgiServer(folder, users=True)

    def run(self, operation: Any, examples: int) -> ApiResult:
        """So many requests of one operation; the same ones every time."""
        self._server.renew()
        result = ApiResult(operation.label)
        known = {
            parameter.name: KNOWN[parameter.name]
            for parameter in operation.path_parameters
            if parameter.name in KNOWN
        }
        cases = [
            operation.as_strategy(generation_mode=mode, path_parameters=path)
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
            for path in (known, None)
        ]

        @hypothesis.seed(1)
        @hypothesis.settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @hypothesis.given(case=st.one_of(cases), role=st.sampled_from(ROLES))
        def send(case: Any, role: str) -> None:
            self._send(case, role, result)

        try:
            send()
        except (AssertionError, BaseExceptionGroup) as error:
            result.failure = str(error)
        return result

    def _send(self, case: Any, role: str, result: ApiResult) -> None:
        headers = {} if role == "anonymous" else self._bearer(role)
        wanted = case.as_transport_kwargs(base_url="http://plant.example:8765", headers=headers)
        prepared = requests.Request(**wanted).prepare()
        parts = urlsplit(prepared.url)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        body = prepared.body or b""
        sent = [(key.lower().encode(), _latin(value)) for key, value in prepared.headers.items()]
        began = time.process_time()
        status, replied, content = self._server.request(
            case.method,
            target.encode("ascii", "replace"),
            sent,
            body.encode() if isinstance(body, str) else body,
        )
        took = time.process_time() - began
        result.calls[role] += 1
        result.statuses[status] += 1
        result.slowest, result.largest = (
            max(result.slowest, took),
            max(result.largest, len(content)),
        )
        asked = httpx.Request(case.method, prepared.url, headers=dict(prepared.headers))
        reply = httpx.Response(
            status, headers=list(replied.items()), content=content, request=asked
        )
        reply.elapsed = timedelta(seconds=took)
        case.validate_response(reply, checks=_CHECKS)
        if status >= 400:
            assert not wrong_in(reply.json()["error"], "the reply")
        assert took < _MOST_SECONDS, f"{took:.1f} s"
        assert len(content) < _MOST_BYTES, f"{len(content)} bytes"

    def _bearer(self, role: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._server.tokens[role]}"}


def _latin(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode("latin-1", "replace")


def main() -> int:
    """The command; 1 where a request has failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--examples", type=int, default=100, help="requests of each operation")
    examples = parser.parse_args().examples
    logging.getLogger("ssdpt").setLevel(logging.ERROR)  # wrong passwords are no news here
    with tempfile.TemporaryDirectory() as folder:
        fuzz = ApiFuzz(Path(folder))
        results = [fuzz.run(operation, examples) for operation in operations().values()]
    report(results)
    return 1 if any(result.failure for result in results) else 0


def report(results: list[ApiResult]) -> None:
    """Print a table, and every failure."""
    lines = [
        f"{'operation':<62} {'requests':>8} {'2xx':>6} {'4xx':>6} {'longest s':>9} {'bytes':>9}"
    ]
    for one in results:
        good = sum(count for status, count in one.statuses.items() if status < 400)
        calls = sum(one.calls.values())
        lines.append(
            f"{one.operation:<62} {calls:>8} {good:>6} {calls - good:>6} {one.slowest:>9.2f} "
            f"{one.largest:>9}"
        )
    calls = sum((one.calls for one in results), Counter[str]())
    by_role = ", ".join(f"{role} {calls[role]:,}" for role in ROLES)
    failures = [one for one in results if one.failure]
    lines.append(f"{calls.total():,} requests ({by_role}), {len(failures)} operations failed")
    lines += [f"{one.operation}: {one.failure}" for one in failures]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
