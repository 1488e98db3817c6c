"""Dynamic layer selection: train only the layers whose norms have the largest gradients.

    Score(L_i) = sqrt(|grad attention norm_i|^2 + |grad feed-forward norm_i|^2)     eq. 5
    grad L_i  <- 0   for every layer i that is not selected                        eq. 6

After warm-up, every `interval` steps: with probability `exploit` the `ratio` of layers with the
largest scores is selected, else as many at random; in between the selection stays.

RoSA, AAAI 2026, section "Dynamic Layer Selection" and algorithm 1. What the paper leaves open, and
the choice made:

- The warm-up: that of the learning rate. Before the first selection all layers train.
- A step is an optimizer step, and the scores are those of its accumulated gradients, not clipped,
  summed in float32.
- The two norms of a layer: of `input_layernorm` and the one before the feed-forward part
  (`pre_feedforward_layernorm` in Gemma, `post_attention_layernorm` elsewhere). They need not be
  trained: in a selection step a gradient is taken for them.
- How many layers: `ratio` times their number, rounded up, so that no less than the share trains.
- Zeroed gradients, as the paper writes, do not stop AdamW: its momentum moves a layer on for some
  steps. With `freeze` the optimizer skips the layer.
- Parameters of no layer (a final norm) always train.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import ceil
from random import Random
from typing import Any

import torch
from peft import PeftModel
from torch import nn

from methods.training.hooks import StepHooks, TrainingAhead

LAYER = re.compile(r"\.layers\.(\d+)\.")
FEED_FORWARD_NORMS = ("pre_feedforward_layernorm", "post_attention_layernorm")


@dataclass(frozen=True)
class LayerSelection:
    """Settings of dynamic layer selection, with the values of the paper.

    Attributes:
        ratio: Share of the layers that is selected (k_ratio), rounded up to whole layers.
        interval: Optimizer steps between two selections (u).
        exploit: Probability that the scores decide, and not chance (p_exploit).
        freeze: Whether the optimizer skips what is not selected, instead of taking a zero gradient.
    """

    ratio: float = 0.5
    interval: int = 40
    exploit: float = 0.8
    freeze: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.ratio <= 1:
            raise ValueError(f"dls: ratio must be above 0 and at most 1, not {self.ratio}.")
        if self.interval < 1 or self.interval != int(self.interval):
            raise ValueError(
                f"dls: interval must be a whole number from 1 on, not {self.interval}."
            )
        if not 0 <= self.exploit <= 1:
            raise ValueError(f"dls: exploit must be between 0 and 1, not {self.exploit}.")


@dataclass
class DynamicLayerSelection(StepHooks):
    """Selects layers and masks the gradients of the others.

    Attributes:
        history: Per selection: step, scores by layer, the layers selected, and whether the scores
            decided.
    """

    model: PeftModel
    settings: LayerSelection
    ahead: TrainingAhead
    history: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = Random(f"{self.ahead.seed}/dls")
        self.trained: dict[int, list[nn.Parameter]] = defaultdict(list)
        for name, parameter in self.model.named_parameters():
            if parameter.requires_grad and (layer := LAYER.search(name)):
                self.trained[int(layer[1])].append(parameter)
        if not self.trained:
            raise ValueError("dls: nothing that trains lies in a numbered layer (`layers.0`).")
        self.norms = _norms(self.model)
        missing = sorted(self.trained.keys() - self.norms.keys())
        if missing:
            raise ValueError(
                f"dls: layer {missing[0]} of the model has no layer norm before attention and "
                "feed-forward part whose gradient could be its score."
            )
        self.borrowed: list[nn.Parameter] = []

    def before_forward(self, step: int) -> None:
        """Ask for the gradients of the norms, in a selection step."""
        if self._selects(step):
            norms = (p for layer in self.trained for p in self.norms[layer])
            self.borrowed = [p for p in norms if not p.requires_grad]
            for parameter in self.borrowed:
                parameter.requires_grad_(True)

    def after_backward(self, step: int) -> None:
        """Select layers in a selection step; mask the gradients in every step."""
        if self._selects(step):
            self._select(step)
            for parameter in self.borrowed:
                parameter.requires_grad_(False)
                parameter.grad = None
        if self.history:
            selected = self.history[-1]["selected"]
            for layer, parameters in self.trained.items():
                if layer not in selected:
                    self._mask(parameters)

    def state(self) -> dict[str, Any]:
        """Return the history, whose last selection is at work, and what draws the next one."""
        version, numbers, spare = self.random.getstate()
        return {"history": self.history, "random": [version, list(numbers), spare]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on with that selection."""
        version, numbers, spare = state["random"]
        self.random.setstate((version, tuple(numbers), spare))
        # In JSON the layers that name the scores are texts.
        self.history = [
            {**one, "scores": {int(layer): score for layer, score in one["scores"].items()}}
            for one in state["history"]
        ]

    def record(self) -> dict[str, Any]:
        """Return settings and history."""
        return {"layer_selection": {"settings": asdict(self.settings), "history": self.history}}

    def _selects(self, step: int) -> bool:
        return step > self.ahead.warmup_steps and step % self.settings.interval == 0

    def _select(self, step: int) -> None:
        scores = {layer: _norm_of_gradients(self.norms[layer]) for layer in sorted(self.trained)}
        share = self.settings.ratio * len(scores)
        count = max(1, ceil(round(share, 9)))  # 0.28 x 25 is 7.000000000000001
        exploits = self.random.random() < self.settings.exploit
        ranked = sorted(scores, key=lambda layer: -scores[layer])
        chosen = ranked[:count] if exploits else self.random.sample(sorted(scores), count)
        self.history.append(
            {"step": step, "scores": scores, "selected": sorted(chosen), "exploited": exploits}
        )

    def _mask(self, parameters: list[nn.Parameter]) -> None:
        for parameter in parameters:
            if self.settings.freeze:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad.zero_()


def _norms(model: PeftModel) -> dict[int, list[nn.Parameter]]:
    """Find the weights of the two norms of each layer: the trained ones where they are trained."""
    found: dict[int, dict[str, nn.Parameter]] = defaultdict(dict)
    # A trained copy is named after what it copies, and the frozen one gets no gradient.
    parameters = sorted(model.named_parameters(), key=lambda item: item[1].requires_grad)
    for name, parameter in parameters:
        if layer := LAYER.search(name):
            place = name[layer.end() :].split(".")[0]
            found[int(layer[1])][place] = parameter
    norms = {}
    for number, places in found.items():
        feed_forward = next((places[name] for name in FEED_FORWARD_NORMS if name in places), None)
        if "input_layernorm" in places and feed_forward is not None:
            norms[number] = [places["input_layernorm"], feed_forward]
    return norms


def _norm_of_gradients(parameters: list[nn.Parameter]) -> float:
    gradients = [p.grad.float().norm() for p in parameters if p.grad is not None]
    return float(torch.stack(gradients).norm())
