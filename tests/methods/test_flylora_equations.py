"""FlyLoRA against its equations (Zou et al., NeurIPS 2025; reference 5.14), written out again."""

import math
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from methods.conformance.models import VOCABULARY, build
from methods.flylora import FlyLoRA, FlyLoRAConfig, method
from methods.training.hooks import TrainingAhead

ALPHA, U = 3.0, 0.05

# (in, out, r, k): with and without a rest in p = in k / r, one rank and all ranks used.
SHAPES = [(12, 7, 6, 2), (13, 5, 8, 3), (9, 4, 4, 1), (10, 6, 5, 5)]
every_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)
every_score = pytest.mark.parametrize("signed", [False, True], ids=["absolute", "signed"])


def random(*shape: int, seed: int = 2) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def make(shape: tuple[int, int, int, int], **fields: Any) -> FlyLoRA:
    """Build a layer with a random B and a random balance."""
    inputs, outputs, r, k = shape
    config = FlyLoRAConfig(**{"r": r, "k": k, "alpha": ALPHA, "u": U, **fields})
    layer = FlyLoRA(nn.Linear(inputs, outputs), config).double()
    layer.B.data = 0.4 * random(outputs, r, seed=3)
    layer.balance.copy_((3 * random(r, seed=4)).round())
    return layer


def scores_by_hand(layer: FlyLoRA, token: Tensor, signed: bool) -> list[float]:
    scores = []
    for row, balance in zip(layer.A.tolist(), layer.balance.tolist(), strict=True):
        projected = sum(weight * value for weight, value in zip(row, token.tolist(), strict=True))
        scores.append((projected if signed else abs(projected)) + U * balance)
    return scores


def chosen_by_hand(layer: FlyLoRA, token: Tensor, k: int, signed: bool = False) -> list[int]:
    """List the ranks that less than k others beat."""
    scores = scores_by_hand(layer, token, signed)
    return [i for i, score in enumerate(scores) if sum(other > score for other in scores) < k]


def output_by_hand(layer: FlyLoRA, token: Tensor, k: int, signed: bool = False) -> Tensor:
    output = torch.zeros(len(layer.B), dtype=torch.float64)
    for i in chosen_by_hand(layer, token, k, signed):
        output += ALPHA / len(layer.A) * layer.B[:, i].detach() * (layer.A[i] @ token)
    return output


def counts_by_hand(layer: FlyLoRA, tokens: Tensor, k: int, signed: bool = False) -> list[int]:
    counts = [0] * len(layer.A)
    for token in tokens.flatten(0, -2):
        for i in chosen_by_hand(layer, token, k, signed):
            counts[i] += 1
    return counts


def moves_by_hand(counts: list[int]) -> list[int]:
    """Compute sign(mean - count) in whole numbers."""
    differences = [sum(counts) - len(counts) * count for count in counts]
    return [(difference > 0) - (difference < 0) for difference in differences]


def assert_close(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-11, atol=1e-11)


def adapt(**fields: Any) -> Any:
    """Put FlyLoRA with a random B into a model."""
    chosen = {"r": 8, "k": 2, "alpha": ALPHA, "u": U, **fields}
    model: Any = method.adapt(build("llama-gqa"), method.configure(**chosen)).double()
    for number, layer in enumerate(flylora_layers(model).values()):
        layer.B.data = 0.3 * random(*layer.B.shape, seed=number)
    return model


def flylora_layers(model: Any) -> dict[str, FlyLoRA]:
    return {name: module for name, module in model.named_modules() if isinstance(module, FlyLoRA)}


def text(seed: int = 5) -> Tensor:
    return torch.randint(VOCABULARY, (2, 6), generator=torch.Generator().manual_seed(seed))


@every_shape
@every_score
@torch.no_grad()
def test_output_equals_the_equation_written_out(
    shape: tuple[int, int, int, int], signed: bool
) -> None:
    layer = make(shape, signed=signed).eval()
    states = random(3, 5, shape[0])
    output = layer(states)
    for text, token in torch.cartesian_prod(torch.arange(3), torch.arange(5)).tolist():
        expected = output_by_hand(layer, states[text, token], shape[3], signed)
        assert_close(output[text, token], expected)
        assert_close(layer(states[text, token]), expected)


@torch.no_grad()
def test_the_cases_tell_the_scores_apart() -> None:
    layer, zero = make(SHAPES[1]), make(SHAPES[1])
    zero.A.copy_(layer.A)
    zero.balance.zero_()
    tokens = random(15, 13)
    absolute = [chosen_by_hand(layer, token, 3) for token in tokens]
    assert absolute != [chosen_by_hand(layer, token, 3, signed=True) for token in tokens]
    assert absolute != [chosen_by_hand(zero, token, 3) for token in tokens]
    assert all(len(chosen) == 3 for chosen in absolute)


@torch.no_grad()
def test_the_balance_decides_which_ranks_add_and_not_how_much() -> None:
    layer = make((12, 7, 6, 2)).eval()
    layer.balance.copy_(torch.tensor([0, 0, 1000, 0, 1000, 0]))
    states = random(4, 12)
    used = [2, 4]
    expected = ALPHA / 6 * states @ layer.A[used].T @ layer.B[:, used].T
    assert_close(layer(states), expected)


@every_score
@torch.no_grad()
def test_the_ranks_of_a_token_do_not_depend_on_its_batch(signed: bool) -> None:
    layer = make((13, 5, 8, 3), signed=signed).train()
    states = random(4, 6, 13)
    together = layer(states)
    turned = layer(states.flip(0, 1)).flip(0, 1)
    assert_close(turned, together)
    for row in range(4):
        assert_close(layer(states[row]), together[row])
        assert_close(layer(states[row, 2:3]), together[row, 2:3])


@pytest.mark.parametrize(
    ("inputs", "r", "k", "entries"),
    # The last: 49 (1 / 49) is below 1 in floating point, 49 x 1 / 49 is not.
    [(12, 6, 2, 4), (13, 8, 3, 4), (10, 5, 5, 10), (64, 32, 8, 16), (49, 49, 1, 1)],
)
def test_each_row_of_a_has_in_k_over_r_entries_rounded_down(
    inputs: int, r: int, k: int, entries: int
) -> None:
    layer = FlyLoRA(nn.Linear(inputs, 60), FlyLoRAConfig(r=r, k=k))
    assert layer.A.shape == (r, inputs)
    assert layer.A.count_nonzero(dim=1).tolist() == [entries] * r


WIDE, RANKS, USED, ENTRIES = 4096, 32, 8, 1024


def gap(chance: float, draws: int) -> float:
    """Bound the gap between drawn and true shares, exceeded with `chance` at most.

    2 exp(-2 n gap^2) = chance: Hoeffding 1963 for a share, also in draws without replacement
    (section 6); Dvoretzky, Kiefer, Wolfowitz and Massart 1990 for a distribution at all points.
    """
    return math.sqrt(math.log(2 / chance) / (2 * draws))


def wide() -> Tensor:
    return FlyLoRA(nn.Linear(WIDE, 3), FlyLoRAConfig(r=RANKS, k=USED)).A.double()


def test_entries_of_a_are_normal_with_deviation_one_over_r() -> None:
    a = wide()
    entries = (RANKS * a[a != 0]).sort().values
    drawn = torch.arange(1, len(entries) + 1, dtype=torch.float64) / len(entries)
    limit = gap(1e-9, len(entries)) + 1 / len(entries)
    assert len(entries) == RANKS * ENTRIES
    assert (torch.special.ndtr(entries) - drawn).abs().max() <= limit
    assert limit < 0.02


def test_places_of_a_are_spread_over_the_inputs_and_differ_between_rows() -> None:
    places = wide() != 0
    for below in range(WIDE // 8, WIDE, WIDE // 8):
        share = float(places[:, :below].sum()) / (RANKS * ENTRIES)
        assert abs(share - below / WIDE) <= gap(1e-9, RANKS * ENTRIES)
    for row in range(RANKS):
        for other in range(row):
            shared = float((places[row] & places[other]).sum()) / ENTRIES
            assert abs(shared - ENTRIES / WIDE) <= gap(1e-9, ENTRIES)


def test_a_depends_on_the_seed_and_the_layer_and_on_nothing_else() -> None:
    drawn = []
    for seed in (0, 1):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            drawn.append(flylora_layers(adapt()))
    some = flylora_layers(adapt(target_modules=["up_proj"], alpha=1.0))
    other_seed = flylora_layers(adapt(seed=1))
    assert 0 < len(some) < len(drawn[0])
    for name, layer in drawn[0].items():
        assert torch.equal(layer.A, drawn[1][name].A)
        assert name not in some or torch.equal(layer.A, some[name].A)
        assert not torch.equal(layer.A, other_seed[name].A)
    matrices = [layer.A for layer in drawn[0].values()]
    for number, matrix in enumerate(matrices):
        for other in matrices[:number]:
            assert matrix.shape != other.shape or not torch.equal(matrix, other)


def test_a_new_layer_adds_exactly_nothing_and_starts_without_balance() -> None:
    layer = FlyLoRA(nn.Linear(12, 5), FlyLoRAConfig(r=6, k=2)).double()
    assert torch.equal(layer(random(2, 3, 12)), torch.zeros(2, 3, 5, dtype=torch.float64))
    assert not layer.balance.any()


def test_only_b_trains() -> None:
    layer = make(SHAPES[0])
    assert [name for name, p in layer.named_parameters() if p.requires_grad] == ["B"]
    assert not layer.A.requires_grad


@every_shape
@every_score
@pytest.mark.parametrize("stop", [False, True], ids=["flows", "stops"])
def test_gradients_are_those_of_the_used_ranks(
    shape: tuple[int, int, int, int], signed: bool, stop: bool
) -> None:
    inputs, outputs, r, k = shape
    layer = make(shape, signed=signed, stop_gradient=stop)
    states, weight = random(5, inputs).requires_grad_(), random(5, outputs, seed=6)
    (weight * layer(states)).sum().backward()
    by_b, by_states = torch.zeros_like(layer.B), torch.zeros(5, inputs, dtype=torch.float64)
    for token in range(5):
        state = states[token].detach()
        for i in chosen_by_hand(layer, state, k, signed):
            by_b[:, i] += ALPHA / r * weight[token] * (layer.A[i] @ state)
            by_states[token] += ALPHA / r * (weight[token] @ layer.B[:, i].detach()) * layer.A[i]
    assert layer.B.grad is not None
    assert_close(layer.B.grad, by_b)
    if stop:
        assert states.grad is None or not states.grad.any()
    else:
        assert states.grad is not None
        assert_close(states.grad, by_states)


def test_stopping_the_gradient_changes_no_output() -> None:
    flows, stops = make(SHAPES[0]), make(SHAPES[0], stop_gradient=True)
    stops.A.copy_(flows.A)
    assert torch.equal(flows(random(4, 12)), stops(random(4, 12)))


def test_the_variant_code_is_the_official_tuner() -> None:
    assert method.variants["code"] == {"signed": True, "stop_gradient": True}


@every_score
def test_counts_are_those_of_all_training_passes_since_the_last_update(signed: bool) -> None:
    layer = make((13, 5, 8, 3), signed=signed).train()
    first, second = random(3, 4, 13, seed=7), random(2, 5, 13, seed=8)
    expected = counts_by_hand(layer, first, 3, signed)
    layer(first).sum().backward()
    assert layer.counts.tolist() == expected
    later = counts_by_hand(layer, second, 3, signed)
    layer(second).sum().backward()
    assert layer.counts.tolist() == [a + b for a, b in zip(expected, later, strict=True)]
    assert int(layer.counts.sum()) == 3 * (12 + 10)


@every_score
def test_an_update_moves_the_balance_by_the_sign_and_starts_counting_again(signed: bool) -> None:
    layer = make((13, 5, 8, 3), signed=signed).train()
    seen = set()
    for step in range(12):
        states = random(2, 4, 13, seed=step)
        before, counts = layer.balance.tolist(), counts_by_hand(layer, states, 3, signed)
        layer(states).sum().backward()
        layer.update_balance()
        moves = moves_by_hand(counts)
        assert layer.balance.tolist() == [a + b for a, b in zip(before, moves, strict=True)]
        assert moves[counts.index(min(counts))] == 1  # the least used rises
        assert moves[counts.index(max(counts))] == -1
        assert not layer.counts.any()
        seen.update(moves)
    assert seen == {-1, 0, 1}
    assert layer.balance.dtype == torch.int32


def test_an_update_without_training_passes_moves_nothing() -> None:
    layer = make(SHAPES[0]).eval()
    before = layer.balance.clone()
    layer(random(4, 12))
    layer.update_balance()
    assert torch.equal(layer.balance, before)


def test_evaluation_changes_no_state() -> None:
    layer = make(SHAPES[0]).train()
    layer(random(4, 12)).sum().backward()
    before = {name: tensor.clone() for name, tensor in layer.named_buffers()}
    assert before["counts"].any()
    layer.eval()
    outputs = [layer(random(4, 12, seed=9)) for _ in range(3)]
    assert torch.equal(outputs[0], outputs[2])
    assert all(torch.equal(tensor, before[name]) for name, tensor in layer.named_buffers())


@pytest.mark.parametrize("signed", [False, True], ids=["absolute", "signed"])
def test_an_idle_rank_is_used_after_the_steps_that_the_rule_needs(signed: bool) -> None:
    # Scores 1 and 0.2, u = 0.05: they approach by 0.1 a step and are 1 - 0.05 s and 0.2 + 0.05 s
    # after s steps, so that 7 steps leave the first ahead by 0.1 and 9 put the second ahead by 0.1.
    layer = make((2, 3, 2, 1), signed=signed).train()
    layer.A.copy_(torch.tensor([[1.0, 0.0], [0.2, 0.0]], dtype=torch.float64))
    layer.balance.zero_()
    token = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    for step in range(1, 8):
        layer(token).sum().backward()
        assert layer.counts.tolist() == [1, 0]
        layer.update_balance()
        assert layer.balance.tolist() == [-step, step]
    assert_close(layer.eval()(token), ALPHA / 2 * 1.0 * layer.B[:, 0][None])
    layer.balance.copy_(torch.tensor([-9, 9]))
    assert_close(layer(token), ALPHA / 2 * 0.2 * layer.B[:, 1][None])
    layer.train()(token).sum().backward()
    layer.update_balance()
    assert layer.balance.tolist() == [-8, 8]


@every_score
def test_balancing_evens_out_the_use_of_the_ranks(signed: bool) -> None:
    # u is small against the scores, since the rule never rests: it ends in steps of u up and down.
    layer = make((16, 5, 8, 2), signed=signed, u=0.005).train()
    layer.A[0] *= 5
    layer.A[1] *= 0.01
    layer.balance.zero_()
    # Every token agrees with the signs of the first row, which so wins by either score.
    first = layer.A[0]
    states = random(200, 16).abs() * torch.where(first < 0, -1.0, 1.0)
    spreads = []
    for _ in range(600):
        layer(states).sum().backward()
        spreads.append(int(layer.counts.max() - layer.counts.min()))
        layer.update_balance()
    assert spreads[0] >= 190
    assert max(spreads[-20:]) < spreads[0] / 4


def capture(model: Any) -> dict[str, list[Tensor]]:
    """Collect what each FlyLoRA layer is given."""
    given: dict[str, list[Tensor]] = {}
    for name, layer in flylora_layers(model).items():
        given[name] = []

        def keep(_: Any, inputs: tuple[Tensor, ...], name: str = name) -> None:
            given[name].append(inputs[0].detach().clone())

        layer.register_forward_pre_hook(keep)
    return given


@pytest.mark.parametrize("by", ["hook", "model"])
def test_a_training_step_moves_each_balance_once_after_its_backward_passes(by: str) -> None:
    model = adapt().train()
    assert method.hooks
    hooks = method.hooks(model, TrainingAhead(10, 0, 0))
    given = capture(model)
    hooks.before_forward(1)
    for seed in (5, 6):
        ids = text(seed)
        model(input_ids=ids, labels=ids).loss.backward()
    layers = flylora_layers(model)
    expected = {
        name: moves_by_hand(counts_by_hand(layer, torch.cat(given[name]), 2))
        for name, layer in layers.items()
    }
    assert not any(layer.balance.any() for layer in layers.values())
    if by == "hook":
        hooks.after_backward(1)
        hooks.after_step(1)
    else:
        model.base_model.update_balance()
    assert {name: layer.balance.tolist() for name, layer in layers.items()} == expected
    assert not any(layer.counts.any() for layer in layers.values())


def test_gradient_checkpointing_gives_the_same_balance() -> None:
    found = []
    for reentrant in (None, False, True):
        model = adapt().train()
        if reentrant is not None:
            with warnings.catch_warnings():
                # transformers renames it in version 6.
                warnings.filterwarnings("ignore", "`gradient_checkpointing_enable`", FutureWarning)
                model.gradient_checkpointing_enable({"use_reentrant": reentrant})
        model.enable_input_require_grads()
        layers = flylora_layers(model)
        balances = []
        for step in range(3):
            for seed in (step, step + 10):
                ids = text(seed)
                model(input_ids=ids, labels=ids).loss.backward()
            model.base_model.update_balance()
            balances.append({name: layer.balance.tolist() for name, layer in layers.items()})
        found.append(balances)
    assert any(any(balance) for balance in found[0][0].values())
    assert found[1] == found[0]
    assert found[2] == found[0]


@torch.no_grad()
def test_a_saved_adapter_computes_the_same_with_its_balance(tmp_path: Path) -> None:
    model = adapt().float().eval()
    for number, layer in enumerate(flylora_layers(model).values()):
        layer.balance.copy_((4 * random(8, seed=number)).round())
        layer.A.copy_(layer.A.flip(1))  # so that drawing it again from the seed would not do
    model.save_pretrained(str(tmp_path))
    loaded = method.load(build("llama-gqa"), str(tmp_path)).eval()
    saved = flylora_layers(model)
    for name, layer in flylora_layers(loaded).items():
        assert torch.equal(layer.balance, saved[name].balance)
        assert torch.equal(layer.A, saved[name].A)
    logits = model(input_ids=text()).logits
    assert torch.equal(loaded(input_ids=text()).logits, logits)
    for layer in flylora_layers(loaded).values():
        layer.balance.zero_()
    assert not torch.allclose(loaded(input_ids=text()).logits, logits)


@torch.no_grad()
def test_a_layer_of_a_model_adds_to_its_own_output() -> None:
    layer = adapt().eval().get_base_model().model.layers[1].mlp.down_proj
    states = random(4, 48)
    added = [output_by_hand(layer.adapter_modules["default"], token, 2) for token in states]
    assert_close(layer(states), states @ layer.base_layer.weight.T + torch.stack(added))


@torch.no_grad()
@pytest.mark.parametrize("training", [True, False])
def test_a_later_token_changes_no_earlier_logits(training: bool) -> None:
    model = adapt().train(training)
    ids = text()
    other = ids.clone()
    other[:, 4] = (ids[:, 4] + 1) % VOCABULARY
    first, second = model(input_ids=ids).logits, model(input_ids=other).logits
    assert torch.equal(first[:, :4], second[:, :4])
    assert not torch.allclose(first[:, 4:], second[:, 4:])


@pytest.mark.parametrize(
    ("field", "value", "limit"),
    [
        ("r", 0, "at least 1"),
        ("k", 0, "between 1 and r = 32"),
        ("k", 33, "between 1 and r = 32"),
        ("alpha", 0.0, "above 0"),
        ("alpha", math.nan, "above 0"),
        ("u", -0.1, "at least 0"),
        ("u", math.inf, "at least 0"),
        ("seed", -1, "at least 0"),
    ],
)
def test_a_field_out_of_bounds_is_named_with_its_value_and_limit(
    field: str, value: float, limit: str
) -> None:
    with pytest.raises(ValueError, match=rf"{field}.*{limit}.*{value}"):
        FlyLoRAConfig(**{field: value})


def test_a_rank_that_leaves_a_row_of_a_empty_is_refused_with_layer_and_limit() -> None:
    with pytest.raises(ValueError, match=r"q_proj.*at most.*32.*33"):
        method.adapt(build("llama-gqa"), method.configure(r=33, k=1))
