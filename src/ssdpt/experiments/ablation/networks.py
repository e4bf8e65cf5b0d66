"""Trained networks, stored by a key of their training, so that variants share them.

OUT/networks/<key>.safetensors   all networks of one seed; metadata: {"classes": number of classes}
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


def networks_key(config: Config, recordings: Sequence[Recording]) -> str:
    """The key of the networks trained with these settings on these normal recordings.

    It changes with everything that changes the weights, and with nothing else: not with the folder
    or the order of the recordings, nor with settings that only scoring uses.
    """
    settings = config.model_dump(mode="json", include={"audio", "features", "multiview", "seed"})
    network = settings["multiview"]["network"]
    # Only scoring uses the hop, and the recordings below already hold the classes.
    del network["hop"], network["classes"], network["training"]["checkpoint_seconds"]
    clips = sorted(
        (digest(recording.path), *class_name(recording, config.part(MultiViewConfig).network))
        for recording in set(recordings)
    )
    text = json.dumps([settings, clips], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def training_config(config: Config, recipe: Config) -> Config:
    """The settings to train with: those of the recipe if `config` uses some of its networks."""
    multiview, full = config.part(MultiViewConfig), recipe.part(MultiViewConfig)
    if set(multiview.inputs) <= set(full.inputs) and multiview.networks <= full.networks:
        update = {"inputs": full.inputs, "networks": full.networks}
        multiview = multiview.model_copy(update=update)
    changed = config.with_parts(multiview, recipe.part(TextureConfig))
    return changed.model_copy(update={"system": recipe.system})


def select_networks(networks: EmbeddingNetworks, settings: MultiViewConfig) -> EmbeddingNetworks:
    """The networks that `settings` selects."""
    wanted = _names(settings)
    return EmbeddingNetworks(
        networks.config,
        [network for network in networks.networks if network.name in wanted],
        networks.classes,
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
        """The networks of `key`, on the device; trained from `machines` if they are not stored yet.

        Interrupted training is resumed.
        """
        path = self.folder / f"{key}.safetensors"
        work = self.folder / f"{key}.partial"
        if path.exists():
            networks = _read(path, config)
        else:
            context = FitContext(work, key, resume=True, reporter=reporter)
            networks = EmbeddingNetworks.train(machines(), config, context)
            _write(path, networks)
        shutil.rmtree(work, ignore_errors=True)  # a kill may have come just before this
        networks.to(choose_device(config.device))
        return networks


def _write(path: Path, networks: EmbeddingNetworks) -> None:
    arrays = {name: np.ascontiguousarray(value) for name, value in networks.arrays().items()}
    with atomic_path(path) as temporary:
        temporary.write_bytes(save(arrays, {"classes": str(networks.classes)}))


def _read(path: Path, config: Config) -> EmbeddingNetworks:
    try:
        with safe_open(path, framework="np") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            classes = int(file.metadata()["classes"])
        networks = EmbeddingNetworks.restore(config, arrays, classes)
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise _damaged(path) from error
    if {network.name for network in networks.networks} != _names(config.part(MultiViewConfig)):
        raise _damaged(path)
    return networks


def _names(settings: MultiViewConfig) -> set[str]:
    return {
        f"{name}-{number + 1}" for name in settings.inputs for number in range(settings.networks)
    }


def _damaged(path: Path) -> SsdptError:
    return SsdptError(
        f"{path}: damaged, or not the networks of these settings; delete it to train them again"
    )
