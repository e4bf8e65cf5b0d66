"""The formulas of the paper, compared with plain arithmetic."""

from __future__ import annotations

import math

import pytest
import torch

from ssdpt.nn.losses import dcase_score, log_odds, mixed_cross_entropy, squared_error

LOGITS = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, -2.0]])
OWN = torch.tensor([False, True, False])


def test_mixed_cross_entropy_is_the_mean_against_the_mixed_label():
    labels, partner, share = torch.tensor([0, 2]), torch.tensor([1, 0]), 0.25
    probabilities = LOGITS.softmax(1)
    expected = 0.0
    for row in range(2):
        first, other = labels[row], labels[partner[row]]
        expected -= share * probabilities[row, first].log()
        expected -= (1 - share) * probabilities[row, other].log()
    loss = mixed_cross_entropy(LOGITS, labels, torch.tensor(share), partner)
    assert loss.item() == pytest.approx(expected.item() / 2, rel=1e-6)


def test_without_mixup_it_is_plain_cross_entropy():
    labels = torch.tensor([0, 1])
    expected = -LOGITS.log_softmax(1)[[0, 1], labels].mean()
    loss = mixed_cross_entropy(LOGITS, labels, torch.tensor(1.0), torch.tensor([0, 1]))
    torch.testing.assert_close(loss, expected)


def test_squared_error_mean_and_sum():
    target, output = torch.randn(2, 3, 5), torch.randn(2, 3, 5)
    total = ((target - output) ** 2).sum((1, 2))
    torch.testing.assert_close(squared_error(target, output, "sum"), total)
    torch.testing.assert_close(squared_error(target, output, "mean"), total / 15)


def test_log_odds_is_the_papers_formula():
    p = LOGITS.softmax(1)[:, 1]
    torch.testing.assert_close(log_odds(LOGITS, OWN), torch.log((1 - p) / p))


def test_an_id_of_several_classes_adds_their_probabilities():
    classes = torch.tensor([True, True, False])
    p = LOGITS.softmax(1)[:, :2].sum(1)
    torch.testing.assert_close(log_odds(LOGITS, classes), torch.log((1 - p) / p))
    torch.testing.assert_close(dcase_score(LOGITS, classes), torch.log((1 - p) - p.log()))


@pytest.mark.parametrize("certain", [50.0, 500.0, 1e4])
def test_scores_stay_finite_and_ordered_where_p_rounds_to_one(certain):
    logits = torch.tensor([[0.0, certain, 0.0], [0.0, certain / 2, 0.0], [certain, 0.0, 0.0]])
    assert logits.softmax(1)[0, 1] == 1.0
    odds = log_odds(logits, OWN)
    assert odds.isfinite().all()
    assert odds[0] < odds[1] < odds[2]
    assert odds[0].item() == pytest.approx(math.log(2) - certain, rel=1e-5)
    assert dcase_score(logits, OWN).isfinite().all()


def test_dcase_form_is_the_misplaced_parenthesis():
    p = LOGITS.softmax(1)[:, 1]
    torch.testing.assert_close(dcase_score(LOGITS, OWN), torch.log((1 - p) - p.log()))


def test_the_dcase_form_compresses_strong_anomalies():
    logits = torch.tensor([[0.0, -10.0, 0.0], [0.0, -20.0, 0.0]])
    odds, dcase = log_odds(logits, OWN), dcase_score(logits, OWN)
    assert (odds[1] - odds[0]).item() == pytest.approx(10, rel=1e-3)
    assert (dcase[1] - dcase[0]).item() < 1
