"""What a CASCADE layer costs, against the frozen layer alone and against dense updates.

`frozen`: the linear layer by itself, forward pass and gradient of its input. `adapted`: the layer
with CASCADE beside it, forward pass and gradients of the input and of every parameter of the
adapter. `dense`: the same numbers by way of m x n updates, built by inverse DCT and inverse Haar
transform, and a product of each with the tokens.
"""

import json
import math
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.profiler import profile

from benchmarks.ratios import device, ratios
from methods.cascade import Cascade, CascadeConfig, statistics
from methods.tuners.frequencies import detail_places, low_frequencies

SIZE, TOKENS, ROUNDS = 4096, 920, 7
LIMITS = {"time over the frozen layer": 1.4, "time over dense": 1 / 8, "memory over dense": 1 / 3}
AGREEMENT = 1e-12

Gradients = list[Tensor]


def report() -> None:
    """Print the three ratios beside their limits, and how far the dense way is in float64."""
    print(f"\nCASCADE beside a {SIZE} x {SIZE} layer, {TOKENS} tokens, {_where()}:\n")
    print("| | ratio | limit |\n| :--- | ---: | ---: |")
    for name, value in cascade_costs().items():
        print(f"| {name} | {value:.3f} | {LIMITS[name]:.3f} |")
    found = disagreement()
    print(f"\nFloat64, output and all gradients: {found:.1e} from the dense way.")
    assert found < AGREEMENT, found


def cascade_costs(size: int = SIZE, tokens: int = TOKENS, rounds: int = ROUNDS) -> dict[str, float]:
    """Measure time and peak memory of forward and backward pass, as ratios within one run."""
    layer = Layer(size, CascadeConfig(), torch.float32)
    x = torch.randn(tokens, size, device=device(), requires_grad=True)
    grad = torch.randn(tokens, size, device=device())
    frozen, adapted, dense = (_passes(way, layer, x, grad) for way in (_frozen, _adapted, _dense))
    to_frozen = ratios({"frozen": frozen, "adapted": adapted}, "frozen", 3 * rounds)
    to_dense = ratios({"dense": dense, "adapted": adapted}, "dense", (rounds + 1) // 2)
    measured = (
        to_frozen["adapted"].median,
        to_dense["adapted"].median,
        peak_bytes(adapted) / peak_bytes(dense),
    )
    return dict(zip(LIMITS, measured, strict=True))


def disagreement(size: int = 256, tokens: int = 60) -> float:
    """Compare outputs and all gradients with the dense way in float64: the largest difference.

    Relative to the largest entry of the tensor in question.
    """
    config = CascadeConfig(K_dct=2_000, K_wav=1_000)
    layer = Layer(size, config, torch.float64)
    x = torch.randn(tokens, size, device=device(), dtype=torch.float64, requires_grad=True)
    pairs = zip(_all(_adapted, layer, x), _all(_dense, layer, x), strict=True)
    return max(
        float((ours - theirs).detach().abs().max() / theirs.detach().abs().max())
        for ours, theirs in pairs
    )


class Layer(nn.Module):
    """A frozen linear layer and a trained adapter, with what the dense way needs beside it."""

    def __init__(self, size: int, config: CascadeConfig, dtype: torch.dtype) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.base = nn.Linear(size, size, bias=False).requires_grad_(False)
        self.adapter = Cascade(self.base, config)
        with torch.no_grad():
            for parameter in self.adapter.parameters():
                parameter.add_(0.01 * torch.randn_like(parameter))
        self.to(device(), dtype)
        self.C = dct_matrix(size).to(device(), dtype)


def dct_matrix(k: int) -> Tensor:
    """Return the orthonormal DCT-II of k numbers as a matrix."""
    i, j = torch.arange(k, dtype=torch.float64), torch.arange(k, dtype=torch.float64)
    matrix = math.sqrt(2 / k) * torch.cos(math.pi / k * (j + 0.5) * i[:, None])
    matrix[0] /= math.sqrt(2)
    return matrix


def inverse_haar(LL: Tensor, LH: Tensor, HL: Tensor, HH: Tensor) -> Tensor:  # noqa: N803
    """Return the matrix that has these four bands."""
    rows = [
        torch.stack([top + bottom, top - bottom], dim=2).flatten(1)
        for top, bottom in ((LL + HL, LH + HH), (LL - HL, LH - HH))
    ]
    return torch.stack(rows, dim=1).flatten(0, 1) / 2


def dense_dct(layer: Layer) -> Tensor:
    """Build dW_dct (m, n)."""
    adapter = layer.adapter
    places = low_frequencies(adapter.m, adapter.n, adapter.config.K_dct)
    S = torch.zeros_like(layer.base.weight).index_put(places, adapter.s)  # noqa: N806
    return layer.C.T @ S @ layer.C


def dense_wavelet(layer: Layer) -> Tensor:
    """Build dW_wav (m, n)."""
    adapter, config = layer.adapter, layer.adapter.config
    m, n = adapter.m, adapter.n
    gamma, beta = adapter.g(adapter.s).view(2, 3)
    places = detail_places(m, n, config.K_wav, config.seed)
    parts = adapter.B_wav.split([len(i) for i, _ in places])
    zeros = adapter.B_wav.new_zeros(m // 2, n // 2)
    bands = [
        zeros.index_put(at, (1 + gamma[b]) * parts[b] + beta[b]) for b, at in enumerate(places)
    ]
    return inverse_haar(zeros, *bands)


def weights(layer: Layer, x: Tensor) -> Tensor:
    """Compute the weights of the experts (tokens, 3)."""
    router, (even, odd) = layer.adapter.router, x.unflatten(1, (-1, 2)).unbind(2)
    energies = [((even + sign * odd) ** 2 / 2).sum(1) / x.shape[1] for sign in (1, -1)]
    h = linear(statistics(torch.stack(energies)), router.W_spec) + linear(x, router.W_sem)
    return linear(h, router.W_out).softmax(-1)


def _frozen(layer: Layer, x: Tensor) -> Tensor:
    return layer.base(x)


def _adapted(layer: Layer, x: Tensor) -> Tensor:
    return layer.base(x) + layer.adapter(x)


def _dense(layer: Layer, x: Tensor) -> Tensor:
    adapter, w = layer.adapter, weights(layer, x).unsqueeze(-1).unbind(1)
    y = layer.base(x) + w[0] * linear(x, dense_dct(layer)) + w[1] * linear(x, dense_wavelet(layer))
    return y + w[2] * linear(linear(x, adapter.A), adapter.B)


Way = Callable[[Layer, Tensor], Tensor]


def _passes(way: Way, layer: Layer, x: Tensor, grad: Tensor) -> Callable[[], Gradients]:
    """Return the forward and the backward pass of a way."""
    trained = [] if way is _frozen else list(layer.adapter.parameters())
    return lambda: list(torch.autograd.grad(way(layer, x), [x, *trained], grad))


def _all(way: Way, layer: Layer, x: Tensor) -> Gradients:
    """Return the output of a way and all gradients for an output gradient that is not symmetric."""
    y = way(layer, x)
    grad = torch.linspace(-1, 1, y.numel(), dtype=y.dtype, device=y.device).view_as(y).sin()
    return [y, *torch.autograd.grad(y, [x, *layer.adapter.parameters()], grad)]


def peak_bytes(work: Callable[[], object]) -> int:
    """Return the most that tensors occupied while `work` ran, beyond what they did before."""
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        work()
        return torch.cuda.max_memory_allocated() - before
    with profile(profile_memory=True) as profiler:
        work()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "trace.json")
        profiler.export_chrome_trace(os.fspath(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    changes = [event for event in events if event["name"] == "[memory]"]
    occupied = peak = 0
    for event in sorted(changes, key=lambda event: float(event["ts"])):
        occupied += event["args"]["Bytes"]
        peak = max(peak, occupied)
    return peak


def _where() -> str:
    return "GPU" if torch.cuda.is_available() else f"float32, threads: {torch.get_num_threads()}"
