"""What the checks measure with: adapted models, prompts, logits, gradients, and comparisons."""

import copy
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any
from weakref import WeakSet

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from methods.conformance.models import VOCABULARY
from methods.contract import Method

PADDING, END = 0, 2
ROUNDING = 1e-4
"""What the order of float32 sums may change, on logits of scale 10."""

Build = Callable[[], PreTrainedModel]


def assert_same(found: Tensor, expected: Tensor) -> None:
    """Hold two tensors equal to the bit."""
    torch.testing.assert_close(found, expected, rtol=0.0, atol=0.0)


def assert_close(found: Tensor, expected: Tensor) -> None:
    """Hold two tensors equal up to rounding."""
    torch.testing.assert_close(found, expected, rtol=ROUNDING, atol=ROUNDING)


def adapt(method: Method, build: Build) -> Any:
    """Put the method on a fresh model, in evaluation mode."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model: Any = method.adapt(build(), configure(method))
        return model.eval()


def configure(method: Method) -> Any:
    """Configure the method with its default fields, or those of `small` where it has them."""
    return method.configure(**method.variants.get("small", {}))


def train(method: Method, build: Build) -> Any:
    """Adapt a model and move every trainable parameter away from its start."""
    return copy.deepcopy(_train_once(method, build))


@lru_cache(maxsize=4)
def _train_once(method: Method, build: Build) -> Any:
    model = adapt(method, build)
    randomise(model, seed=2)
    return model


def randomise(adapted: Any, seed: int) -> None:
    """Add noise to every trainable parameter."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in trainable(adapted).values():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))


def learnt(method: Method, adapted: Any) -> dict[str, Tensor]:
    """Return loss, auxiliary loss and gradients of one pass in training, by name."""
    ids = prompts(4, 9)
    adapted.zero_grad()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)  # for dropout and routing noise
        loss = adapted(input_ids=ids, labels=ids).loss
        auxiliary = method.auxiliary_loss(adapted) if method.auxiliary_loss else torch.zeros(())
        (loss + auxiliary).backward()
    found = {n: p.grad.clone() for n, p in trainable(adapted).items() if p.grad is not None}
    return {"loss": loss.detach(), "auxiliary loss": auxiliary.detach(), **found}


def trainable(adapted: Any) -> dict[str, nn.Parameter]:
    """List what trains."""
    return {n: p for n, p in adapted.named_parameters() if p.requires_grad}


def prompts(rows: int, tokens: int) -> Tensor:
    """Draw token ids (rows, tokens), the same each time."""
    generator = torch.Generator().manual_seed(3)
    return torch.randint(END + 1, VOCABULARY, (rows, tokens), generator=generator)


def logits(model: Any, ids: Tensor) -> Tensor:
    """Return the logits (rows, tokens, vocabulary), without a gradient."""
    with torch.no_grad():
        found: Tensor = model(input_ids=ids).logits
    return found


def base_logits(build: Build, ids: Tensor) -> Tensor:
    """Return the logits of the bare model."""
    return logits(build(), ids)


def greedy(adapted: Any, ids: Tensor, mask: Tensor, use_cache: bool = True) -> Tensor:
    """Decode six tokens: (rows, tokens + 6)."""
    with torch.no_grad():
        output: Tensor = adapted.generate(
            input_ids=ids,
            attention_mask=mask,
            do_sample=False,
            max_new_tokens=6,
            min_new_tokens=6,
            use_cache=use_cache,
        )
    return output


class Held:
    """A tensor that a graph holds for the backward pass."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


def held(model: nn.Module, run: Callable[[], object]) -> dict[int, Tensor]:
    """List what the graph of a pass holds when it is done, one tensor for each storage.

    The model's own parameters and buffers are left out.
    """
    holders: WeakSet[Held] = WeakSet()

    def pack(tensor: Tensor) -> Held:
        holder = Held(tensor)
        holders.add(holder)
        return holder

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda holder: holder.tensor):
        graph = run()
    own = {_storage(tensor) for tensor in (*model.parameters(), *model.buffers())}
    found = [part for holder in list(holders) for part in _dense(holder.tensor.detach())]
    del graph
    return {_storage(tensor): tensor for tensor in found if _storage(tensor) not in own}


def _dense(tensor: Tensor) -> Iterator[Tensor]:
    yield from (tensor._indices(), tensor._values()) if tensor.is_sparse else (tensor,)


def _storage(tensor: Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)
