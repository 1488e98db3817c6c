"""Adapters outside of the harness: in fresh processes that import PEFT and `methods.register`."""

import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from peft.mapping import PEFT_TYPE_TO_CONFIG_MAPPING, PEFT_TYPE_TO_TUNER_MAPPING
from peft.utils.hotswap import hotswap_adapter
from transformers import AutoModelForCausalLM

from harness import plugins
from harness.backbones import TINY
from methods import register

METHODS = Path(register.__file__).parent
FEW = ["dypam", "boft"]
"""A native method around attention, and one of PEFT's whose adapters PEFT alone cannot load."""

TRAINED = [name for name in plugins.names("methods") if name != "base"]
IDS = torch.arange(5, 25)[None]

USES = """
import sys
import torch
import methods.register
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments, pipeline

ids = torch.arange(5, 25)[None]
words = dict(max_new_tokens=3, do_sample=False)
tokenizer = AutoTokenizer.from_pretrained("model")

def base():
    return AutoModelForCausalLM.from_pretrained("model")

def logits(model):
    with torch.no_grad():
        return model.eval()(ids).logits

def use(folder, auto):
    wanted = torch.load(f"{folder}/logits.pt")
    model = PeftModel.from_pretrained(base(), folder)
    assert torch.equal(logits(model), wanted), "PeftModel.from_pretrained"

    say = pipeline("text-generation", model=model, tokenizer=tokenizer)
    said = say("What is 3 + 4?", **words)[0]["generated_text"]
    assert said.startswith("What is 3 + 4?"), said

    model.add_adapter("other", model.peft_config["default"])
    assert torch.equal(logits(model), wanted), "add_adapter changes the first"
    model.set_adapter("other")
    model.set_adapter("default")
    assert torch.equal(logits(model), wanted), "set_adapter"

    try:
        merged = PeftModel.from_pretrained(base(), folder).merge_and_unload()
    except ValueError as refusal:
        assert "cannot be merged" in str(refusal), refusal
    else:
        torch.testing.assert_close(logits(merged), wanted, atol=1e-3, rtol=0)

    if auto:
        found = AutoModelForCausalLM.from_pretrained(folder)
        torch.testing.assert_close(logits(found), wanted, atol=1e-4, rtol=0)
        say = pipeline("text-generation", model=folder, tokenizer=tokenizer)
        assert say("What is 3 + 4?", **words)[0]["generated_text"] == said
        found.delete_adapter("default")
        assert torch.equal(logits(found), logits(base())), "delete_adapter"

    model = PeftModel.from_pretrained(base(), folder, is_trainable=True)
    rows = [{"input_ids": ids[0], "labels": ids[0]}] * 4
    arguments = dict(max_steps=2, report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no")
    Trainer(model=model, args=TrainingArguments("out", **arguments), train_dataset=rows).train()
    assert not torch.equal(logits(model), wanted), "Trainer"

for name in sys.argv[1:]:
    use(name, auto=name not in {"dora", "vera"})  # see the test of transformers alone
    print("used", name)
"""


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Save an adapter after two steps, with the logits that its model had."""
    root = tmp_path_factory.mktemp("elsewhere")
    (root / "model").symlink_to(TINY)

    def make(name: str) -> Path:
        folder = root / name
        if not folder.exists():
            model = two_steps(name)
            plugins.method(name).save(model, str(folder), "model")
            with torch.no_grad():
                torch.save(model.eval()(IDS).logits, folder / "logits.pt")
        return folder

    return make


def two_steps(name: str) -> Any:
    method = plugins.method(name)
    fields = method.variants.get("small", {})
    torch.manual_seed(0)
    model = method.adapt(AutoModelForCausalLM.from_pretrained(TINY), method.configure(**fields))
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-2)
    for _ in range(2):
        model(IDS, labels=IDS).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model


def fresh(script: str, folder: Path, *arguments: object) -> "subprocess.CompletedProcess[str]":
    """Run a script in a process of its own, where the backbone's folder is called `model`."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, *map(str, arguments)],
        cwd=folder.parent,
        env={**os.environ, "PYTHONPATH": os.fspath(METHODS.parent)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def assert_used(names: Sequence[str], saved: Callable[[str], Path]) -> None:
    """Use the adapters of methods, one after the other in one process."""
    folders = [saved(name) for name in names]
    done = fresh(USES, folders[0], *names)
    used = [line for line in done.stdout.splitlines() if line.startswith("used ")]
    assert used == [f"used {name}" for name in names], done.stderr[-2000:]


def test_after_the_import_peft_and_transformers_use_an_adapter_as_any_other(
    saved: Callable[[str], Path],
) -> None:
    assert_used(FEW, saved)


@pytest.mark.parts
def test_after_the_import_every_method_is_used_as_any_other(saved: Callable[[str], Path]) -> None:
    assert_used([name for name in TRAINED if name not in FEW], saved)


ALONE = """
import sys
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

def base():
    return AutoModelForCausalLM.from_pretrained("model")

for name in ("dypam", "boft"):
    for load in (lambda: PeftModel.from_pretrained(base(), name),
                 lambda: AutoModelForCausalLM.from_pretrained(name)):
        try:
            load()
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
for name in ("lora", "oft"):
    with torch.no_grad():
        logits = PeftModel.from_pretrained(base(), name)(torch.arange(5, 25)[None]).logits
    print(torch.equal(logits, torch.load(f"{name}/logits.pt")))
print("methods" in sys.modules)
import methods.register
print(*[one for one in sys.modules if one.startswith("methods.")])
"""


@pytest.fixture(scope="module")
def alone(saved: Callable[[str], Path]) -> list[str]:
    """Give the lines that `ALONE` prints."""
    folders = [saved(name) for name in (*FEW, "lora", "oft")]
    return fresh(ALONE, folders[0]).stdout.splitlines()


@pytest.mark.parts
def test_without_it_the_error_names_the_import_and_what_peft_ships_loads(alone: list[str]) -> None:
    *errors, lora, oft, imported, _ = alone
    wanted = [f"KeyError: '{name.upper()}: {register.ADVICE}'" for name in FEW for _ in range(2)]
    assert errors == wanted
    assert (lora, oft, imported) == ("True", "True", "False")


@pytest.mark.parts
def test_the_import_imports_no_method(alone: list[str]) -> None:
    known = {"methods.register", "methods.tuners", "methods.tuners.config"}
    assert set(alone[-1].split()) == known


def test_the_types_that_files_define_and_replace_are_found_in_their_text() -> None:
    # What importing all files leaves in PEFT's mappings.
    for name in plugins.names("methods"):
        importlib.import_module(f"methods.{name}")
    native = {
        str(name): config.__module__
        for name, config in PEFT_TYPE_TO_CONFIG_MAPPING.items()
        if getattr(config, "__module__", "").startswith("methods.")
        and not isinstance(config, register.AtFirstUse)
    }
    assert native == register.types(register.DEFINES)
    replaced = {
        name.value: tuner.__module__
        for name, tuner in PEFT_TYPE_TO_TUNER_MAPPING.items()
        if tuner.__module__.startswith("methods.") and str(name) not in native
    }
    assert replaced == register.types(register.REPLACES)


def test_peft_swaps_the_weights_of_lora_alone(saved: Callable[[str], Path]) -> None:
    folder, other = saved("lora"), saved("dypam")
    model = two_steps("lora").eval()
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            parameter.data.zero_()
    hotswap_adapter(model, str(folder), "default")
    with torch.no_grad():
        assert torch.equal(model(IDS).logits, torch.load(folder / "logits.pt"))
    base = AutoModelForCausalLM.from_pretrained(TINY)
    model = PeftModel.from_pretrained(base, str(other))
    with pytest.raises(ValueError, match="only supports LORA"):
        hotswap_adapter(model, str(other), "default")


@pytest.mark.parts
def test_transformers_alone_refuses_vera_and_reads_dora_wrongly(
    saved: Callable[[str], Path],
) -> None:
    # If this fails, transformers has learnt it, and the page on adapters elsewhere is to be mended.
    with pytest.raises(ValueError, match="shared state"):
        load_by_transformers(saved("vera"))
    folder = saved("dora")
    with torch.no_grad():
        logits = load_by_transformers(folder).eval()(IDS).logits
    assert not torch.allclose(logits, torch.load(folder / "logits.pt"), atol=1e-2)


def load_by_transformers(folder: Path) -> Any:
    model = AutoModelForCausalLM.from_pretrained(TINY)
    model.load_adapter(str(folder))
    return model


def test_an_adapter_names_no_path_of_this_machine(saved: Callable[[str], Path]) -> None:
    values = json.loads((saved("dypam") / "adapter_config.json").read_text())
    assert values["base_model_name_or_path"] == "model"
    assert values["revision"] is None
    assert os.fspath(TINY) not in (saved("dypam") / "adapter_config.json").read_text()


def test_an_adapter_of_a_hub_backbone_names_repository_and_commit_and_loads_on_its_snapshot(
    tmp_path: Path,
) -> None:
    method, commit = plugins.method("lora"), "0" * 40
    snapshot = tmp_path / "models--meta--llama" / "snapshots" / commit
    shutil.copytree(TINY, snapshot)
    model = method.adapt(AutoModelForCausalLM.from_pretrained(snapshot), method.configure())
    folder = tmp_path / "adapter"
    method.save(model, str(folder), "meta/llama", commit)
    values = json.loads((folder / "adapter_config.json").read_text())
    assert (values["base_model_name_or_path"], values["revision"]) == ("meta/llama", commit)
    method.load(AutoModelForCausalLM.from_pretrained(snapshot), str(folder))
    other = AutoModelForCausalLM.from_pretrained(TINY)
    with pytest.raises(ValueError, match="was trained on meta/llama"):
        method.load(other, str(folder))


def test_a_type_of_ours_reads_like_a_member_of_pefts_enumeration() -> None:
    name = register.TypeName("DYPAM")
    assert (name, name.value, json.dumps(name)) == ("DYPAM", "DYPAM", '"DYPAM"')
    assert plugins.method("dypam").configure().peft_type.value == "DYPAM"


@pytest.mark.parts
def test_the_page_on_adapters_elsewhere_is_followed_word_for_word(
    saved: Callable[[str], Path], tmp_path: Path
) -> None:
    page = (METHODS / "README.md").read_text().partition("## Use an adapter elsewhere")[2]
    block = page.partition("```python\n")[2].partition("```")[0]
    assert "import methods.register" in block
    shutil.copytree(saved("dypam"), tmp_path / "adapter")
    done = fresh(block, tmp_path / "adapter")
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("What is 3 + 4?")
