"""LoCA against its equations (Du et al., ICLR 2025; reference 5.13), written out a second time."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from methods.conformance.models import VOCABULARY, build
from methods.loca import LoCA, LoCAConfig, method
from methods.training.hooks import TrainingAhead

ALPHA = 1.7
SCALE = 0.25
COEFFICIENTS = 40

# (out, in): powers of two, even, odd, prime, and a side of one place.
SHAPES = [(8, 16), (6, 10), (9, 15), (7, 13), (31, 5), (2, 3), (1, 7), (11, 1)]
every_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)


def cosines(size: int) -> Tensor:
    """Compute the orthonormal DCT-II, a row per frequency, from its definition."""
    rows = [
        [
            math.sqrt((1 if frequency == 0 else 2) / size)
            * math.cos(math.pi * (2 * place + 1) * frequency / (2 * size))
            for place in range(size)
        ]
        for frequency in range(size)
    ]
    return torch.tensor(rows, dtype=torch.float64)


def update_by_hand(a: Tensor, places: list[tuple[int, int]], shape: tuple[int, int]) -> Tensor:
    """Compute alpha C^T S D, the sum of a wave per coefficient."""
    rows, columns = cosines(shape[0]), cosines(shape[1])
    update = torch.zeros(shape, dtype=torch.float64)
    for value, (i, j) in zip(a.tolist(), places, strict=True):
        update += ALPHA * value * torch.outer(rows[i], columns[j])
    return update


def places_by_hand(layer: LoCA, shape: tuple[int, int]) -> list[tuple[int, int]]:
    sides = [
        [round(min(max(SCALE * value, 0.0), 1.0) * (size - 1)) for value in row]
        for row, size in zip(layer.locations.tolist(), shape, strict=True)
    ]
    return list(zip(*sides, strict=True))


def random(*shape: int, seed: int = 2) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def make(shape: tuple[int, int], n: int = COEFFICIENTS) -> LoCA:
    """Build a layer with random coefficients at random places, some beyond the borders."""
    n = min(n, math.prod(shape))
    config = LoCAConfig(n=n, alpha=ALPHA, location_scale=SCALE)
    layer = LoCA(nn.Linear(shape[1], shape[0]), config).double()
    with torch.no_grad():
        layer.a.copy_(0.4 * random(n, seed=3))
        layer.locations.copy_((0.5 + 0.5 * random(2, n, seed=4)) / SCALE)
    return layer


def gradients_by_hand(
    layer: LoCA, shape: tuple[int, int], states: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor]:
    """Differentiate L = sum(weight * y) by what it is after each single change.

    L is linear in each coefficient, so that one more of it gives the exact derivative; the
    derivative by a place is half of L one place on less L one place back, and never leaves the
    matrix.
    """
    places = places_by_hand(layer, shape)

    def loss(a: Tensor, places: list[tuple[int, int]]) -> float:
        return float((weight * (states @ update_by_hand(a, places, shape).T)).sum())

    a = layer.a.detach()
    by_a, by_place = torch.zeros_like(a), torch.zeros(2, len(a), dtype=torch.float64)
    for k, (i, j) in enumerate(places):
        more = a.clone()
        more[k] += 1
        by_a[k] = loss(more, places) - loss(a, places)

        def moved(down: int, right: int, k: int = k, i: int = i, j: int = j) -> float:
            to = min(max(i + down, 0), shape[0] - 1), min(max(j + right, 0), shape[1] - 1)
            return loss(a, [*places[:k], to, *places[k + 1 :]])

        by_place[0, k] = (moved(1, 0) - moved(-1, 0)) / 2
        by_place[1, k] = (moved(0, 1) - moved(0, -1)) / 2
    return by_a, by_place


def backward(layer: LoCA, states: Tensor, weight: Tensor) -> None:
    (weight * layer(states)).sum().backward()


def gradient(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad


def assert_close(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-11, atol=1e-11)


def adapt(**fields: Any) -> Any:
    """Put LoCA with random coefficients into a model."""
    model: Any = method.adapt(build("llama-gqa"), method.configure(n=12, **fields)).double()
    for number, layer in enumerate(loca_layers(model)):
        layer.a.data = 0.3 * random(12, seed=number)
    return model


def loca_layers(model: Any) -> list[LoCA]:
    return [module for module in model.modules() if isinstance(module, LoCA)]


def text() -> Tensor:
    return torch.randint(VOCABULARY, (2, 6), generator=torch.Generator().manual_seed(5))


@every_shape
@torch.no_grad()
def test_output_is_that_of_the_inverse_cosine_transform_written_out(shape: tuple[int, int]) -> None:
    layer = make(shape)
    update = update_by_hand(layer.a, places_by_hand(layer, shape), shape)
    for leading in [(2, 3), (4,), (40,)]:
        states = random(*leading, shape[1])
        assert_close(layer(states), torch.einsum("pq,...q->...p", update, states))


@torch.no_grad()
def test_a_single_state_is_mapped_as_one_of_a_batch() -> None:
    layer, states = make((7, 13)), random(3, 13)
    for state, expected in zip(states, layer(states), strict=True):
        assert_close(layer(state), expected)


@every_shape
@torch.no_grad()
def test_weight_update_is_the_inverse_cosine_transform_written_out(shape: tuple[int, int]) -> None:
    layer = make(shape)
    update = update_by_hand(layer.a, places_by_hand(layer, shape), shape)
    assert_close(layer.weight_update(), update)


@torch.no_grad()
def test_one_coefficient_is_one_wave_of_norm_alpha_that_no_other_place_shares() -> None:
    shape = (5, 6)
    layer = make(shape, n=1)
    layer.a.fill_(1.0)
    waves = []
    for i in range(shape[0]):
        for j in range(shape[1]):
            layer.locations.copy_(torch.tensor([[i / 4], [j / 5]], dtype=torch.float64) / SCALE)
            waves.append(layer.weight_update().flatten())
    products = torch.stack(waves) @ torch.stack(waves).T
    assert_close(products, ALPHA**2 * torch.eye(30, dtype=torch.float64))


@torch.no_grad()
def test_coefficients_at_one_place_add_up() -> None:
    shape = (7, 6)
    many, one = make(shape, n=3), make(shape, n=1)
    many.a.copy_(torch.tensor([0.5, -0.125, 0.25]))
    one.a.copy_(torch.tensor([0.625]))
    for layer in (many, one):
        layer.locations[0], layer.locations[1] = 0.3 / SCALE, 0.8 / SCALE
    states = random(3, shape[1])
    assert_close(many(states), one(states))
    assert_close(many.weight_update(), one.weight_update())
    assert float(one(states).abs().max()) > 0.01


@every_shape
def test_places_are_scaled_to_the_matrix_rounded_and_kept_inside(shape: tuple[int, int]) -> None:
    layer = make(shape)
    assert list(zip(*layer.places().tolist(), strict=True)) == places_by_hand(layer, shape)


def test_places_of_known_locations_are_known() -> None:
    layer = make((5, 11), n=4)
    u = [[0.0, 0.3, 0.9, 7.0], [1.0, 0.34, -2.0, 0.96]]
    layer.locations.data = torch.tensor(u, dtype=torch.float64) / SCALE
    assert layer.places().tolist() == [[0, 1, 4, 4], [10, 3, 0, 10]]


@pytest.mark.parametrize("scale", [0.1, 2.0])
def test_places_start_uniform_and_coefficients_at_zero(scale: float) -> None:
    n = 10_000
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layer = LoCA(nn.Linear(128, 96), LoCAConfig(n=n, location_scale=scale))
    assert torch.equal(layer.a, torch.zeros(n))
    for row in layer.locations.detach().double() * scale:
        ordered = row.sort().values
        assert ordered[0] >= -1e-6
        assert ordered[-1] <= 1 + 1e-6
        # The largest gap between drawn and true distribution is above 0.04 with a chance of
        # 2 exp(-2 n 0.04^2) < 1e-13 (Dvoretzky, Kiefer, Wolfowitz; Massart 1990).
        gap = (ordered - torch.arange(1, n + 1, dtype=torch.float64) / n).abs().max()
        assert gap <= 0.04
    assert not torch.equal(layer.locations[0], layer.locations[1])


def test_a_new_layer_adds_exactly_nothing() -> None:
    layer = LoCA(nn.Linear(6, 9), LoCAConfig(n=20, alpha=ALPHA)).double()
    assert torch.equal(layer(random(2, 3, 6)), torch.zeros(2, 3, 9, dtype=torch.float64))
    assert torch.equal(layer.weight_update(), torch.zeros(9, 6, dtype=torch.float64))


@every_shape
def test_gradients_are_the_spectrum_and_its_central_differences(shape: tuple[int, int]) -> None:
    layer = make(shape)
    states, weight = random(2, 3, shape[1]), 0.1 * random(2, 3, shape[0])
    by_a, by_place = gradients_by_hand(layer, shape, states, weight)
    assert by_place.abs().max() < 1, "the limit would hide the formula"
    backward(layer, states, weight)
    assert_close(gradient(layer.a), by_a)
    assert_close(gradient(layer.locations), by_place)


def test_a_gradient_by_a_place_at_the_border_is_half_a_one_sided_difference() -> None:
    shape = (4, 3)
    layer = make(shape, n=4)
    u = [[0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]]
    layer.locations.data = torch.tensor(u, dtype=torch.float64) / SCALE
    states, weight = random(5, shape[1]), 0.1 * random(5, shape[0])
    spectrum = ALPHA * cosines(4) @ (weight.T @ states) @ cosines(3).T
    backward(layer, states, weight)
    expected = torch.stack(
        [
            torch.stack(
                [
                    spectrum[1, 0] - spectrum[0, 0],
                    spectrum[3, 0] - spectrum[2, 0],
                    spectrum[1, 2] - spectrum[0, 2],
                    spectrum[3, 2] - spectrum[2, 2],
                ]
            ),
            torch.stack(
                [
                    spectrum[0, 1] - spectrum[0, 0],
                    spectrum[3, 1] - spectrum[3, 0],
                    spectrum[0, 2] - spectrum[0, 1],
                    spectrum[3, 2] - spectrum[3, 1],
                ]
            ),
        ]
    )
    assert_close(gradient(layer.locations), layer.a.detach() / 2 * expected)


def test_the_gradient_by_a_place_is_limited_to_one_and_that_by_a_coefficient_is_not() -> None:
    shape = (9, 7)
    layer = make(shape)
    states, weight = random(4, shape[1]), 2 * random(4, shape[0])
    by_a, by_place = gradients_by_hand(layer, shape, states, weight)
    assert by_place.min() < -1.5
    assert by_place.max() > 1.5
    assert (by_place.abs() < 0.5).any()
    backward(layer, states, weight)
    assert_close(gradient(layer.locations), by_place.clamp(-1, 1))
    assert gradient(layer.locations).aminmax() == (-1, 1)
    assert by_a.abs().max() > 1.5
    assert_close(gradient(layer.a), by_a)


def test_the_limit_holds_for_each_backward_pass() -> None:
    shape = (9, 7)
    layer = make(shape)
    states = random(4, shape[1])
    weights = [2 * random(4, shape[0], seed=seed) for seed in (6, 7)]
    singly = [gradients_by_hand(layer, shape, states, weight)[1] for weight in weights]
    for weight in weights:
        backward(layer, states, weight)
    expected = singly[0].clamp(-1, 1) + singly[1].clamp(-1, 1)
    assert expected.abs().max() > 1
    assert_close(gradient(layer.locations), expected)


@every_shape
@pytest.mark.parametrize("learned", ["both", "coefficients", "locations"])
def test_the_gradient_of_the_input_is_that_of_the_dense_update(
    shape: tuple[int, int], learned: str
) -> None:
    layer = make(shape)
    layer.learns_coefficients = learned != "locations"
    layer.learns_locations = learned != "coefficients"
    states, weight = random(2, 3, shape[1]).requires_grad_(), random(2, 3, shape[0])
    backward(layer, states, weight)
    update = update_by_hand(layer.a.detach(), places_by_hand(layer, shape), shape)
    assert_close(gradient(states), weight @ update)


@pytest.mark.parametrize("coefficients", [True, False])
def test_a_part_that_does_not_learn_has_no_gradient_and_changes_none(coefficients: bool) -> None:
    shape = (9, 7)
    layer = make(shape)
    states, weight = random(4, shape[1]), random(4, shape[0])
    by_a, by_place = gradients_by_hand(layer, shape, states, weight)
    output = layer(states)
    layer.learns_coefficients, layer.learns_locations = coefficients, not coefficients
    assert torch.equal(layer(states), output)
    backward(layer, states, weight)
    if coefficients:
        assert layer.locations.grad is None
        assert_close(gradient(layer.a), by_a)
    else:
        assert layer.a.grad is None
        assert_close(gradient(layer.locations), by_place.clamp(-1, 1))


def test_both_parts_learn_without_the_hook() -> None:
    for layer in loca_layers(adapt()):
        assert layer.learns_coefficients
        assert layer.learns_locations


# 10 steps of coefficients and 20 of locations, in the first tenth; each run ends it elsewhere:
# on a border of the cycle, among coefficients, among locations.
SCHEDULES = [
    ({}, 600, 80, [*range(11, 31), *range(41, 61)]),
    ({}, 650, 80, [*range(11, 31), *range(41, 61)]),
    ({}, 480, 70, [*range(11, 31), *range(41, 49)]),
    ({}, 90, 40, []),
    ({"location_share": 0.0}, 100, 100, []),
    ({"location_share": 1.0}, 75, 75, [*range(11, 31), *range(41, 61), *range(71, 76)]),
    (
        {"coefficient_steps": 2, "location_steps": 1, "location_share": 0.5},
        20,
        20,
        [3, 6, 9],
    ),
]


@pytest.mark.parametrize(("fields", "steps", "seen", "of_locations"), SCHEDULES)
def test_coefficients_and_locations_alternate_and_then_coefficients_learn_alone(
    fields: dict[str, Any], steps: int, seen: int, of_locations: list[int]
) -> None:
    model = adapt(**fields)
    assert method.hooks
    hooks = method.hooks(model, TrainingAhead(steps, 0, 0))
    layers = loca_layers(model)
    found = []
    for step in range(1, seen + 1):
        hooks.before_forward(step)
        learns = {(layer.learns_coefficients, layer.learns_locations) for layer in layers}
        assert learns in ({(True, False)}, {(False, True)})
        found += [step] if learns == {(False, True)} else []
    assert found == of_locations


def test_a_training_moves_one_part_in_each_step() -> None:
    model = adapt(coefficient_steps=2, location_steps=3, location_share=0.5).train()
    assert method.hooks
    hooks = method.hooks(model, TrainingAhead(28, 0, 0))
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=0.01, weight_decay=0.1)
    moved = ""
    for step in range(1, 18):
        before = [(layer.a.clone(), layer.locations.clone()) for layer in loca_layers(model)]
        hooks.before_forward(step)
        optimizer.zero_grad()
        model(input_ids=text(), labels=text()).loss.backward()
        hooks.after_backward(step)
        idle = {
            (layer.a.grad is None, layer.locations.grad is None) for layer in loca_layers(model)
        }
        optimizer.step()
        hooks.after_step(step)
        changed = {
            (not torch.equal(a, layer.a), not torch.equal(locations, layer.locations))
            for (a, locations), layer in zip(before, loca_layers(model), strict=True)
        }
        assert (idle, changed) in (
            ({(False, True)}, {(True, False)}),
            ({(True, False)}, {(False, True)}),
        )
        moved += "a" if changed == {(True, False)} else "l"
    assert moved == "aalll" + "aalll" + "aall" + "aaa"  # 14 steps, then coefficients alone


@torch.no_grad()
def test_a_layer_of_a_model_adds_the_update_to_its_own_output() -> None:
    layer = adapt().get_base_model().model.layers[1].mlp.down_proj
    states = random(2, 5, 48)
    loca = layer.adapter_modules["default"]
    rows, columns = cosines(32), cosines(48)
    update = torch.zeros(32, 48, dtype=torch.float64)
    for a, i, j in zip(loca.a.tolist(), *loca.places().tolist(), strict=True):
        update += a * torch.outer(rows[i], columns[j])
    assert_close(layer(states), states @ (layer.base_layer.weight + update).T)


@torch.no_grad()
def test_a_later_token_changes_no_earlier_logits() -> None:
    model = adapt().eval()
    ids = text()
    other = ids.clone()
    other[:, 4] = (ids[:, 4] + 1) % VOCABULARY
    first, second = model(input_ids=ids).logits, model(input_ids=other).logits
    assert torch.equal(first[:, :4], second[:, :4])
    assert not torch.allclose(first[:, 4:], second[:, 4:])


@pytest.mark.parametrize(
    ("field", "value", "limit"),
    [
        ("n", 0, "at least 1"),
        ("alpha", 0.0, "above 0"),
        ("alpha", math.nan, "above 0"),
        ("location_scale", -0.1, "above 0"),
        ("coefficient_steps", 0, "at least 1"),
        ("location_steps", 0, "at least 1"),
        ("location_share", -0.1, "between 0 and 1"),
        ("location_share", 1.1, "between 0 and 1"),
    ],
)
def test_a_field_out_of_bounds_is_named_with_its_value_and_limit(
    field: str, value: float, limit: str
) -> None:
    with pytest.raises(ValueError, match=rf"{field}.*{limit}.*{value}"):
        LoCAConfig(**{field: value})


def test_more_coefficients_than_a_weight_has_are_refused_with_its_name_and_limit() -> None:
    with pytest.raises(ValueError, match=r"k_proj.*at most 1024.*1025"):
        method.adapt(build("llama-gqa"), method.configure(n=1025))
