"""Writes the seeds of the fuzz targets: small valid inputs, and some that are built to do harm.

python tests/fuzz/fuzz_seeds.py

Inputs that failed once are called `once-…`; those that mutation found lie beside the others and
stay.
"""

from __future__ import annotations

import fuzz_data_seeds
import fuzz_model_seeds
import fuzz_service_seeds
from fuzz_target import CORPUS, target_names


def main() -> None:
    """Write all of them."""
    for module in (fuzz_data_seeds, fuzz_model_seeds, fuzz_service_seeds):
        for name in target_names():
            if hasattr(module, name):
                folder = CORPUS / name
                folder.mkdir(parents=True, exist_ok=True)
                for label, content in getattr(module, name)():
                    if not (folder / label).exists():  # some encoders write the time
                        (folder / label).write_bytes(content)


if __name__ == "__main__":
    main()
