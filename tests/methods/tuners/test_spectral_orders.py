"""SMoA decomposes a weight once: the orders of its coordinates are kept on disk, by content."""

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from methods.conformance.models import build
from methods.smoa import SMoA, SMoAConfig, method
from methods.tuners.spectral_orders import spectral_orders
from tests.methods.tensors import randomise

OUT, IN = 7, 5
MODEL = "llama-gqa"

Orders = dict[str, Tensor]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "peft-proving-ground" / "smoa"


def layer(seed: int = 0) -> nn.Linear:
    linear = nn.Linear(IN, OUT, bias=False)
    nn.init.normal_(linear.weight, generator=torch.Generator().manual_seed(seed))
    return linear


def construct(linear: nn.Linear) -> Orders:
    adapter = SMoA(linear, SMoAConfig(r=2, K=2))
    adapter.take_orders()
    return {"row_order": adapter.row_order, "column_order": adapter.column_order}


def only_file(cache: Path) -> Path:
    (file,) = cache.iterdir()
    return file


def same(left: Orders, right: Orders) -> bool:
    return all(torch.equal(left[name], right[name]) for name in ("row_order", "column_order"))


def turn_round(file: Path) -> Orders:
    """Replace the orders in a file by others, which no decomposition would give."""
    orders = {name: order.flip(0).contiguous() for name, order in load_file(file).items()}
    save_file(orders, file)
    return orders


def test_a_second_construction_reads_the_orders_instead_of_decomposing(cache: Path) -> None:
    first = construct(layer())
    turned = turn_round(only_file(cache))
    assert not same(turned, first)
    assert same(construct(layer()), turned)


def test_a_second_construction_leaves_the_file_alone(cache: Path) -> None:
    construct(layer())
    before = only_file(cache).stat()
    construct(layer())
    after = only_file(cache).stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


def test_adapters_with_other_hyperparameters_share_the_file(cache: Path) -> None:
    construct(layer())
    SMoA(layer(), SMoAConfig(r=5, K=3, alpha=1.0)).take_orders()
    assert only_file(cache)


def test_a_changed_weight_is_decomposed_anew(cache: Path) -> None:
    first = construct(layer())
    turn_round(only_file(cache))
    changed = layer()
    with torch.no_grad():
        changed.weight[0, 0].add_(1e-6)
    assert same(construct(changed), first)
    assert len(list(cache.iterdir())) == 2


def test_the_same_bytes_in_two_dtypes_do_not_collide(cache: Path) -> None:
    weight = layer().weight.detach().bfloat16()
    spectral_orders(weight)
    spectral_orders(weight.view(torch.float16))
    assert len(list(cache.iterdir())) == 2


def test_the_same_bytes_in_two_shapes_do_not_collide(cache: Path) -> None:
    weight = layer().weight.detach()
    spectral_orders(weight)
    orders = spectral_orders(weight.reshape(IN, OUT))
    assert [len(order) for order in orders.values()] == [IN, OUT]
    assert len(list(cache.iterdir())) == 2


def test_a_transposed_view_is_known_by_its_values(cache: Path) -> None:
    weight = layer().weight.detach()
    spectral_orders(weight)
    spectral_orders(weight.T.contiguous().T)
    assert only_file(cache)


def repeat_an_entry(file: Path) -> None:
    orders = load_file(file)
    orders["row_order"][0] = orders["row_order"][1]
    save_file(orders, file)


def drop_an_order(file: Path) -> None:
    save_file({"row_order": load_file(file)["row_order"]}, file)


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(b"not safetensors, but long enough to have a header"),
        lambda file: file.write_bytes(file.read_bytes()[:-1]),
        repeat_an_entry,
        drop_an_order,
    ],
    ids=["empty", "foreign", "cut short", "entry repeated", "order missing"],
)
def test_a_damaged_file_is_replaced(cache: Path, damage: Callable[[Path], None]) -> None:
    expected = construct(layer())
    damage(only_file(cache))
    assert same(construct(layer()), expected)
    assert same(load_file(only_file(cache)), expected)


def test_every_flipped_bit_is_found(cache: Path) -> None:
    expected = construct(layer())
    file = only_file(cache)
    whole = file.read_bytes()
    for position in range(len(whole)):
        flipped = bytearray(whole)
        flipped[position] ^= 1 << position % 8
        file.write_bytes(flipped)
        assert same(construct(layer()), expected), position


def test_many_at_once_decompose_once_and_agree_and_leave_one_file(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weight, svd, calls = layer().weight.detach(), torch.linalg.svd, []

    def counted(*arguments: Any, **fields: Any) -> Any:
        calls.append(arguments)
        return svd(*arguments, **fields)

    monkeypatch.setattr(torch.linalg, "svd", counted)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(spectral_orders, [weight] * 32))
    assert all(same(orders, found[0]) for orders in found)
    assert len(calls) == 1
    assert only_file(cache)


def test_without_the_variable_the_folder_is_that_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    construct(layer())
    assert only_file(tmp_path / "home" / ".cache" / "peft-proving-ground" / "smoa")


def test_where_the_folder_cannot_be_written_orders_are_computed_and_one_warning_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [construct(layer(seed)) for seed in (0, 1)]
    occupied = tmp_path / "file"
    occupied.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(occupied))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        found = [construct(layer(seed)) for seed in (0, 1)]
    assert all(map(same, found, expected))
    (warning,) = caught
    assert "SMoA cannot write to" in str(warning.message)


def test_a_file_that_cannot_be_read_is_computed_instead(cache: Path) -> None:
    expected = construct(layer())
    file = only_file(cache)
    file.unlink()
    file.mkdir()
    with pytest.warns(UserWarning, match="SMoA cannot write to"):
        found = construct(layer())
    assert same(found, expected)


def test_counting_parameters_decomposes_nothing(cache: Path) -> None:
    with torch.device("meta"):
        adapted = method.adapt(build(MODEL), method.configure())
    assert adapted.get_nb_trainable_parameters()[0] > 0
    assert not cache.exists()


def trained() -> PeftModel:
    return randomise(method.adapt(build(MODEL), method.configure()).eval(), std=0.1)


@torch.no_grad()
def logits(model: Any) -> Tensor:
    output: Tensor = model(input_ids=torch.arange(3, 20)[None]).logits
    return output


def test_a_saved_adapter_keeps_its_orders_where_the_disk_has_others(
    cache: Path, tmp_path: Path
) -> None:
    adapted = trained()
    expected = logits(adapted)
    adapted.save_pretrained(str(tmp_path / "adapter"))
    for file in cache.iterdir():
        turn_round(file)
    reloaded = PeftModel.from_pretrained(build(MODEL), tmp_path / "adapter").eval()
    assert torch.equal(logits(reloaded), expected)


@pytest.mark.parametrize("low_cpu_mem_usage", [False, True])
def test_loading_decomposes_nothing(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, low_cpu_mem_usage: bool
) -> None:
    adapted = trained()
    expected = logits(adapted)
    adapted.save_pretrained(str(tmp_path / "adapter"))
    for file in cache.iterdir():
        file.unlink()

    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("a weight is decomposed")

    monkeypatch.setattr(torch.linalg, "svd", fail)
    loaded = PeftModel.from_pretrained(
        build(MODEL), tmp_path / "adapter", low_cpu_mem_usage=low_cpu_mem_usage
    ).eval()
    assert torch.equal(logits(loaded), expected)
    with pytest.raises(AssertionError, match="a weight is decomposed"):
        logits(method.adapt(build(MODEL), method.configure()))


def test_an_adapter_that_is_saved_before_its_first_use_takes_its_orders_when_loaded(
    tmp_path: Path,
) -> None:
    adapted = trained()
    adapted.save_pretrained(str(tmp_path / "adapter"))
    loaded = PeftModel.from_pretrained(build(MODEL), tmp_path / "adapter").eval()
    assert torch.equal(logits(loaded), logits(adapted))


def test_orders_that_are_taken_while_evaluating_serve_training_too() -> None:
    adapted = method.adapt(build(MODEL), method.configure())
    ids = torch.arange(3, 20)[None]
    with torch.inference_mode():
        adapted(input_ids=ids)
    adapted(input_ids=ids, labels=ids).loss.backward()
    gradients = [p.grad for p in adapted.parameters() if p.requires_grad]
    assert all(gradient is not None for gradient in gradients)
