"""What a decoded token costs where an evaluation keeps what depends on parameters alone."""

import gc
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

from benchmarks.ratios import device, ratios
from harness import plugins
from methods.contract import Method
from methods.tuners.kept import keeping
from methods.tuners.room import Room

SHAPE = {
    "hidden_size": 512,
    "intermediate_size": 1408,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "vocab_size": 1024,
}
FORMING = ("boft", "dora", "fourierft", "shira", "smoa")
"""Methods that keep something over bfloat16 too."""

FIELDS = {"fourierft": {"n_frequency": 10_000}}
"""Where the defaults fit no layer of this shape."""

BATCHES = (32, 1)
CONTEXT, TOKENS, ROUNDS = 16, 4, 5
VALIDATED = (8, 128)
"""Rows and tokens of a validation batch, in which the cost of entering is given."""

COLUMNS = (
    "kept, batch 32",
    "not kept, batch 32",
    "kept, batch 1",
    "not kept, batch 1",
    "entering",
    "copy",
)


def report() -> None:
    """Print a token of every method that can be merged, kept and not kept, against the bare one."""
    print(
        f"One token in float32, two layers of width {SHAPE['hidden_size']}; bare model = 1. "
        f"Entering: to a bare pass over {VALIDATED[0]} x {VALIDATED[1]} tokens. Copy: bytes that "
        "are kept, to those of the frozen model.\n"
    )
    print(f"| method | {' | '.join(COLUMNS)} |\n| :--- |{' ---: |' * len(COLUMNS)}")
    mergeable = [name for name in plugins.names("methods") if plugins.method(name).mergeable]
    gc.freeze()  # what is imported; a ratio collects garbage before each measurement
    for name in mergeable:
        print(f"| {name} | {' | '.join(_row(name))} |", flush=True)
    print(
        f"\nThe same in bfloat16:\n\n| method | {' | '.join(COLUMNS[:2])} |\n| :--- | ---: | ---: |"
    )
    for name in FORMING:
        cells, _ = _cells(name, *_models(name, torch.bfloat16), BATCHES[:1])
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    gc.unfreeze()


def _row(name: str) -> list[str]:
    bare, adapted = _models(name, torch.float32)
    cells, copy = _cells(name, bare, adapted, BATCHES)
    ways = {"bare": _validation(bare), "entering": _entering(plugins.method(name), adapted)}
    frozen = sum(parameter.nbytes for parameter in bare.parameters())
    entering = ratios(ways, "bare", ROUNDS)["entering"]
    return [*cells, str(entering), f"{copy / frozen:.2f}"]


def _cells(name: str, bare: Any, adapted: Any, batches: Sequence[int]) -> tuple[list[str], int]:
    """Measure tokens of each batch, kept and not kept; return the bytes that are kept too."""
    cells, room, kept = [], Room(), deepcopy(adapted)
    with keeping(kept, plugins.method(name), room=room):
        for rows in batches:
            models = {"bare": bare, "kept": kept, "not kept": adapted}
            ways = {how: _tokens(model, rows) for how, model in models.items()}
            found = ratios(ways, "bare", ROUNDS)
            cells += [str(found["kept"]), str(found["not kept"])]
    return cells, room.kept


def _models(name: str, dtype: torch.dtype) -> tuple[Any, Any]:
    """Make a model, and the same with an adapter that has left its start."""
    torch.manual_seed(0)
    bare: Any = LlamaForCausalLM(LlamaConfig(**SHAPE)).to(device(), dtype).eval()
    method = plugins.method(name)
    adapted: Any = method.adapt(deepcopy(bare), method.configure(**FIELDS.get(name, {})))
    with torch.no_grad():
        for parameter in adapted.parameters():
            if parameter.requires_grad:
                parameter.add_(0.01 * torch.randn_like(parameter))
    return bare, adapted.eval()


def _tokens(model: Any, rows: int) -> Callable[[], object]:
    """Return the passes of some tokens for each row, after a cached context."""
    ids = torch.randint(SHAPE["vocab_size"], (rows, CONTEXT), device=device())
    cache = DynamicCache(config=model.config)
    with torch.inference_mode():
        model(input_ids=ids, past_key_values=cache)

    @torch.inference_mode()
    def decode() -> None:
        for _ in range(TOKENS):
            model(input_ids=ids[:, :1], past_key_values=cache)
        cache.crop(-TOKENS)

    return decode


def _validation(model: Any) -> Callable[[], object]:
    ids = torch.randint(SHAPE["vocab_size"], VALIDATED, device=device())
    return torch.inference_mode()(lambda: model(input_ids=ids))


def _entering(method: Method, model: Any) -> Callable[[], object]:
    def enter() -> None:
        with keeping(model, method):
            pass

    return enter
