"""Whether continuations of a prompt can be branches of one sequence, hidden by a mask."""

import torch
from torch import Tensor

from methods.conformance.probes import Build, assert_close, configure, logits, prompts, train
from methods.contract import Method

PROMPT, FIRST, SECOND = slice(0, 3), slice(3, 5), slice(5, 7)
"""Where they are in a sequence of 7 tokens, less than any window of the models."""


def branches_do_not_mix(method: Method, build: Build) -> None:
    """Two branches behind a mask are computed as each alone, if the method says `by_token`."""
    if not method.by_token(configure(method)):
        return
    adapted, ids = train(method, build), prompts(2, SECOND.stop)
    with torch.no_grad():
        together = adapted(
            input_ids=ids,
            attention_mask=_mask().expand(len(ids), -1, -1, -1),
            position_ids=torch.tensor([[0, 1, 2, 3, 4, 3, 4]]).expand(len(ids), -1),
        ).logits
    for branch in (FIRST, SECOND):
        alone = logits(adapted, torch.cat([ids[:, PROMPT], ids[:, branch]], dim=1))
        assert_close(together[:, branch], alone[:, PROMPT.stop :])


def _mask() -> Tensor:
    """Return what is added to attention so that a branch sees the prompt and itself."""
    hidden = torch.ones(SECOND.stop, SECOND.stop).triu(1)
    hidden[SECOND, FIRST] = 1
    return (hidden * torch.finfo(hidden.dtype).min)[None, None]
