"""The conformance checks on the embedded language model, one line each."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import plugins
from harness.backbones import TINY
from harness.errors import UserError, unknown

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from methods.contract import Method


@dataclass(frozen=True)
class Finding:
    """What one check found; `fault` is empty where it passed."""

    method: str
    check: str
    claim: str
    fault: str

    def __str__(self) -> str:
        line = f"{'FAILS' if self.fault else 'holds'}  {self.method}  {self.check}: {self.claim}"
        return f"{line}\n       {self.fault}" if self.fault else line


def examine(wanted: str) -> Iterator[Finding]:
    """Run every check on a method: by name, by the path of its file, or on `all`.

    Raises:
        UserError: There is no such method, or the file offers none.
    """
    import torch  # noqa: PLC0415 (start-up time)

    from methods.conformance.checks import checks_of  # noqa: PLC0415

    torch.set_num_threads(1)  # the embedded model is too small to be shared between threads
    if wanted == "all":
        names = plugins.usable("methods")
        for name, fault in plugins.faults("methods").items():
            yield Finding(name, "can_be_used", "It is imported and is a method.", fault)
    else:
        names = [wanted]
    for name, method in [(name, _method(name)) for name in names]:
        for check in checks_of(method):
            claim = (check.__doc__ or "").splitlines()[0]
            fault = ""
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    check(method, _tiny)
            except Exception as error:  # whatever a method does wrong is a finding
                fault = f"{type(error).__name__}: {error}".strip().replace("\n", "\n       ")
            yield Finding(name, check.__name__, claim, fault)


def _method(wanted: str) -> "Method":
    if wanted.endswith(plugins.FILE):
        return plugins.method(plugins.add("methods", Path(wanted)))
    if wanted not in plugins.names("methods") and not wanted.startswith(plugins.OF_PEFT):
        hint = "Or give the path of a method's file, or `all`."
        raise UserError(unknown("method", wanted, plugins.names("methods"), hint))
    return plugins.method(wanted)


def _tiny() -> "PreTrainedModel":
    from transformers import AutoModelForCausalLM  # noqa: PLC0415 (start-up time)
    from transformers.utils import logging  # noqa: PLC0415

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    model: Any = AutoModelForCausalLM.from_pretrained(TINY, trust_remote_code=False)
    bare: PreTrainedModel = model.eval()
    return bare
