"""CASCADE against its paper (section "Method", eq. 2 to 14), with dense matrices and loops.

The updates are formed as m x n matrices from explicit orthonormal bases, each token is routed by
itself, and gradients are those that autograd finds through all of it. Where the wavelet
coefficients lie is read off a layer's response: the inverse transform shows it.
"""

import copy
import json
import math
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file
from scipy.fft import idctn
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from transformers import LlamaConfig, LlamaForCausalLM

from methods.cascade import Cascade, CascadeConfig, method
from methods.conformance.models import SHAPE, build
from methods.training.hooks import TrainingAhead
from tests.methods.models import logits_as_a_token_changes
from tests.methods.tensors import random, randomise, token_ids

THREE = ["q_proj", "k_proj", "down_proj"]
"""Of Llama, these are of shape 64 x 32, 32 x 32 and 32 x 48."""

PLAN = TrainingAhead(steps=10, warmup_steps=2, seed=0)
FLOOR = 1e-6
"""What is added to the energies of a token."""

# m, n, K_dct, K_wav, r: the first ten frequencies are four whole anti-diagonals.
CASES = {
    "square": (8, 8, 10, 9, 2),
    "inside an anti-diagonal": (8, 8, 12, 10, 2),
    "wide": (4, 10, 17, 11, 3),
    "tall": (10, 4, 17, 11, 3),
    "all frequencies": (6, 4, 24, 5, 2),
    "all details": (6, 8, 5, 36, 2),
    "one of each": (4, 6, 1, 1, 1),
    "two outputs": (2, 12, 15, 7, 1),
    "two inputs": (12, 2, 15, 8, 1),
    "two by two": (2, 2, 4, 3, 2),
}
SWITCHES: dict[str, dict[str, Any]] = {
    **method.variants,
    "small": {},
    "only-dct": {"wavelet": False, "spatial": False},
    "only-wavelet": {"dct": False, "spatial": False},
    "only-spatial": {"dct": False, "wavelet": False},
    "sequence-pooling-no-dct": {"pooling": "sequence", "dct": False},
    "uniform-routing-no-modulation": {"routing": "uniform", "modulation": False},
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
every_switch = pytest.mark.parametrize("fields", SWITCHES.values(), ids=SWITCHES)
every_variant = pytest.mark.parametrize("name", method.variants)

Case = tuple[int, int, int, int, int]
Places = list[tuple[int, int]]


def configure(case: Case, **fields: Any) -> CascadeConfig:
    sizes = dict(zip(("K_dct", "K_wav", "r"), case[2:], strict=True))
    return CascadeConfig(**{**sizes, "d_g": 3, "d_h": 5, **fields})


def make(case: Case, **fields: Any) -> Cascade:
    """Build a layer with random parameters."""
    layer = Cascade(nn.Linear(case[1], case[0]), configure(case, **fields)).double()
    randomise(layer, std=0.4)
    return layer


@cache
def cosines(size: int) -> Tensor:
    """Write the orthonormal DCT-II basis out, row i of frequency i."""
    rows = []
    for i in range(size):
        scale = math.sqrt((1 if i == 0 else 2) / size)
        rows.append([scale * math.cos(math.pi * i * (2 * k + 1) / (2 * size)) for k in range(size)])
    return torch.tensor(rows, dtype=torch.float64)


@cache
def haar(size: int) -> Tensor:
    """Write the orthonormal Haar analysis of one level out, sums above differences."""
    matrix = torch.zeros(size, size, dtype=torch.float64)
    for k in range(size // 2):
        matrix[k, 2 * k] = matrix[k, 2 * k + 1] = math.sqrt(0.5)
        matrix[size // 2 + k, 2 * k] = math.sqrt(0.5)
        matrix[size // 2 + k, 2 * k + 1] = -math.sqrt(0.5)
    return matrix


def frequencies(m: int, n: int, count: int) -> Places:
    """List the lowest frequencies by i + j, and the smaller i first among equals."""
    every = [(i, j) for i in range(m) for j in range(n)]
    return sorted(every, key=lambda place: (sum(place), place[0]))[:count]


def bands(m: int, n: int, count: int) -> list[tuple[int, range, range]]:
    """List for LH, HL, HH how many of `count` coefficients it has, and its rows and columns."""
    share, left = divmod(count, 3)
    low, high = (range(m // 2), range(n // 2)), (range(m // 2, m), range(n // 2, n))
    return [
        (share, low[0], high[1]),
        (share + (left == 2), high[0], low[1]),
        (share + (left >= 1), high[0], high[1]),
    ]


@torch.no_grad()
def response(layer: Cascade, n: int, experts: int = 3) -> Tensor:
    """Read sum_e dW_e off a layer whose weights are all equal."""
    return experts * layer(torch.eye(n, dtype=torch.float64)).T


@torch.no_grad()
def places_of(layer: Cascade, m: int, n: int, experts: int = 3) -> Places:
    """Find where the wavelet coefficients lie: number them, and look for the numbers."""
    probe = copy.deepcopy(layer)
    for parameter in probe.parameters():
        parameter.zero_()
    count = len(probe.B_wav)
    probe.B_wav.copy_(torch.arange(1, count + 1))
    spectrum = haar(m) @ response(probe, n, experts) @ haar(n).T
    numbers = spectrum.round()
    torch.testing.assert_close(spectrum, numbers, rtol=0, atol=1e-8)
    found = {int(numbers[i, j]): (i, j) for i, j in numbers.nonzero().tolist()}
    assert len(numbers.nonzero()) == count, "two coefficients share a place"
    return [found[number] for number in range(1, count + 1)]


def present(config: CascadeConfig) -> list[str]:
    return [name for name in ("dct", "wavelet", "spatial") if getattr(config, name)]


class Plain:
    """A layer of CASCADE by its equations; its parameters are leaves of their own."""

    def __init__(self, layer: Cascade, config: CascadeConfig, m: int, n: int) -> None:
        self.config, self.m, self.n = config, m, n
        self.p = {
            name: parameter.detach().double().requires_grad_()
            for name, parameter in layer.named_parameters()
        }
        self.experts = present(config)
        self.frequencies = frequencies(m, n, config.K_dct) if config.dct else []
        doubled = copy.deepcopy(layer).double()
        self.places = places_of(doubled, m, n, len(self.experts)) if config.wavelet else []

    def modulated(self) -> Tensor:
        """Compute eq. 8 and 9 at the sampled places, all bands after another."""
        config, p = self.config, self.p
        if not (config.modulation and config.dct):
            return p["B_wav"]
        hidden = p["g.0.weight"] @ p["s"] + p["g.0.bias"]
        six = p["g.2.weight"] @ (hidden / (1 + torch.exp(-hidden))) + p["g.2.bias"]
        values, start = [], 0
        for band, (count, _, _) in enumerate(bands(self.m, self.n, config.K_wav)):
            values.append((1 + six[band]) * p["B_wav"][start : start + count] + six[3 + band])
            start += count
        return torch.cat(values)

    def updates(self) -> dict[str, Tensor]:
        """Compute eq. 3 to 9."""
        m, n, made = self.m, self.n, {}
        if self.config.dct:
            spectrum = torch.zeros(m, n, dtype=torch.float64)
            for k, (i, j) in enumerate(self.frequencies):
                spectrum[i, j] = self.p["s"][k]
            made["dct"] = cosines(m).T @ spectrum @ cosines(n)
        if self.config.wavelet:
            details = torch.zeros(m, n, dtype=torch.float64)
            for (i, j), value in zip(self.places, self.modulated(), strict=True):
                details[i, j] = value
            made["wavelet"] = haar(m).T @ details @ haar(n)
        if self.config.spatial:
            made["spatial"] = self.p["B"] @ self.p["A"]
        return made

    def weights(self, x: Tensor) -> Tensor:
        """Compute eq. 10 and 11 of what the router sees, (n,)."""
        if self.config.routing == "uniform":
            return torch.full((len(self.experts),), 1 / len(self.experts), dtype=torch.float64)
        half = self.n // 2
        analysed = haar(self.n) @ x
        low, high = ((part**2).sum() / self.n + FLOOR for part in analysed.split(half))
        shares = [low / (low + high), high / (low + high)]
        entropy = -sum(share * share.log() for share in shares)
        spectral = torch.stack([(low + high).log(), shares[1], torch.as_tensor(entropy)])
        h = self.p["router.W_spec"] @ spectral + self.p["router.W_sem"] @ x
        scores = (self.p["router.W_out"] @ h).exp()
        return scores / scores.sum()

    def all_weights(self, states: Tensor) -> Tensor:
        """Weigh each token of (batch, tokens, n) by itself, or by the mean of what is pooled."""
        rows = []
        for sequence in states:
            count = len(sequence)
            pooled = {
                "token": [[x] for x in sequence],
                "prefix": [sequence[: t + 1] for t in range(count)],
                "sequence": [sequence] * count,
            }[self.config.pooling]
            seen = [sum(tokens) / len(tokens) for tokens in pooled]
            rows.append(torch.stack([self.weights(x) for x in seen]))
        return torch.stack(rows)

    def __call__(self, states: Tensor) -> Tensor:
        """Compute what eq. 2 adds to W0 x."""
        updates, rows = self.updates(), []
        for weights, sequence in zip(self.all_weights(states), states, strict=True):
            tokens = []
            for w, x in zip(weights, sequence, strict=True):
                parts = [w[e] * (updates[name] @ x) for e, name in enumerate(self.experts)]
                tokens.append(torch.stack(parts).sum(0))
            rows.append(torch.stack(tokens))
        return torch.stack(rows)

    def losses(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Compute L_bal and L_orth, eq. 13 and 14; zero where there is none."""
        balance = orthogonality = torch.zeros((), dtype=torch.float64)
        if self.config.routing == "spectral":
            tokens = self.all_weights(states).flatten(0, 1)
            balance = len(self.experts) * ((sum(tokens) / len(tokens)) ** 2).sum()
        if self.config.dct and self.config.wavelet:
            pairs = zip(self.p["s"], self.p["B_wav"], strict=False)
            orthogonality = torch.stack([one * other for one, other in pairs]).sum().abs()
        return balance, orthogonality


def close(found: Any, expected: Any, tolerance: float = 1e-11) -> None:
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


def assert_equals_the_equations(case: Case, **fields: Any) -> None:
    """Hold a layer's output and all its gradients against the dense computation."""
    m, n = case[:2]
    layer = make(case, **fields)
    plain = Plain(layer, configure(case, **fields), m, n)
    assert plain.p.keys() == dict(layer.named_parameters()).keys()
    states = [random(2, 3, n).requires_grad_() for _ in range(2)]
    outputs = [one(x) for one, x in zip((layer, plain), states, strict=True)]
    close(*outputs)
    assert outputs[0].abs().max() > 1e-3
    for output in outputs:
        (output * random(2, 3, m, seed=7)).sum().backward()
    close(states[0].grad, states[1].grad)
    for name, parameter in layer.named_parameters():
        if plain.p[name].grad is None:  # the router of a single expert
            assert parameter.grad is None or not parameter.grad.any(), name
        else:
            close(parameter.grad, plain.p[name].grad)


def cascades(model: Any) -> dict[str, Cascade]:
    """Find the adapters by the name of their layer in the bare model."""
    found = {}
    for name, module in model.named_modules():
        if isinstance(module, Cascade):
            layer = name.removeprefix("base_model.model.").partition(".adapter_modules")[0]
            found[layer] = module
    return found


def fresh(name: str = "llama-gqa", **fields: Any) -> Any:
    chosen = {**method.variants["small"], "d_g": 3, "d_h": 5, **fields}
    return method.adapt(build(name), method.configure(**chosen)).double().eval()


def adapt(name: str = "llama-gqa", **fields: Any) -> Any:
    """Put CASCADE with random parameters into a model."""
    return randomise(fresh(name, **fields), std=0.3)


def plains(model: Any) -> dict[str, Plain]:
    config = model.peft_config["default"]
    layers = dict(model.get_base_model().named_modules())
    made = {}
    for name, layer in cascades(model).items():
        linear = layers[name]
        made[name] = Plain(layer, config, linear.out_features, linear.in_features)
    return made


def watch(model: Any) -> dict[str, list[Tensor]]:
    """Keep what each adapter of the model sees, pass by pass."""
    seen: dict[str, list[Tensor]] = {name: [] for name in cascades(model)}
    for name, layer in cascades(model).items():
        layer.register_forward_pre_hook(lambda _, inputs, name=name: seen[name].append(inputs[0]))
    return seen


def trained(module: nn.Module) -> dict[str, nn.Parameter]:
    return {name: p for name, p in module.named_parameters() if p.requires_grad}


# The bases and the places


@pytest.mark.parametrize("size", [2, 6, 10])
def test_the_bases_written_out_are_orthonormal_and_the_cosines_those_of_scipy(size: int) -> None:
    eye = torch.eye(size, dtype=torch.float64)
    for basis in (cosines(size), haar(size)):
        close(basis @ basis.T, eye)
    spectrum = random(size, size + 2)
    expected = torch.from_numpy(idctn(spectrum.numpy(), type=2, norm="ortho"))
    close(cosines(size).T @ spectrum @ cosines(size + 2), expected)


@pytest.mark.parametrize(
    ("m", "n", "expected"),
    [
        (4, 4, [(0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (2, 0), (0, 3), (1, 2)]),
        (2, 6, [(0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (0, 3), (1, 2), (0, 4)]),
        (6, 2, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1)]),
    ],
)
@torch.no_grad()
def test_the_lowest_frequencies_come_first_and_ties_go_to_the_lower_output_frequency(
    m: int, n: int, expected: Places
) -> None:
    layer = make((m, n, len(expected), 1, 1), routing="uniform", modulation=False)
    for k, place in enumerate(expected):
        for parameter in layer.parameters():
            parameter.zero_()
        layer.s[k] = 1
        spectrum = torch.zeros(m, n, dtype=torch.float64)
        spectrum[place] = 1
        update = torch.from_numpy(idctn(spectrum.numpy(), type=2, norm="ortho"))
        close(response(layer, n), update)


@every_case
def test_each_coefficient_has_its_own_place_in_its_band_in_row_major_order(case: Case) -> None:
    m, n, _, count, _ = case
    places, start = places_of(make(case), m, n), 0
    for size, rows, columns in bands(m, n, count):
        band = places[start : start + size]
        assert all(i in rows and j in columns for i, j in band)
        assert band == sorted(set(band))
        start += size
    assert start == count


@torch.no_grad()
def test_the_first_letter_of_a_band_is_for_outputs_and_the_second_for_inputs() -> None:
    layer = make((2, 2, 1, 3, 1), dct=False, spatial=False)
    low, high = torch.tensor([[1, 1], [1, -1]]) * torch.tensor(0.5, dtype=torch.float64).sqrt()
    for k, (outputs, inputs) in enumerate([(low, high), (high, low), (high, high)]):
        layer.B_wav.zero_()
        layer.B_wav[k] = 1
        close(response(layer, 2, experts=1), torch.outer(outputs, inputs))


@pytest.mark.parametrize("count", [1, 2, 3, 10, 11, 12])
def test_what_is_left_over_of_an_even_split_goes_to_hh_and_then_to_hl(count: int) -> None:
    places = places_of(make((4, 8, 1, count, 1)), 4, 8)
    sizes = Counter((i >= 2, j >= 4) for i, j in places)
    expected = {
        1: (0, 0, 1),
        2: (0, 1, 1),
        3: (1, 1, 1),
        10: (3, 3, 4),
        11: (3, 4, 4),
        12: (4, 4, 4),
    }
    bands = ((False, True), (True, False), (True, True))
    assert tuple(sizes[band] for band in bands) == expected[count]


def test_the_seed_draws_every_place_of_a_band_equally_often() -> None:
    drawn: Counter[tuple[int, int]] = Counter()
    together: Counter[tuple[int, int]] = Counter()
    seeds = 160
    for seed in range(seeds):
        lh, hl, hh = places_of(make((4, 4, 1, 3, 1), seed=seed), 4, 4)
        drawn.update([lh, hl, hh])
        together[(lh[0] * 2 + lh[1] - 2, (hl[0] - 2) * 2 + hl[1])] += 1
    assert len(drawn) == 12
    # Five standard deviations of the binomial distributions.
    assert all(abs(count - seeds / 4) < 28 for count in drawn.values())
    assert len(together) == 16
    assert all(abs(count - seeds / 16) < 16 for count in together.values())


def test_the_seed_and_the_shape_decide_the_places_and_the_seed_decides_nothing_else() -> None:
    case = (8, 12, 5, 20, 2)

    def draw(start: int, **fields: Any) -> tuple[Places, Tensor]:
        torch.manual_seed(start)
        layer = Cascade(nn.Linear(12, 8), configure(case, **fields)).double()
        return places_of(layer, 8, 12), layer.A.data

    places, a = draw(0, seed=3)
    assert draw(1, seed=3)[0] == places
    assert draw(0, seed=3, pooling="sequence", lambda_bal=0.5)[0] == places
    others, same = draw(0, seed=4)
    assert others != places
    assert torch.equal(same, a)


# A layer


@every_case
def test_output_and_gradients_equal_those_of_the_dense_computation(case: Case) -> None:
    assert_equals_the_equations(case)


@every_switch
@pytest.mark.parametrize("case", [CASES["wide"], CASES["tall"]], ids=["wide", "tall"])
def test_output_and_gradients_of_a_variant_equal_those_of_the_dense_computation(
    case: Case, fields: dict[str, Any]
) -> None:
    assert_equals_the_equations(case, **fields)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    m, n = (2 * draw(st.integers(1, 5)) for _ in range(2))
    sizes = (draw(st.integers(1, limit)) for limit in (m * n, 3 * m * n // 4, min(m, n)))
    return (m, n, *sizes)  # type: ignore[return-value]


@settings(max_examples=40, derandomize=True)
@given(cases())
def test_output_and_gradients_equal_the_dense_ones_at_any_sizes(case: Case) -> None:
    assert_equals_the_equations(case)


@torch.no_grad()
def test_the_default_sizes_equal_the_inverse_transforms_of_whole_matrices() -> None:
    m, n = 256, 288
    layer = Cascade(nn.Linear(n, m), CascadeConfig()).double()
    randomise(layer, std=0.4)
    layer.router.W_out.zero_()
    plain = Plain.__new__(Plain)
    plain.config, plain.m, plain.n = CascadeConfig(), m, n
    plain.p = dict(layer.named_parameters())
    spectrum, details = (torch.zeros(m, n, dtype=torch.float64) for _ in range(2))
    rows, columns = torch.tensor(frequencies(m, n, 20_000)).T
    assert (rows.max() + 1, columns.max() + 1) == (199, 200)
    spectrum[rows, columns] = layer.s
    rows, columns = torch.tensor(places_of(layer, m, n)).T
    details[rows, columns] = plain.modulated()
    expected = torch.from_numpy(idctn(spectrum.numpy(), type=2, norm="ortho"))
    expected = expected + haar(m).T @ details @ haar(n) + layer.B @ layer.A
    found = 3 * layer(torch.eye(n, dtype=torch.float64)).T
    close(found, expected, 1e-10)


@torch.no_grad()
def test_modulation_reaches_the_sampled_places_and_no_other() -> None:
    case = (8, 12, 7, 20, 2)
    layer = make(case)
    layer.B.zero_()
    layer.router.W_out.zero_()
    layer.B_wav[::2] = 0
    plain = Plain(layer, configure(case), 8, 12)
    smooth = plain.updates()["dct"]
    spectrum = haar(8) @ (response(layer, 12) - smooth) @ haar(12).T
    modulated = plain.modulated()
    assert (modulated - layer.B_wav).abs().min() > 1e-3
    for (i, j), value in zip(plain.places, modulated, strict=True):
        close(spectrum[i, j], value)
        spectrum[i, j] = 0
    close(spectrum, torch.zeros_like(spectrum))


@every_switch
@torch.no_grad()
def test_the_start_adds_exactly_nothing(fields: dict[str, Any]) -> None:
    layer = Cascade(nn.Linear(10, 4), configure(CASES["wide"], **fields)).double()
    output = layer(random(2, 3, 10))
    assert torch.equal(output, torch.zeros(2, 3, 4, dtype=torch.float64))


def test_the_start_values_are_those_documented() -> None:
    layer = Cascade(nn.Linear(400, 40), configure((40, 400, 20, 30, 20), d_g=32, d_h=32))
    values = {name: parameter.detach() for name, parameter in layer.named_parameters()}
    zeros = ("s", "B_wav", "B", "g.2.weight", "g.2.bias", "router.W_out")
    assert all(not values[name].any() for name in zeros)
    assert values.keys() - set(zeros) == {
        "A",
        "g.0.weight",
        "g.0.bias",
        "router.W_spec",
        "router.W_sem",
    }
    # PyTorch's own linear layer, Kaiming with a = sqrt(5), is uniform up to 1 / sqrt(inputs).
    inputs = {"A": 400, "g.0.weight": 20, "g.0.bias": 20, "router.W_spec": 3, "router.W_sem": 400}
    for name, count in inputs.items():
        bound = 1 / math.sqrt(count)
        assert 0.85 * bound < values[name].abs().max() <= bound, name
    for name in ("A", "router.W_sem", "g.0.weight"):
        assert values[name].std() == pytest.approx(1 / math.sqrt(3 * inputs[name]), rel=0.1)


def test_every_parameter_leaves_the_start_within_four_steps() -> None:
    torch.manual_seed(0)
    layer = Cascade(nn.Linear(12, 8), configure((8, 12, 7, 20, 2))).double()
    start = {name: p.detach().clone() for name, p in layer.named_parameters()}
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(4):
        optimizer.zero_grad()
        (layer(random(3, 5, 12)) - random(3, 5, 8, seed=8)).square().mean().backward()
        optimizer.step()
    for name, parameter in layer.named_parameters():
        assert not torch.equal(parameter, start[name]), name


@torch.no_grad()
def test_tokens_weigh_the_experts_differently_in_these_tests() -> None:
    case = CASES["wide"]
    plain = Plain(make(case), configure(case), 4, 10)
    weights = plain.all_weights(random(2, 3, 10)).flatten(0, 1)
    assert weights.std(0).min() > 0.05
    assert weights.argmax(-1).unique().numel() > 1


@torch.no_grad()
def test_a_later_token_changes_no_earlier_output_of_a_layer() -> None:
    layer = make(CASES["wide"])
    states = random(2, 5, 10)
    changed = states.clone()
    changed[:, 3] = random(2, 10, seed=9)
    before, after = layer(states), layer(changed)
    same = torch.tensor([True, True, True, False, True])
    close(after[:, same], before[:, same])
    assert (after[:, 3] - before[:, 3]).abs().min() > 1e-6


@torch.no_grad()
def test_a_later_token_changes_earlier_outputs_of_its_sequence_with_sequence_pooling() -> None:
    layer = make(CASES["wide"], pooling="sequence")
    states = random(2, 5, 10)
    changed = states.clone()
    changed[0, 3] = random(10, seed=9)
    before, after = layer(states), layer(changed)
    assert ((after - before)[0].abs().amax(-1) > 1e-3).all()
    close(after[1], before[1])


@torch.no_grad()
def test_the_sequence_is_the_second_last_axis_and_token_pooling_needs_none() -> None:
    states = random(2, 3, 4, 10)
    for pooling in ("token", "prefix", "sequence"):
        layer = make(CASES["wide"], pooling=pooling)
        whole = layer(states)
        for i in range(2):
            close(layer(states[i]), whole[i])
            for j in range(3):
                close(layer(states[i, j]), whole[i, j])
    layer = make(CASES["wide"])
    close(layer(states[0, 0, 0]), layer(states)[0, 0, 0])


def test_strided_states_and_gradients_change_nothing() -> None:
    for pooling in ("token", "prefix", "sequence"):
        case = CASES["wide"]
        layer = make(case, pooling=pooling)
        plain = Plain(layer, configure(case, pooling=pooling), 4, 10)
        bases = [random(10, 3, 2).requires_grad_() for _ in range(2)]
        for one, base in zip((layer, plain), bases, strict=True):
            one(base.permute(2, 1, 0)).sum().backward()
            one(base[:, :1, :1].expand(10, 3, 2).permute(2, 1, 0)).mT[..., ::2].sum().backward()
        close(bases[0].grad, bases[1].grad)
        for name, parameter in layer.named_parameters():
            close(parameter.grad, plain.p[name].grad)


def test_each_gradient_is_the_same_whichever_others_are_asked_for() -> None:
    layer, states = make(CASES["wide"]), random(2, 3, 10)
    names = [name for name, _ in layer.named_parameters()]

    def gradients(asked: list[str], of_states: bool) -> dict[str, Tensor]:
        for name, parameter in layer.named_parameters():
            parameter.requires_grad_(name in asked)
        x = states.clone().requires_grad_(of_states)
        leaves = [p for p in layer.parameters() if p.requires_grad] + [x] * of_states
        found = torch.autograd.grad((layer(x) ** 2).sum(), leaves)
        return dict(zip(asked + ["x"] * of_states, found, strict=True))

    whole = gradients(names, True)
    for asked, of_states in [(names, False), ([], True), *([[name], False] for name in names)]:
        for name, gradient in gradients(asked, of_states).items():
            close(gradient, whole[name])


def test_passes_before_a_backward_add_their_gradients() -> None:
    layer = make(CASES["tall"])
    batches = [random(2, 3, 4), random(1, 5, 4, seed=3)]
    singly = [torch.autograd.grad((layer(x) ** 2).sum(), list(layer.parameters())) for x in batches]
    outputs = [layer(x) for x in batches]
    sum((output**2).sum() for output in outputs).backward()  # type: ignore[union-attr]
    for parameter, *parts in zip(layer.parameters(), *singly, strict=True):
        close(parameter.grad, parts[0] + parts[1])


def test_a_recomputed_layer_has_the_same_gradients() -> None:
    layer = make(CASES["wide"])
    found = []
    for again in (False, True):
        x = random(2, 3, 10).requires_grad_()
        output = checkpoint(layer, x, use_reentrant=False) if again else layer(x)
        found.append(torch.autograd.grad((output**2).sum(), [x, *layer.parameters()]))
    for kept, recomputed in zip(*found, strict=True):
        assert torch.equal(kept, recomputed)


def test_finite_differences_confirm_the_gradients() -> None:
    case = (4, 4, 4, 5, 1)
    layer = make(case, d_g=2, d_h=2)
    names = [name for name, _ in layer.named_parameters()]

    def run(x: Tensor, *values: Tensor) -> Tensor:
        given: Tensor = torch.func.functional_call(
            layer, dict(zip(names, values, strict=True)), (x,)
        )
        return given

    leaves = [p.detach().clone().requires_grad_() for p in layer.parameters()]
    assert torch.autograd.gradcheck(run, (random(1, 2, 4).requires_grad_(), *leaves))


def special(n: int) -> Tensor:
    """Make tokens of one kind of energy only, of both kinds alike, of none, large and small."""
    flat, turning = torch.ones(n), torch.ones(n)
    turning[1::2] = -1
    single = torch.zeros(n)
    single[0] = 1
    return torch.stack([flat, turning, single, 0 * flat, 100 * flat, 100 * turning, 1e-4 * single])


@pytest.mark.parametrize("pooling", ["token", "prefix", "sequence"])
def test_float32_agrees_on_ordinary_tokens_and_on_those_where_a_logarithm_may_fail(
    pooling: str,
) -> None:
    case = CASES["wide"]
    layer = make(case, pooling=pooling).float()
    layer.router.W_sem.data.mul_(0.01)
    plain = Plain(layer, configure(case, pooling=pooling), 4, 10)
    ordinary = random(7, 1, 10).float()
    for tokens in (ordinary, special(10)[:, None]):
        layer.zero_grad()
        for leaf in plain.p.values():
            leaf.grad = None
        x, y = tokens.clone().requires_grad_(), tokens.double().requires_grad_()
        found, expected = layer(x), plain(y)
        close(found.double(), expected, 1e-4)
        found.mean().backward()
        expected.mean().backward()
        assert x.grad is not None
        close(x.grad.double(), y.grad, 1e-3)
        for name, parameter in layer.named_parameters():
            assert parameter.grad is not None
            close(parameter.grad.double(), plain.p[name].grad, 1e-3)


# Models


@pytest.mark.parametrize("name", ["llama-gqa", "qwen2-mha", "gemma3-gqa"])
@torch.no_grad()
def test_logits_equal_those_of_dense_updates_on_the_bare_model(name: str) -> None:
    assert_logits_equal(name, {})


@every_variant
@torch.no_grad()
def test_logits_of_a_variant_equal_those_of_dense_updates_on_the_bare_model(name: str) -> None:
    assert_logits_equal("llama-gqa", {**method.variants[name], "target_modules": THREE})


def assert_logits_equal(name: str, fields: Any) -> None:
    adapted, bare, ids = adapt(name, **fields), build(name).double(), token_ids(2, 6)
    untouched = bare(input_ids=ids).logits
    layers = dict(bare.named_modules())
    for layer, plain in plains(adapted).items():
        layers[layer].register_forward_hook(
            lambda _, inputs, output, plain=plain: output + plain(inputs[0])
        )
    logits = adapted(input_ids=ids).logits
    close(logits, bare(input_ids=ids).logits)
    assert (logits - untouched).abs().max() > 1e-3


@torch.no_grad()
def test_a_model_starts_as_the_base_to_the_bit() -> None:
    ids = token_ids(2, 6)
    logits = fresh()(input_ids=ids).logits
    assert torch.equal(logits, build("llama-gqa").double()(input_ids=ids).logits)


@torch.no_grad()
def test_a_later_token_changes_no_earlier_logit_and_does_with_sequence_pooling() -> None:
    for pooling in ("token", "sequence"):
        model = adapt(pooling=pooling)
        before, after = logits_as_a_token_changes(model, token_ids(2, 13), at=9)
        moved = (after - before).abs()
        assert moved[:, 9:].max() > 1e-3
        if pooling == "token":
            close(after[:, :9], before[:, :9])
        else:
            assert moved[:, :9].amax((0, 2)).min() > 1e-3


@every_variant
def test_the_count_is_the_formula(name: str) -> None:
    config = method.configure(**{**method.variants["small"], **method.variants[name], "d_g": 3})
    model = build("llama-gqa")
    experts = len(present(config))
    expected = 0
    for weight in (module.weight for key, module in model.named_modules() if key.endswith("_proj")):
        m, n = weight.shape
        expected += config.dct * 200 + config.wavelet * 100 + config.spatial * 8 * (m + n)
        if config.dct and config.wavelet and config.modulation:
            expected += 3 * (200 + 1) + 6 * (3 + 1)
        if config.routing == "spectral":
            expected += 16 * (3 + n + experts)
    assert method.parameters is not None
    assert method.parameters(config, model) == expected
    adapted = method.adapt(model, config)
    assert sum(parameter.numel() for parameter in trained(adapted).values()) == expected


@torch.no_grad()
def test_a_saved_adapter_draws_its_places_again_and_computes_the_same_to_the_bit(
    tmp_path: Path,
) -> None:
    model, ids = adapt(seed=11), token_ids(2, 6)
    for parameter in trained(model).values():
        parameter.copy_(parameter.float())  # as it trains
    logits = model(input_ids=ids).logits
    model.save_pretrained(tmp_path)
    torch.manual_seed(123)
    reloaded = method.load(build("llama-gqa").double(), str(tmp_path)).double().eval()
    assert torch.equal(reloaded(input_ids=ids).logits, logits)
    before, after = plains(model), plains(reloaded)
    assert all(after[name].places == plain.places for name, plain in before.items())
    saved = load_file(tmp_path / "adapter_model.safetensors")
    assert sum(tensor.numel() for tensor in saved.values()) == sum(
        parameter.numel() for parameter in trained(model).values()
    )


def test_layers_of_equal_shape_have_the_same_places() -> None:
    by_shape: dict[tuple[int, int], list[Places]] = {}
    for plain in plains(fresh(seed=3)).values():
        by_shape.setdefault((plain.m, plain.n), []).append(plain.places)
    assert {shape: len(places) for shape, places in by_shape.items()} == {
        (64, 32): 2,
        (32, 32): 4,
        (32, 64): 2,
        (48, 32): 4,
        (32, 48): 2,
    }
    for places in by_shape.values():
        assert all(one == places[0] for one in places)


# The auxiliary loss and the record


def auxiliary(model: Any) -> Tensor:
    assert method.auxiliary_loss is not None
    return method.auxiliary_loss(model)


def auxiliary_by_hand(
    model: Any, by_hand: dict[str, Plain], seen: dict[str, list[Tensor]]
) -> Tensor:
    """Compute eq. 12 without the task; its gradients reach the model's own parameters."""
    config = model.peft_config["default"]
    sums = []
    for name, plain in by_hand.items():
        plain.p = dict(cascades(model)[name].named_parameters())
        balance, orthogonality = plain.losses(seen[name][-1])
        sums.append(config.lambda_bal * balance + config.lambda_orth * orthogonality)
    return torch.stack(sums).mean()


AUXILIARY: dict[str, dict[str, Any]] = {
    **SWITCHES,
    "no-balance": {"lambda_bal": 0.0},
    "no-orthogonality": {"lambda_orth": 0.0},
    "more-details-than-frequencies": {"K_dct": 50},
    "uniform-routing-no-wavelet": {"routing": "uniform", "wavelet": False},
}


@pytest.mark.parametrize("fields", AUXILIARY.values(), ids=AUXILIARY)
def test_the_auxiliary_loss_and_its_gradients_equal_the_equations(fields: dict[str, Any]) -> None:
    chosen = {"lambda_bal": 0.3, "lambda_orth": 0.7, "target_modules": THREE, **fields}
    model = adapt(**chosen).train()
    by_hand = plains(model)
    seen = watch(model)
    mask = torch.ones(2, 5, dtype=torch.long)
    if fields.get("pooling") != "prefix":  # whose means leave padding out
        mask[0, :2] = 0  # padding counts
    model(input_ids=token_ids(2, 5), attention_mask=mask)
    found, expected = auxiliary(model), auxiliary_by_hand(model, by_hand, seen)
    close(found.double(), expected.double())
    parameters = trained(model)
    if not expected.requires_grad:
        assert not found.any()
        return
    gradients = [
        torch.autograd.grad(loss, list(parameters.values()), allow_unused=True, retain_graph=True)
        for loss in (found, expected)
    ]
    for name, one, other in zip(parameters, *gradients, strict=True):
        zero = torch.zeros_like(parameters[name])
        close(zero if one is None else one, zero if other is None else other)


@pytest.mark.parametrize("fields", [{}, {"dct": False}, {"wavelet": False, "spatial": False}])
@torch.no_grad()
def test_balance_is_one_at_equal_weights_and_the_number_of_experts_at_collapse(
    fields: dict[str, bool],
) -> None:
    model = fresh(lambda_bal=1.0, lambda_orth=0.0, **fields).train()
    experts = len(present(model.peft_config["default"]))
    model(input_ids=token_ids(2, 5))
    close(auxiliary(model), torch.tensor(1.0, dtype=torch.float64))
    for layer in cascades(model).values():
        layer.router.W_sem.zero_()
        layer.router.W_spec.zero_()
        layer.router.W_spec[:, 2] = 1  # the entropy, which is positive
        layer.router.W_out[-1] = 1e5
    model(input_ids=token_ids(2, 5))
    close(auxiliary(model), torch.tensor(float(experts), dtype=torch.float64))


def test_each_training_pass_has_its_own_auxiliary_loss_and_evaluation_has_none() -> None:
    model = adapt().train()
    first, second = token_ids(2, 5), token_ids(3, 7, seed=6)
    alone = []
    for ids in (first, second):
        model(input_ids=ids)
        alone.append(auxiliary(model).item())
    assert abs(alone[0] - alone[1]) > 1e-6
    model(input_ids=second)
    model.eval()(input_ids=first)
    assert not auxiliary(model).any()
    model.train()(input_ids=first)
    assert auxiliary(model).item() == pytest.approx(alone[0], rel=1e-12)


def test_gradient_checkpointing_changes_no_gradient_loss_or_record() -> None:
    gradients, losses, records = [], [], []
    assert method.hooks is not None
    for checkpointing in (False, True):
        model = adapt(lambda_bal=3.0, lambda_orth=2.0, target_modules=THREE).train()
        if checkpointing:
            base: Any = model.get_base_model()
            base.activation_checkpointing_enable({"use_reentrant": False})
        for seed in (5, 6):
            ids = token_ids(2, 5, seed=seed)
            output = model(input_ids=ids, labels=ids)
            loss = auxiliary(model)
            losses.append(loss.item())
            (output.loss + loss).backward()
        gradients.append([parameter.grad for parameter in trained(model).values()])
        records.append(method.hooks(model, PLAN).record()["router_weights"])
        model.eval()(input_ids=token_ids(2, 5))
        assert not auxiliary(model).any()
    for kept, recomputed in zip(*gradients, strict=True):
        close(recomputed, kept)
    close(losses[2:], losses[:2])
    for layer, weights in records[0].items():
        close(records[1][layer], weights)


@pytest.mark.parametrize(
    "name", ["small", "uniform-routing", "no-dct", "no-wavelet", "no-spatial", "no-modulation"]
)
@torch.no_grad()
def test_the_record_is_the_mean_weight_of_each_expert_over_the_training_tokens(name: str) -> None:
    model = adapt(**method.variants[name], target_modules=THREE)
    assert method.hooks is not None
    hooks, by_hand = method.hooks(model, PLAN), plains(model)
    seen = watch(model)
    model.train()
    for step, ids in enumerate([token_ids(2, 5), token_ids(3, 7, seed=6)], 1):
        hooks.before_forward(step)
        model(input_ids=ids)
        hooks.after_backward(step)
        hooks.after_step(step)
    model.eval()(input_ids=token_ids(2, 9, seed=7))
    record = hooks.record()["router_weights"]
    assert json.loads(json.dumps(record)) == record
    assert record.keys() == by_hand.keys()
    for layer, plain in by_hand.items():
        weights = [plain.all_weights(x).flatten(0, 1) for x in seen[layer][:2]]
        mean = dict(zip(plain.experts, torch.cat(weights).mean(0).tolist(), strict=True))
        expected = [mean.get(expert, 0.0) for expert in ("dct", "wavelet", "spatial")]
        assert record[layer] == pytest.approx(expected, abs=1e-11)


def test_training_starts_with_equal_weights() -> None:
    model = fresh().train()
    model(input_ids=token_ids(2, 5))
    assert method.hooks is not None
    for weights in method.hooks(model, PLAN).record()["router_weights"].values():
        assert weights == pytest.approx([1 / 3, 1 / 3, 1 / 3], abs=1e-12)


# What does not fit


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"K_dct": 0}, "K_dct must be at least 1, not 0"),
        ({"K_wav": -3}, "K_wav must be at least 1, not -3"),
        ({"r": 0}, "r must be at least 1, not 0"),
        ({"d_g": 0}, "d_g must be at least 1, not 0"),
        ({"d_h": 0}, "d_h must be at least 1, not 0"),
        ({"lambda_bal": -0.5}, "lambda_bal must be at least 0, not -0.5"),
        ({"lambda_orth": math.nan}, "lambda_orth must be at least 0, not nan"),
        ({"lambda_orth": math.inf}, "lambda_orth must be at least 0, not inf"),
        ({"seed": -1}, "seed must be at least 0, not -1"),
        ({"routing": "top"}, "routing must be one of spectral, uniform, not top"),
        ({"pooling": "max"}, "pooling must be one of token, prefix, sequence, not max"),
        ({"dct": False, "wavelet": False, "spatial": False}, "dct, wavelet or spatial"),
    ],
    ids=str,
)
def test_a_bad_field_is_refused_with_its_value_and_the_limit(
    fields: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        method.configure(**fields)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"K_dct": 1025}, r"k_proj.*32 x 32.*K_dct may be at most 1024 there, not 1025"),
        ({"K_wav": 769}, r"k_proj.*32 x 32.*K_wav may be at most 768 there, not 769"),
        ({"r": 33}, r"q_proj.*64 x 32.*r may be at most 32 there, not 33"),
    ],
    ids=str,
)
def test_a_size_that_does_not_fit_is_refused_with_layer_value_and_limit(
    fields: dict[str, int], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        fresh(**fields)
    switch = {"K_dct": "dct", "K_wav": "wavelet", "r": "spatial"}[next(iter(fields))]
    fresh(**fields, **{switch: False})


def test_the_largest_sizes_fit() -> None:
    model = fresh(K_dct=1024, K_wav=768, r=32, target_modules=["k_proj", "o_proj"])
    assert len(cascades(model)) == 4


def odd() -> LlamaForCausalLM:
    return LlamaForCausalLM(LlamaConfig(**{**SHAPE, "intermediate_size": 47}))


def test_an_odd_size_is_refused_with_the_layer_unless_it_is_no_target() -> None:
    small = method.variants["small"]
    with pytest.raises(ValueError, match=r"layers\.0\.mlp\.\w+_proj.* 47 x 32.*even"):
        method.adapt(odd(), method.configure(**small))
    model = method.adapt(odd(), method.configure(**small, target_modules=["q_proj", "v_proj"]))
    assert {name.split(".")[-1] for name in cascades(model)} == {"q_proj", "v_proj"}
