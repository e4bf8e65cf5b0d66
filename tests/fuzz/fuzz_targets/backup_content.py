"""Backups by their content: a JSON document of members and tables."""

from __future__ import annotations

import gzip
import io
import json
import tarfile

from fuzz_targets.backup_file import Target as BackupFile
from ssdpt.errors import SsdptError


class Target(BackupFile):
    """Builds the .tar file of a document {"members": {name: text or JSON}, "tables": {…}}."""

    share = 5
    longest = 16384
    document = True

    def run(self, data: bytes) -> None:
        try:
            tree = json.loads(data)
            members = [(str(key), _bytes(value)) for key, value in tree["members"].items()]
            for name, lines in tree["tables"].items():
                text = "\n".join(json.dumps(line) for line in lines)
                compressed = gzip.compress(text.encode("utf-8", "replace"), 1)
                members.append((f"tables/{name}.jsonl.gz", compressed))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise SsdptError("not a document") from None
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w") as tar:
            for name, content in members:
                info = tarfile.TarInfo(name.encode("utf-8", "replace").decode())
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
        super().run(file.getvalue())


def _bytes(value: object) -> bytes:
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "replace")
