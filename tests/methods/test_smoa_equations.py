"""SMoA against its paper (arXiv 2605.21147, section "Method"), written out a second time by hand.

The order of the coordinates, which the paper calls a spectral role, the uneven splits and the start
of A are those of the authors' code, misonsky/SMoA: `_coordinate_order`, `_split_sizes` and
`reset_lora_parameters`.
"""

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from peft import PeftModel
from torch import Tensor, nn

from methods.conformance.models import build
from methods.smoa import SMoA, SMoAConfig, method
from tests.methods.models import in_double, logits_as_a_token_changes
from tests.methods.tensors import difference, random, randomise, token_ids

MODEL = "llama-gqa"
SHAPES = [(9, 7), (7, 9), (8, 8), (11, 4)]
FIELDS: dict[str, Any] = {"r": 5, "K": 3, "alpha": 2.0, "dropout": 0.3}
FOUR = {**FIELDS, "r": 4}  # which fits all of the shapes: 11 x 4 has blocks of width 2, 1, 1

every_shape = pytest.mark.parametrize(("out", "width"), SHAPES)


@pytest.fixture(autouse=True, scope="module")
def no_orders_from_earlier_runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def sizes(total: int, parts: int) -> list[int]:
    """Deal `total` out one by one, from the first part on."""
    dealt = [0] * parts
    for one in range(total):
        dealt[one % parts] += 1
    return dealt


def parts(order: list[int], count: int) -> list[list[int]]:
    rest = iter(order)
    return [list(islice(rest, size)) for size in sizes(len(order), count)]


def order_by_role(vectors: Any, values: Any) -> list[int]:
    """Sort coordinates i by sum_j j (U_ij s_j)^2 / sum_j (U_ij s_j)^2; U is `vectors`."""
    roles = []
    for coordinate in vectors.tolist():
        energy = [(entry * s) ** 2 for entry, s in zip(coordinate, values.tolist(), strict=True)]
        roles.append(sum(j * e for j, e in enumerate(energy, start=1)) / sum(energy))
    apart = np.diff(sorted(roles))
    assert (apart > 1e-6).all(), "a test of ties, which rounding decides"
    return sorted(range(len(roles)), key=roles.__getitem__)


def orders_by_hand(weight: Tensor) -> tuple[list[int], list[int]]:
    left, values, right = np.linalg.svd(weight.detach().numpy(), full_matrices=False)
    return order_by_role(left, values), order_by_role(right.T, values)


def update_by_hand(weight: Tensor, adapter: Any, alpha: float, r: int) -> Tensor:
    """Compute alpha / r P_out^T diag((B_k A_k) * M_k) P_in entry by entry."""
    rows, columns = orders_by_hand(weight)
    update = torch.zeros_like(weight)
    count = len(adapter.blocks)
    for rows_k, columns_k, block in zip(
        parts(rows, count), parts(columns, count), adapter.blocks, strict=True
    ):
        for p, i in enumerate(rows_k):
            for q, j in enumerate(columns_k):
                factor = sum(block.B[p, n] * block.A[n, q] for n in range(len(block.A)))
                update[i, j] = alpha / r * factor * weight[i, j]
    return update


def linear(out: int, width: int, weight: Tensor | None = None) -> nn.Linear:
    layer = nn.Linear(width, out, bias=False, dtype=torch.float64)
    layer.weight.data = random(out, width, seed=4) if weight is None else weight.clone()
    return layer


def fresh(layer: nn.Linear, **fields: Any) -> Any:
    """Put SMoA on the layer and take its orders, which else the first pass does."""
    adapter = SMoA(layer, SMoAConfig(**fields))
    adapter.take_orders()
    return adapter


def trained(layer: nn.Linear, **fields: Any) -> Any:
    """Put SMoA with random weights on the layer."""
    return randomise(fresh(layer, **{**FIELDS, **fields}).double()).eval()


def of_blocks(
    out: int, width: int, ranks: list[int]
) -> tuple[Tensor, list[list[int]], list[list[int]]]:
    """Make a weight of K blocks whose rows and columns are shuffled.

    Block k has rank ranks[k]; its singular values are above those of block k + 1. Also returns the
    rows and the columns of each block.
    """
    shuffle = np.random.default_rng(0).permutation
    rows, columns = (
        parts(shuffle(out).tolist(), len(ranks)),
        parts(shuffle(width).tolist(), len(ranks)),
    )
    weight = torch.zeros(out, width, dtype=torch.float64)
    value = sum(ranks)
    for k, (rank, rows_k, columns_k) in enumerate(zip(ranks, rows, columns, strict=True)):
        left = torch.linalg.qr(random(len(rows_k), rank, seed=10 + k)).Q
        right = torch.linalg.qr(random(len(columns_k), rank, seed=20 + k)).Q
        values = torch.arange(value, value - rank, -1, dtype=torch.float64)
        weight[np.ix_(rows_k, columns_k)] = left @ values.diag() @ right.T
        value -= rank
    return weight, rows, columns


def rank_of(matrix: Tensor) -> int:
    return int(torch.linalg.matrix_rank(matrix, rtol=1e-10))


# The order and the blocks.


@every_shape
def test_orders_sort_rows_and_columns_by_their_energy_weighted_singular_index(
    out: int, width: int
) -> None:
    layer = linear(out, width)
    adapter = fresh(layer, **FOUR)
    rows, columns = orders_by_hand(layer.weight)
    assert adapter.row_order.tolist() == rows
    assert adapter.column_order.tolist() == columns
    assert rows != sorted(rows)
    assert columns != sorted(columns)


def test_the_orders_are_saved_as_integers_and_the_anchors_are_not() -> None:
    state = fresh(linear(9, 7), **FIELDS).state_dict()
    assert {name for name in state if "blocks" not in name} == {"row_order", "column_order"}
    assert state["row_order"].dtype == state["column_order"].dtype == torch.int32
    assert not [name for name in state if name.endswith(".M")]


# The last shape has a block that is taller than wide and one that is wider than tall.
@pytest.mark.parametrize(
    ("out", "width", "ranks"), [(11, 8, [3, 3, 2]), (8, 11, [3, 3, 2]), (12, 12, [2, 3, 1])]
)
def test_shuffled_blocks_of_a_weight_are_found_largest_singular_values_first(
    out: int, width: int, ranks: list[int]
) -> None:
    # The SVD of a block-diagonal matrix is that of its blocks, so that the roles of the rows of
    # block k are between the first and the last index of its singular values.
    weight, rows, columns = of_blocks(out, width, ranks)
    adapter = fresh(linear(out, width, weight), r=3, K=3)
    found_rows = parts(adapter.row_order.tolist(), 3)
    found_columns = parts(adapter.column_order.tolist(), 3)
    assert [set(part) for part in found_rows] == [set(part) for part in rows]
    assert [set(part) for part in found_columns] == [set(part) for part in columns]
    top = 0
    singular = torch.arange(sum(ranks), 0, -1, dtype=torch.float64)
    for rank, block in zip(ranks, adapter.blocks, strict=True):
        values = torch.linalg.svdvals(block.M)
        assert difference(values[:rank], singular[top : top + rank]) <= 1e-12
        assert (values[rank:] < 1e-12).all()
        top += rank


@every_shape
def test_anchors_are_the_diagonal_blocks_of_the_sorted_weight(out: int, width: int) -> None:
    layer = linear(out, width)
    adapter = fresh(layer, **FOUR)
    rows, columns = (parts(order, 3) for order in orders_by_hand(layer.weight))
    for rows_k, columns_k, block in zip(rows, columns, adapter.blocks, strict=True):
        assert block.M.shape == (len(rows_k), len(columns_k))
        for p, i in enumerate(rows_k):
            for q, j in enumerate(columns_k):
                assert block.M[p, q] == layer.weight[i, j]


@given(st.data())
@settings(max_examples=30)
def test_rows_columns_and_ranks_are_split_evenly_with_the_remainder_in_front(
    data: st.DataObject,
) -> None:
    out, width = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 12))
    smaller = min(out, width)
    count = data.draw(st.integers(1, smaller))
    r = data.draw(st.integers(count, smaller))
    adapter = fresh(linear(out, width), r=r, K=count)
    expected = list(zip(sizes(out, count), sizes(width, count), sizes(r, count), strict=True))
    assert [(len(b.B), b.A.shape[1], len(b.A)) for b in adapter.blocks] == expected
    assert [b.B.shape[1] for b in adapter.blocks] == sizes(r, count)
    assert sorted(adapter.row_order.tolist()) == list(range(out))
    assert sorted(adapter.column_order.tolist()) == list(range(width))


@torch.no_grad()
def test_branch_ranks_replace_the_even_split_of_r() -> None:
    layer = linear(9, 7)
    adapter = trained(layer, r=4, branch_ranks=[1, 2, 1])
    assert [tuple(block.A.shape) for block in adapter.blocks] == [(1, 3), (2, 2), (1, 2)]
    assert [tuple(block.B.shape) for block in adapter.blocks] == [(3, 1), (3, 2), (3, 1)]
    expected = update_by_hand(layer.weight, adapter, alpha=2.0, r=4)
    assert difference(adapter.weight_update(), expected) <= 1e-12


# The update.


@every_shape
@torch.no_grad()
def test_the_update_equals_the_equations_written_out(out: int, width: int) -> None:
    layer = linear(out, width)
    adapter = trained(layer, r=4)
    update = adapter.weight_update()
    assert update.shape == (out, width)
    assert difference(update, update_by_hand(layer.weight, adapter, alpha=2.0, r=4)) <= 1e-12
    assert update.abs().max() > 0.01


@every_shape
@pytest.mark.parametrize("batch", [(), (5,), (2, 3)])
@torch.no_grad()
def test_the_layer_computes_with_the_dense_updated_weight(
    out: int, width: int, batch: tuple[int, ...]
) -> None:
    layer = linear(out, width)
    adapter = trained(layer, r=4)
    x = random(*batch, width)
    dense = layer.weight + update_by_hand(layer.weight, adapter, alpha=2.0, r=4)
    y = layer(x) + adapter(x)
    assert y.shape == (*batch, out)
    assert difference(y, torch.einsum("oi,...i->...o", dense, x)) <= 1e-12


@torch.no_grad()
def test_a_block_returns_its_scaled_and_modulated_product() -> None:
    for block in trained(linear(9, 7)).blocks:
        expected = 2.0 / 5 * (block.B @ block.A) * block.M
        assert difference(block.update(), expected) <= 1e-14


@every_shape
@torch.no_grad()
def test_the_sorted_update_is_zero_off_the_diagonal_blocks(out: int, width: int) -> None:
    adapter = trained(linear(out, width), r=4)
    update = adapter.weight_update()[adapter.row_order.long()][:, adapter.column_order.long()]
    rows = np.repeat(range(3), sizes(out, 3))
    columns = np.repeat(range(3), sizes(width, 3))
    inside = torch.from_numpy(rows[:, None] == columns)
    assert (update[~inside] == 0).all()
    assert (update[inside] != 0).all()


@torch.no_grad()
def test_with_one_block_the_whole_weight_is_modulated() -> None:
    layer = linear(9, 7)
    adapter = trained(layer, K=1)
    (block,) = adapter.blocks
    modulation = adapter.weight_update() / layer.weight
    assert rank_of(modulation) == 5
    rows, columns = adapter.row_order.long(), adapter.column_order.long()
    assert difference(modulation[rows][:, columns], 0.4 * block.B @ block.A) <= 1e-12


@torch.no_grad()
def test_the_scale_is_alpha_over_the_whole_rank_budget() -> None:
    layer = linear(9, 7)
    one, other = trained(layer, alpha=6.0, r=3), trained(layer, alpha=1.0, r=6)
    for block in (*one.blocks, *other.blocks):
        block.A.zero_()
        block.B.zero_()
        block.A[0], block.B[:, 0] = 1, 1
    # B_k A_k is all ones, whatever the rank of the block, so that dM_k = M_k.
    weight = one.weight_update()
    assert difference(weight[weight != 0], 6 / 3 * layer.weight[weight != 0]) <= 1e-13
    assert difference(weight, 12 * other.weight_update()) <= 1e-13


@torch.no_grad()
def test_zero_rows_and_columns_get_no_update() -> None:
    weight = random(9, 7)
    weight[2], weight[:, 4] = 0, 0
    update = trained(linear(9, 7, weight)).weight_update()
    assert (update[2] == 0).all()
    assert (update[:, 4] == 0).all()
    assert update.isfinite().all()
    assert update.abs().max() > 0.01


@torch.no_grad()
def test_a_zero_weight_gets_no_update() -> None:
    adapter = trained(linear(9, 7, torch.zeros(9, 7, dtype=torch.float64)))
    assert sorted(adapter.row_order.tolist()) == list(range(9))
    assert (adapter(random(3, 7)) == 0).all()


# The ceiling of the rank: sum_k min(s_k, rho_k rank(M_k)), where LoRA's is r.


@torch.no_grad()
def test_the_rank_of_the_update_reaches_the_full_one_at_one_rank_for_each_block() -> None:
    layer = linear(8, 8)
    adapter = trained(layer, r=2, K=2)
    assert [rank_of(block.B @ block.A) for block in adapter.blocks] == [1, 1]
    assert rank_of(adapter.weight_update()) == 8


@pytest.mark.parametrize(
    ("ranks", "r", "ceiling"),
    [
        ([2, 2], 4, 4 + 4),
        ([2, 2], 3, 4 + 2),
        ([1, 3], 4, 2 + 6),
        ([1, 1], 6, 3 + 3),  # anchors of rank 1 leave r, as in LoRA
        ([3, 2], 7, 7 + 6),  # the first block's side, 7, is below 4 * 3
    ],
)
@torch.no_grad()
def test_the_rank_of_the_update_is_that_of_the_papers_bound(
    ranks: list[int], r: int, ceiling: int
) -> None:
    weight, _, _ = of_blocks(14, 14, ranks)
    update = trained(linear(14, 14, weight), r=r, K=2).weight_update()
    assert rank_of(update) == ceiling >= r


# Training.


def test_training_starts_at_the_base_weight_with_kaiming_uniform_a() -> None:
    torch.manual_seed(0)
    adapter: Any = SMoA(linear(60, 100), SMoAConfig(r=12, K=4)).double()
    assert (adapter.weight_update() == 0).all()
    assert (adapter(random(3, 100)) == 0).all()
    for block in adapter.blocks:
        # sqrt(6 / ((1 + a^2) fan)), a^2 = 5, fan = in_k = 25.
        assert 0.95 / 5 < block.A.abs().max() <= 1 / 5
        assert abs(block.A.std() - 1 / math.sqrt(3 * 25)) < 0.02
        assert (block.B == 0).all()


def test_gradients_are_those_of_the_equations() -> None:
    # L = sum_t c_t . (dW x_t), so that dL / d dW = G = sum_t c_t x_t^T.
    layer = linear(9, 7)
    adapter = trained(layer)
    x, c = random(2, 4, 7, seed=5).requires_grad_(), random(2, 4, 9, seed=6)
    (adapter(x) * c).sum().backward()
    assert x.grad is not None
    assert difference(x.grad, c @ adapter.weight_update()) <= 1e-12
    outer = torch.einsum("bto,bti->oi", c, x.detach())
    rows, columns = (parts(order, 3) for order in orders_by_hand(layer.weight))
    for rows_k, columns_k, block in zip(rows, columns, adapter.blocks, strict=True):
        modulated = 2.0 / 5 * outer[np.ix_(rows_k, columns_k)] * block.M
        assert difference(block.B.grad, modulated @ block.A.T) <= 1e-12
        assert difference(block.A.grad, block.B.T @ modulated) <= 1e-12
    assert layer.weight.grad is None


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@torch.no_grad()
def test_a_new_adapter_computes_in_float32_over_a_base_of_any_precision(dtype: torch.dtype) -> None:
    layer = linear(9, 7).to(dtype)
    adapter: Any = SMoA(layer, SMoAConfig(**FIELDS)).eval()
    for parameter in adapter.parameters():
        assert parameter.dtype == torch.float32
        nn.init.normal_(parameter, generator=torch.Generator().manual_seed(1))
    update, x = adapter.weight_update(), random(5, 7).float()
    assert update.dtype == adapter(x).dtype == torch.float32
    expected = update_by_hand(layer.weight.double(), adapter, alpha=2.0, r=5)
    assert difference(update, expected) <= 1e-5
    assert difference(adapter(x), x.double() @ expected.T) <= 1e-5


@torch.no_grad()
def test_dropout_acts_on_the_input_of_all_blocks_in_training_alone() -> None:
    torch.manual_seed(0)
    adapter = trained(linear(8, 8), r=2, K=2)  # of full rank: what it was given can be told
    x = random(50, 8)
    given_ = torch.linalg.solve(adapter.weight_update(), adapter.train()(x).T).T
    kept = given_.abs() > 1e-9
    assert difference(given_[kept], x[kept] / (1 - FIELDS["dropout"])) <= 1e-9
    assert 0.6 < kept.double().mean() < 0.8
    assert difference(adapter.eval()(x), x @ adapter.weight_update().T) <= 1e-12


# In a model.


def adapt() -> PeftModel:
    return randomise(method.adapt(in_double(MODEL), method.configure(**FIELDS)).double().eval())


def adapted_layers(model: PeftModel) -> dict[str, Any]:
    return {
        name: module
        for name, module in model.get_base_model().named_modules()
        if hasattr(module, "adapter_modules")
    }


def plain(adapted: PeftModel) -> Any:
    """Build the bare model with the updates, computed by hand, in its weights."""
    model: Any = in_double(MODEL)
    for name, layer in adapted_layers(adapted).items():
        weight = model.get_submodule(name).weight.data
        weight += update_by_hand(weight, layer.adapter_modules["default"], alpha=2.0, r=5)
    return model


def text() -> Tensor:
    return token_ids(2, 13)


@torch.no_grad()
def test_the_model_is_the_bare_one_with_updated_weights_and_can_be_merged_and_unmerged() -> None:
    adapted, bare = adapt(), in_double(MODEL)
    expected = plain(adapted)
    logits = expected(input_ids=text()).logits
    assert difference(logits, bare(input_ids=text()).logits) > 1e-3
    assert difference(adapted(input_ids=text()).logits, logits) <= 1e-10

    layers = adapted_layers(adapted)
    for _ in range(2):  # the anchors are those of the frozen weight, whatever was merged into it
        adapted.merge_adapter()
        assert difference(adapted(input_ids=text()).logits, logits) <= 1e-10
        for name, layer in layers.items():
            merged = layer.base_layer.weight
            assert difference(merged, expected.get_submodule(name).weight) <= 1e-13
        adapted.unmerge_adapter()
        assert difference(adapted(input_ids=text()).logits, logits) <= 1e-10
        for name, layer in layers.items():
            assert difference(layer.base_layer.weight, bare.get_submodule(name).weight) <= 1e-13

    unloaded: Any = adapted.merge_and_unload()
    assert difference(unloaded(input_ids=text()).logits, logits) <= 1e-10


@torch.no_grad()
def test_a_later_token_changes_no_earlier_output() -> None:
    before, after = logits_as_a_token_changes(adapt(), text(), at=7)
    assert difference(before[:, :7], after[:, :7]) <= 1e-12
    assert difference(before[:, 7:], after[:, 7:]) > 1e-3


def test_the_defaults_adapt_queries_keys_values_up_and_down_projections() -> None:
    names = {name.rpartition(".")[2] for name in adapted_layers(adapt())}
    assert names == {"q_proj", "k_proj", "v_proj", "up_proj", "down_proj"}
    config: Any = method.configure()
    assert (config.r, config.K, config.alpha, config.dropout) == (32, 2, 32, 0.05)


def test_the_variant_of_the_script_has_budget_and_alpha_eight() -> None:
    config: Any = method.configure(**method.variants["smoa-script"])
    assert (config.r, config.K, config.alpha) == (8, 2, 8)


@pytest.mark.parametrize(
    "fields",
    [
        FIELDS,
        {"r": 8, "K": 2},
        {"r": 4, "K": 3, "branch_ranks": [1, 1, 2]},
        *method.variants.values(),
    ],
)
def test_the_count_is_the_sum_over_blocks_of_rank_times_both_sides(fields: dict[str, Any]) -> None:
    config: Any = method.configure(**fields)
    expected = 0
    bare = build(MODEL)
    for name, module in bare.named_modules():
        if name.rpartition(".")[2] in {"q_proj", "k_proj", "v_proj", "up_proj", "down_proj"}:
            layer: Any = module
            ranks = config.branch_ranks or sizes(config.r, config.K)
            for rank, rows, columns in zip(
                ranks,
                sizes(layer.out_features, config.K),
                sizes(layer.in_features, config.K),
                strict=True,
            ):
                expected += rank * (rows + columns)
    assert method.parameters is not None
    assert method.parameters(config, bare) == expected
    assert method.adapt(bare, config).get_nb_trainable_parameters()[0] == expected


@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_count_is_that_of_lora_divided_by_the_blocks(count: int) -> None:
    adapter = SMoA(linear(16, 8), SMoAConfig(r=4, K=count))
    assert sum(parameter.numel() for parameter in adapter.parameters()) == 4 * (16 + 8) // count


# Refusals.


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"r": 2, "K": 3}, r"^r .*\b3\b.* not 2\.$"),
        ({"r": 0}, r"^r .*\b1\b.* not 0\.$"),
        ({"r": -3}, r"^r .*\b1\b.* not -3\.$"),
        ({"r": math.nan}, r"^r .*\b1\b.* not nan\.$"),
        ({"K": 0}, r"^K .*\b1\b.* not 0\.$"),
        ({"K": -2}, r"^K .*\b1\b.* not -2\.$"),
        ({"K": math.nan}, r"^K .*\b1\b.* not nan\.$"),
        ({"alpha": math.nan}, r"^alpha .*\b0\b.* not nan\.$"),
        ({"alpha": math.inf}, r"^alpha .* not inf\.$"),
        ({"alpha": -1.0}, r"^alpha .*\b0\b.* not -1\.0\.$"),
        ({"dropout": math.nan}, r"^dropout .*\b1\b.* not nan\.$"),
        ({"dropout": -0.1}, r"^dropout .*\b0\b.* not -0\.1\.$"),
        ({"dropout": 1.0}, r"^dropout .*\b1\b.* not 1\.0\.$"),
        ({"r": 4, "K": 2, "branch_ranks": [1, 2]}, r"^branch_ranks .*\b4\b.*\b3\b.*\[1, 2\]\.$"),
        ({"r": 4, "K": 2, "branch_ranks": [1, 2, 1]}, r"^branch_ranks .*\b2\b.*\[1, 2, 1\]\.$"),
        ({"r": 4, "K": 2, "branch_ranks": [5, -1]}, r"^branch_ranks .*\b1\b.*\[5, -1\]\.$"),
        ({"r": 4, "K": 2, "branch_ranks": [0, 4]}, r"^branch_ranks .*\b1\b.*\[0, 4\]\.$"),
        ({"r": 4, "K": 2, "branch_ranks": []}, r"^branch_ranks .*\b2\b.*\[\]\.$"),
    ],
)
def test_a_bad_field_is_refused_with_value_and_limit(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SMoAConfig(**fields)


@pytest.mark.parametrize(("out", "width"), [(9, 7), (7, 9)])
def test_more_blocks_than_the_smaller_side_are_refused(out: int, width: int) -> None:
    SMoA(linear(out, width), SMoAConfig(r=7, K=7))
    with pytest.raises(ValueError, match=r"K .*\b7\b.* not 8\."):
        SMoA(linear(out, width), SMoAConfig(r=8, K=8))


@pytest.mark.parametrize("branch_ranks", [None, [1, 4]])
def test_a_rank_above_the_smaller_side_of_its_block_is_refused(
    branch_ranks: list[int] | None,
) -> None:
    fields = {"r": 5, "branch_ranks": branch_ranks} if branch_ranks else {"r": 8}
    with pytest.raises(ValueError, match=r"\b3\b.*\b4\b|\b4\b.*\b3\b"):
        SMoA(linear(9, 7), SMoAConfig(K=2, **fields))  # the second block is 4 x 3


def test_a_model_too_small_for_the_blocks_is_refused_by_the_name_of_the_layer() -> None:
    with pytest.raises(ValueError, match=r"layers\.0\.self_attn\.q_proj.*K .*\b32\b.* not 33\."):
        method.adapt(build(MODEL), method.configure(r=33, K=33))
