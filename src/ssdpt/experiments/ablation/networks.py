"""Trained networks, kept by what they were trained from, so that variants share them.

OUT/ears/<key>.safetensors   all networks of one seed; metadata: {"classes": how many they tell}
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from ssdpt.common.files import atomic_path, digest
from ssdpt.common.progress import Reporter
from ssdpt.config.tree import Config
from ssdpt.errors import SsdptError
from ssdpt.features.cache import FeatureView
from ssdpt.systems.base import FitContext
from ssdpt.systems.multiview import MultiViewConfig
from ssdpt.systems.parts.embedding_networks import EmbeddingNetworks, class_name
from ssdpt.systems.texture import TextureConfig
from ssdpt.training.loop import choose_device
from ssdpt.types import Recording


def ears_key(config: Config, recordings: Sequence[Recording]) -> str:
    """The name of the networks that these settings make of these normal training recordings.

    It changes with everything that would change the weights, and with nothing else: neither with
    the folder or the order of the recordings nor with settings that only scoring reads.
    """
    settings = config.model_dump(mode="json", include={"audio", "features", "multiview", "seed"})
    network = settings["multiview"]["network"]
    # The hop is scoring's, and what the classes are is told by the classes themselves.
    del network["hop"], network["classes"], network["training"]["checkpoint_seconds"]
    known = sorted(
        (digest(recording.path), *class_name(recording, config.part(MultiViewConfig).network))
        for recording in set(recordings)
    )
    text = json.dumps([settings, known], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def trained_as(config: Config, recipe: Config) -> Config:
    """The settings whose networks serve `config`: the recipe's own where it uses some of them."""
    own, whole = config.part(MultiViewConfig), recipe.part(MultiViewConfig)
    if set(own.inputs) <= set(whole.inputs) and own.networks <= whole.networks:
        own = own.model_copy(update={"inputs": whole.inputs, "networks": whole.networks})
    changed = {"multiview": own, "texture": recipe.part(TextureConfig), "system": recipe.system}
    return config.model_copy(update=changed)


def some_of(ears: EmbeddingNetworks, settings: MultiViewConfig) -> EmbeddingNetworks:
    """Those networks that `settings` asks for."""
    wanted = _names(settings)
    return EmbeddingNetworks(
        ears.config, [ear for ear in ears.networks if ear.name in wanted], ears.classes
    )


class NetworkStore:
    """The trained networks of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(
        self,
        config: Config,
        key: str,
        machines: Callable[[], Sequence[FeatureView]],
        reporter: Reporter,
    ) -> EmbeddingNetworks:
        """The networks called `key`, on the device; trained from `machines` where there are none.

        Interrupted training goes on where it was.
        """
        path = self.folder / f"{key}.safetensors"
        if path.exists():
            ears = _read(path, config)
        else:
            work = self.folder / f"{key}.partial"
            context = FitContext(work, key, resume=True, reporter=reporter)
            ears = EmbeddingNetworks.train(machines(), config, context)
            _write(path, ears)
            shutil.rmtree(work, ignore_errors=True)
        ears.to(choose_device(config.device))
        return ears


def _write(path: Path, ears: EmbeddingNetworks) -> None:
    arrays = {name: np.ascontiguousarray(value) for name, value in ears.arrays().items()}
    with atomic_path(path) as temporary:
        temporary.write_bytes(save(arrays, {"classes": str(ears.classes)}))


def _read(path: Path, config: Config) -> EmbeddingNetworks:
    try:
        with safe_open(path, framework="np") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            classes = int(file.metadata()["classes"])
        ears = EmbeddingNetworks.restore(config, arrays, classes)
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise _unfit(path) from error
    if {ear.name for ear in ears.networks} != _names(config.part(MultiViewConfig)):
        raise _unfit(path)
    return ears


def _names(settings: MultiViewConfig) -> set[str]:
    return {
        f"{hears}-{number + 1}" for hears in settings.inputs for number in range(settings.networks)
    }


def _unfit(path: Path) -> SsdptError:
    return SsdptError(
        f"{path}: damaged, or not the networks of these settings; remove it to train them again"
    )
