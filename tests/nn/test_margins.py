"""The additive angular margin, compared with plain trigonometry."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional

from ssdpt.nn.margins import AdditiveAngularMargin

CLASSES = 3


def head(margin=0.5, scale=30.0):
    """Class 0 is the direction of the first axis."""
    built = AdditiveAngularMargin(2, CLASSES, margin=margin, scale=scale)
    with torch.no_grad():
        built.directions.copy_(torch.tensor([[2.0, 0.0], [0.0, 0.5], [-1.0, -1.0]]))
    return built


def at_angle(angle):
    """An embedding at this angle from class 0, of any length."""
    return 3 * torch.stack([torch.cos(angle), torch.sin(angle)], dim=1)


def test_the_true_class_has_the_cosine_of_the_angle_plus_the_margin():
    angle = torch.linspace(0.1, math.pi - 0.55, 20)
    logits = head()(at_angle(angle), torch.zeros(20, dtype=torch.long))
    torch.testing.assert_close(logits[:, 0], 30 * torch.cos(angle + 0.5), rtol=1e-4, atol=1e-4)


def test_other_classes_have_the_plain_cosine():
    embeddings = torch.randn(20, 2)
    logits = head()(embeddings, torch.zeros(20, dtype=torch.long))
    torch.testing.assert_close(logits[:, 1:], 30 * head().cosines(embeddings)[:, 1:])


def test_beyond_pi_it_continues_to_fall_without_a_jump():
    angle = torch.linspace(0, math.pi, 2001)
    logits = head()(at_angle(angle), torch.zeros(2001, dtype=torch.long))[:, 0] / 30
    steps = logits.diff()
    assert (steps < 1e-4).all()
    assert (steps > -0.01).all()
    assert logits[-1] < -1


@pytest.mark.parametrize("angle", [0.0, 1e-9, math.pi / 2, math.pi - 0.5, math.pi])
def test_gradients_are_finite_everywhere(angle):
    built = head()
    embeddings = at_angle(torch.tensor([angle])).requires_grad_()
    labels = torch.zeros(1, dtype=torch.long)
    functional.cross_entropy(built(embeddings, labels), labels).backward()
    assert embeddings.grad.isfinite().all()
    assert built.directions.grad.isfinite().all()


def test_no_margin_is_a_plain_cosine_classifier():
    embeddings, labels = torch.randn(9, 2), torch.arange(9) % CLASSES
    plain = head(margin=0.0)
    expected = 30 * plain.cosines(embeddings)
    torch.testing.assert_close(plain(embeddings, labels), expected, rtol=1e-5, atol=1e-4)


def test_a_margin_makes_the_loss_larger():
    embeddings, labels = torch.randn(9, 2), torch.arange(9) % CLASSES
    losses = [
        functional.cross_entropy(head(margin)(embeddings, labels), labels).item()
        for margin in (0.0, 0.2, 0.5)
    ]
    assert losses == sorted(losses)
    assert losses[0] < losses[-1]
