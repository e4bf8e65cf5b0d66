"""Configuration of a fit."""

from __future__ import annotations

from fuzz_target import FuzzTarget

from ssdpt.config.tree import load_config, parse_override


class Target(FuzzTarget):
    """Reads a file, and its first line as a single setting."""

    share = 50
    longest = 2048
    document = True
    words = (
        *(b"system: ", b"ssdpt", b"gmm", b"texture:\n", b"training:\n", b"  epochs: ", b"audio:\n"),
        *(
            b"!!timestamp ",
            b"!!binary ",
            b"!!python/object:os.system ",
            b"&a ",
            b"*a",
            b"<<: ",
            b"~",
        ),
        *(
            b"2026-01-31",
            b"1e999",
            b".nan",
            b"[[[[",
            b"{{{{",
            b"? ",
            b"- ",
            b"0o7",
            b"1:2",
            b"\x85",
        ),
    )

    def run(self, data: bytes) -> None:
        first = data.partition(b"\n")[0].decode("utf-8", "replace")
        try:
            parse_override(first)
        finally:
            load_config(str(self.write("fit.yaml", data)))
