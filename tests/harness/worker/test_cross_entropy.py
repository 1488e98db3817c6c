"""Losses in pieces against log-probabilities in float64."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from harness.worker import cross_entropy
from harness.worker.encode import IGNORED

WORDS = 7


def drawn(seed: int, rows: int, tokens: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Draw logits, and labels of which a third are ignored."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(rows, tokens, WORDS, generator=generator, dtype=torch.float64) * 3
    labels = torch.randint(0, WORDS, (rows, tokens), generator=generator)
    labels[torch.rand(rows, tokens, generator=generator) < 1 / 3] = IGNORED
    return logits.to(dtype), labels


def by_definition(logits: Tensor, labels: Tensor) -> Tensor:
    """Take minus the log-probability of each next token in float64; 0 where it is ignored."""
    wanted = labels[:, 1:]
    chances = logits[:, :-1].double().log_softmax(-1)
    losses = -chances.gather(-1, wanted.clamp(min=0)[..., None])[..., 0]
    return losses.masked_fill(wanted == IGNORED, 0)


sizes = st.tuples(st.integers(0, 99), st.integers(1, 4), st.integers(2, 9), st.integers(1, 300))


@given(sizes)
def test_sum_and_gradient_in_pieces_of_any_size_are_those_of_the_definition(
    size: tuple[int, int, int, int],
) -> None:
    seed, rows, tokens, piece = size
    logits, labels = drawn(seed, rows, tokens, torch.float32)
    expected = logits.double().requires_grad_()
    (0.25 * by_definition(expected, labels).sum()).backward()
    logits.requires_grad_()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cross_entropy, "PIECE", piece)
        loss = cross_entropy.summed(logits, labels)
        (0.25 * loss).backward()
    assert expected.grad is not None
    assert logits.grad is not None
    torch.testing.assert_close(
        loss.double(), by_definition(logits, labels).sum(), rtol=1e-6, atol=1e-6
    )
    torch.testing.assert_close(logits.grad.double(), expected.grad, rtol=1e-6, atol=1e-6)


@given(sizes)
def test_losses_of_each_token_in_pieces_of_any_size_are_those_of_the_definition(
    size: tuple[int, int, int, int],
) -> None:
    seed, rows, tokens, piece = size
    logits, labels = drawn(seed, rows, tokens, torch.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cross_entropy, "PIECE", piece)
        losses = cross_entropy.of_each(logits, labels)
    torch.testing.assert_close(losses.double(), by_definition(logits, labels), rtol=1e-6, atol=1e-6)


def test_over_bfloat16_logits_pieces_keep_one_gradient_of_two_bytes_for_the_backward_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cross_entropy, "PIECE", 3 * WORDS)
    logits, labels = drawn(1, 2, 50, torch.bfloat16)
    logits.requires_grad_()
    loss = cross_entropy.summed(logits, labels)
    assert loss.grad_fn is not None
    kept = loss.grad_fn.saved_tensors  # type: ignore[attr-defined]
    assert [(one.dtype, one.numel()) for one in kept] == [(torch.bfloat16, logits.numel())]
    torch.testing.assert_close(loss.double(), by_definition(logits, labels).sum())
