"""The systems to be compared: presets, systems, and named settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ssdpt.config.tree import Config, load_config
from ssdpt.errors import SsdptError
from ssdpt.experiments.ablation.variants import parse_settings
from ssdpt.systems import system_class

Fitted = Literal["together", "alone"]
DEFAULT_SYSTEMS = ("texture",)
DEFAULT_CANDIDATES = (
    "gaussian: system=gmm, gmm.components=1, gmm.time_weight=1, gmm.oversample=false",
)


@dataclass(frozen=True, slots=True)
class ComparedSystem:
    """A row of the result: settings, and how the sets are fitted."""

    name: str
    config: Config
    settings: Mapping[str, Any]  # what was given for it, for the log
    fitted: Fitted

    @property
    def key(self) -> str:
        """Differs between all rows."""
        return f"{self.name}, {self.fitted}"

    @property
    def label(self) -> str:
        """The name, and the system where the name does not say it."""
        system = self.config.system
        return self.name if self.name == system else f"{self.name} ({system})"


def compared_systems(
    *,
    systems: Sequence[str] = (),
    presets: Sequence[str] = (),
    candidates: Sequence[str] = (),
    fitted: Sequence[Fitted] = ("together",),
    overrides: dict[str, Any] | None = None,
    device: str = "auto",
) -> list[ComparedSystem]:
    """The rows: every preset, every system with the settings of preset best, every candidate.

    A candidate is `NAME: preset=fast, system=ae, ae.training.epochs=5`. A system that learns
    nothing from other machines is fitted alone in any case, and is one row.
    """
    common = overrides or {}
    if not (systems or presets or candidates):
        systems, candidates = DEFAULT_SYSTEMS, DEFAULT_CANDIDATES
    chosen: list[tuple[str, dict[str, Any]]] = [
        *((preset, {"preset": preset}) for preset in presets),
        *((name, {"preset": "best", "system": name}) for name in systems),
    ]
    for text in candidates:
        name, settings = parse_settings(text)
        chosen.append((name, {"preset": "best", **settings}))
    rows: dict[str, ComparedSystem] = {}
    for name, settings in chosen:
        preset, own = str(settings["preset"]), {**common, **settings}
        del own["preset"]
        config = load_config(preset, {**own, "device": device})
        shares = system_class(config.system).uses_shared_reference
        for how in dict.fromkeys(fitted if shares else ("alone",)):
            row = ComparedSystem(name, config, {"preset": preset, **own}, how)
            if row.key in rows:
                raise SsdptError(
                    f"two of the systems are called {name}; name one of them with "
                    "--candidate 'NAME: system=…'"
                )
            rows[row.key] = row
    return list(rows.values())
