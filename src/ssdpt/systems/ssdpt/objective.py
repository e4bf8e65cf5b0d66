"""What SSDPT learns: L = L_c + α·L_r over mixed and masked segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ssdpt.config.tree import Config
from ssdpt.features.cache import FeatureView
from ssdpt.nn.dpt import DptOutput, DualPathTransformer
from ssdpt.nn.losses import mixed_cross_entropy, squared_error
from ssdpt.nn.masking import draw_boxes, draw_mixup, mix, visible
from ssdpt.systems.parts.network import training_segments
from ssdpt.systems.ssdpt import SsdptConfig
from ssdpt.training.flat import FlatParameters
from ssdpt.training.loop import choose_device
from ssdpt.training.objective import Batch, Objective

if TYPE_CHECKING:
    from ssdpt.nn.gpu.step import FusedStep


class SsdptObjective(Objective):
    """Segments of normal clips by number, each with the class of its clip."""

    network: DualPathTransformer

    def __init__(
        self, network: DualPathTransformer, clips: FeatureView, labels: list[int], config: Config
    ) -> None:
        self.settings = config.part(SsdptConfig)
        self.device = choose_device(config.device)
        self.network = network
        self.features, self.segments = training_segments(
            clips, self.settings.frames, self.settings.training.hop, self.device
        )
        clip = self.segments.clip
        self.labels = torch.tensor(labels, device=self.device)[clip]  # (segments,)
        self.examples = len(self.segments)
        self._fused: FusedStep | None = None

    def draw(self, updates: int, batch: int, generator: torch.Generator) -> dict[str, Tensor]:
        settings = self.settings
        share, partner = draw_mixup(settings.mixup, updates, batch, generator)
        bins = self.features.shape[1]
        boxes = draw_boxes(settings.mask, updates, batch, settings.frames, bins, generator)
        return {"share": share, "partner": partner, "boxes": boxes}

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        settings = self.settings
        kind = self.network.classifier.weight.dtype  # the frames may be stored more coarsely
        segments = self.segments.gather(self.features, batch["index"]).to(kind)  # (batch, P, F)
        mixed = mix(segments, batch["share"], batch["partner"])
        output: DptOutput = self.network(mixed, visible(batch["boxes"], *mixed.shape[1:]))
        labels = self.labels[batch["index"]]
        classification = self.classification_loss(
            output.logits, labels, batch["share"], batch["partner"]
        )
        target = reconstruction_target(settings, mixed, output)
        reconstruction = squared_error(target, output.reconstruction, settings.error).mean()
        accuracy = (output.logits.argmax(1) == labels).float().mean()
        return classification + settings.alpha * reconstruction, {
            "classification": classification.detach(),
            "reconstruction": reconstruction.detach(),
            "accuracy": accuracy,
        }

    def classification_loss(
        self, logits: Tensor, labels: Tensor, share: Tensor, partner: Tensor
    ) -> Tensor:
        """L_c of a batch of mixed segments: λ of each its own, the rest that of its partner.

        `logits` (batch, classes), `labels` (batch,), `share` λ, `partner` (batch,). A system with
        another one derives from this class and names it as its `objective`.
        """
        return mixed_cross_entropy(logits, labels, share, partner)

    def ordered_parameters(self) -> list[Tensor]:
        if not self._can_fuse():
            return super().ordered_parameters()
        from ssdpt.nn.gpu.packing import packed_parameters

        network = self.network
        rest = [*network.input_norm.parameters(), *network.classifier.parameters()]
        return [*packed_parameters(network), *rest]

    def bind(self, flat: FlatParameters) -> None:
        if not self._can_fuse():
            return
        from ssdpt.nn.gpu.step import FusedStep, LossSettings

        settings = self.settings
        self._fused = FusedStep(
            self.network,
            flat.values,
            flat.gradients,
            torch.float16,
            self.features,
            self.segments,
            self.labels,
            LossSettings(settings.alpha, settings.error, settings.target),
        )

    def add_gradients(self, batch: Batch) -> dict[str, Tensor]:
        if self._fused is None:
            return super().add_gradients(batch)
        with torch.no_grad():
            return self._fused.add_gradients(
                batch["index"], batch["share"], batch["partner"], batch["boxes"]
            )

    def _can_fuse(self) -> bool:
        """Whether the fused kernels run here: a GPU, this loss and a shape they know, float16."""
        return (
            type(self).loss is SsdptObjective.loss
            and type(self).classification_loss is SsdptObjective.classification_loss
            and self.device.type == "cuda"
            and self.settings.training.precision != "float32"
            and can_fuse(self.network, self.device)
        )


def can_fuse(network: DualPathTransformer, device: torch.device) -> bool:
    """Whether the fused kernels know the shape of this network and run on this device."""
    try:
        from ssdpt.nn.gpu.probe import kernels_run
    except ModuleNotFoundError:  # a build of torch without Triton
        return False
    return kernels_run(network, device)


def reconstruction_target(settings: SsdptConfig, segments: Tensor, output: DptOutput) -> Tensor:
    """What the reconstruction is compared with: the mixed, unmasked feature, (batch, P, F)."""
    return segments if settings.target == "raw" else output.normalised.detach()
