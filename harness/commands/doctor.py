"""The conformance checks on the embedded language model, one line each."""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import plugins
from harness.backbones import INSTALL_BITSANDBYTES, TINY
from harness.errors import UserError, unknown
from harness.plugins.guests import place

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from methods.conformance.checks import Check
    from methods.conformance.probes import Build
    from methods.contract import Method


@dataclass(frozen=True)
class Finding:
    """What one check found; `fault` is empty where it passed, and where it was skipped."""

    method: str
    check: str
    claim: str
    fault: str
    skipped: bool = False

    def __str__(self) -> str:
        verdict = "skips" if self.skipped else "FAILS" if self.fault else "holds"
        line = f"{verdict}  {self.method}  {self.check}: {self.claim}"
        return f"{line}\n       {self.fault}" if self.fault else line


def written(finding: Finding, before: Iterable[Finding]) -> str:
    """Write a finding; a fault that an earlier one of the method has is not written again."""
    same = [
        one.check for one in before if (one.method, one.fault) == (finding.method, finding.fault)
    ]
    return str(
        replace(finding, fault=f"the same fault as {same[0]}")
        if finding.fault and same
        else finding
    )


def examine(wanted: str) -> Iterator[Finding]:
    """Run every check on a method: by name, by the path of its file, or on `all`.

    Raises:
        UserError: There is no such method, or the file offers none.
    """
    import torch  # noqa: PLC0415 (start-up time)

    torch.set_num_threads(1)  # the embedded model is too small to be shared between threads
    if wanted == "all":
        names = plugins.usable("methods")
        for name, fault in plugins.faults("methods").items():
            yield Finding(name, "can_be_used", "It is imported and is a method.", fault)
    else:
        names = [wanted]
    for name, method in [(name, _method(name)) for name in names]:
        yield from _examine(name, method)


def _examine(name: str, method: "Method") -> Iterator[Finding]:
    from harness.worker.decoding.conformance import slots_change_no_token  # noqa: PLC0415
    from harness.worker.training.conformance import resumes_where_it_was_cut  # noqa: PLC0415
    from methods.conformance.checks import checks_of  # noqa: PLC0415 (start-up time)
    from methods.conformance.quantized import QUANTIZED_CHECKS  # noqa: PLC0415

    resumed = (resumes_where_it_was_cut,) if method.trains else ()
    for check in (*checks_of(method), slots_change_no_token, *resumed):
        yield _find(name, check, method, tiny)
    if method.quantized and find_spec("bitsandbytes") is None:
        formats = " and ".join(method.quantized)
        claim = f"Not checked, since bitsandbytes is not installed: {INSTALL_BITSANDBYTES}"
        yield Finding(name, f"over {formats}", claim, "", skipped=True)
        return
    for how in method.quantized:
        build = partial(tiny, how)
        for check in QUANTIZED_CHECKS:
            found = _find(name, check, method, build)
            yield replace(found, check=f"{found.check} over {how}")


def _find(name: str, check: "Check", method: "Method", build: "Build") -> Finding:
    fault = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(method, build)
    except Exception as error:  # whatever a method does wrong is a finding
        file = _file(name)
        where = place(error, file) if file else ""
        fault = f"{type(error).__name__}: {error}{where}".strip().replace("\n", "\n       ")
    return Finding(name, check.__name__, (check.__doc__ or "").splitlines()[0], fault)


def _file(wanted: str) -> Path | None:
    """Find the file of a method; a tuner of PEFT has none here."""
    if wanted.startswith(plugins.OF_PEFT):
        return None
    if wanted.endswith(plugins.FILE):
        return Path(wanted).resolve()
    return plugins.source_path("methods", wanted)


def _method(wanted: str) -> "Method":
    if wanted.endswith(plugins.FILE):
        return plugins.method(plugins.add("methods", Path(wanted)))
    if wanted not in plugins.names("methods") and not wanted.startswith(plugins.OF_PEFT):
        hint = "Or give the path of a method's file, or `all`."
        known, files = plugins.names("methods"), plugins.files_here()
        raise UserError(unknown("method", wanted, known, hint, also=files))
    return plugins.method(wanted)


def tiny(quantize: str | None = None) -> "PreTrainedModel":
    """Load the embedded model, in full precision or in 4 or 8 bits, on the CPU."""
    import torch  # noqa: PLC0415 (start-up time)
    from transformers import AutoModelForCausalLM  # noqa: PLC0415
    from transformers.utils import logging  # noqa: PLC0415

    from harness.backbones.quantized import keep_as_loaded, quantization  # noqa: PLC0415

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    options: dict[str, Any] = {}
    if quantize:
        stored = quantization(quantize, torch.float32)
        options = {"quantization_config": stored, "device_map": "cpu"}
    model: Any = AutoModelForCausalLM.from_pretrained(TINY, trust_remote_code=False, **options)
    keep_as_loaded(model)
    bare: PreTrainedModel = model.eval()
    return bare
