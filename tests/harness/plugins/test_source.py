import ast
import sys
from collections.abc import Iterator
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
import torch
from peft import get_peft_model
from peft.mapping import PEFT_TYPE_TO_TUNER_MAPPING

import methods
from harness import plugins
from harness.plugins.source import (
    METHOD,
    hash_of,
    packages_of,
    reached,
    reached_in,
    source_hash,
    task_source,
)
from harness.plugins.syntax import Definition, Files
from methods.conformance import models
from methods.training.hooks import TrainingAhead

OURS = Path(methods.__path__[0])
ADAPTING = [name for name in plugins.names("methods") if plugins.method(name).config]


def names(name: str) -> set[str]:
    return {one.name for one in reached(name)}


def executed(name: str) -> set[Definition]:
    """Train a method for two steps and list the code of `methods` that runs."""
    method = plugins.method(name)
    model: Any = models.llama(models.GQA)
    codes: set[CodeType] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        codes.add(frame.f_code)

    sys.setprofile(note)
    try:
        config = method.configure(**method.variants.get("small", {}))
        train(method, get_peft_model(model, config))
    finally:
        sys.setprofile(None)
    ours = [code for code in codes if Path(code.co_filename).is_relative_to(OURS)]
    # Another test of this process may have imported it; no method does.
    ours = [code for code in ours if Path(code.co_filename).name != "register.py"]
    files = {code: Path(code.co_filename).relative_to(OURS.parent) for code in ours}
    return {
        Definition(".".join(files[code].with_suffix("").parts), code.co_qualname.partition(".")[0])
        for code in ours
    }


def train(method: Any, model: Any) -> None:
    hooks = (
        method.hooks(model, TrainingAhead(steps=40, warmup_steps=2, seed=0))
        if method.hooks
        else None
    )
    ids = torch.arange(3, 27).reshape(2, 12)
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.01)
    for step in (1, 2):
        if hooks:
            hooks.before_forward(step)
        loss = model(input_ids=ids, labels=ids).loss
        loss = loss + method.auxiliary_loss(model) if method.auxiliary_loss else loss
        loss.backward()
        if hooks:
            hooks.after_backward(step)
        optimizer.step()
        if hooks:
            hooks.after_step(step)
    if hooks:
        hooks.record()


@pytest.mark.parametrize("name", ADAPTING)
def test_all_code_of_the_project_that_runs_in_training_is_reached(name: str) -> None:
    assert executed(name) - {METHOD} <= reached(name).keys()


@pytest.mark.parametrize("name", ADAPTING)
def test_the_tuner_of_a_method_is_reached_with_what_it_inherits_here(name: str) -> None:
    tuner = PEFT_TYPE_TO_TUNER_MAPPING[plugins.method(name).configure().peft_type]
    ours = [one for one in tuner.__mro__ if one.__module__.partition(".")[0] == "methods"]
    assert {(one.__module__, one.__name__) for one in ours} <= reached(name).keys()


def test_a_hash_reaches_from_the_method_to_the_layer_that_its_tuner_puts_in() -> None:
    assert {"DyPAMConfig", "DyPAMModel", "DyPAM", "Modulation", "QueryKeyLayer"} <= names("dypam")
    assert {"FlyLoRA", "sparse_projection", "LinearLayer", "NativeTuner"} <= names("flylora")


def test_what_counts_checks_or_describes_is_not_reached() -> None:
    for name in plugins.names("methods"):
        assert {"parameters", "check", "notes", "fits_rank", "Method"} & names(name) == set()


def test_no_two_methods_have_one_hash() -> None:
    hashes = [source_hash(name, selects_layers=False) for name in plugins.names("methods")]
    assert len(set(hashes)) == len(hashes)


def test_the_source_of_a_tuner_of_peft_is_the_version_of_peft() -> None:
    expected = sha256(f"peft {version('peft')}".encode()).hexdigest()
    assert {source_hash(f"peft:{kind}", selects_layers=False) for kind in ("WAVEFT", "FROD")} == {
        expected
    }


def computing(node: ast.AST) -> Iterator[ast.AST]:
    """Walk what computes: no docstrings, no types of functions, no words of errors."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in {"returns", "ctx"} or (name == "annotation" and isinstance(node, ast.arg)):
            continue
        for one in value if isinstance(value, list) else [value]:
            text = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
            if isinstance(one, ast.AST) and not text and not isinstance(one, ast.Raise):
                yield from computing(one)


def change(node: Any) -> tuple[str, Any] | None:
    """Name a field of a node and another value for it."""
    if isinstance(node, ast.Constant) and type(node.value) in {int, float}:
        return "value", node.value + 1
    if isinstance(node, ast.Constant):
        return "value", f"{node.value}x"
    if isinstance(node, ast.BinOp):
        return "op", ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
    if isinstance(node, ast.Compare):
        other = ast.IsNot() if isinstance(node.ops[0], ast.Is) else ast.Is()
        return "ops", [other, *node.ops[1:]]
    names = {ast.Name: "id", ast.Attribute: "attr", ast.keyword: "arg", ast.arg: "arg"}
    field = names.get(type(node))
    return (field, f"{getattr(node, field)}_") if field else None


@pytest.mark.parametrize("name", ["dypam", "flylora"])
def test_every_constant_operator_and_name_that_is_reached_counts(name: str) -> None:
    files, unseen, tried = Files({"methods": OURS}), [], 0
    for definition in reached(name).keys() - {Definition(f"methods.{name}", "method")}:
        module = files.module(definition.module)
        assert module is not None
        nodes = module.definitions[definition.name] if definition.name else module.statements
        before = files.form(module, nodes)
        for node in computing(ast.Module(nodes, [])):
            if changed := change(node):
                field, value = changed[0], getattr(node, changed[0])
                setattr(node, *changed)
                unseen += [(definition, *changed)] * (files.form(module, nodes) == before)
                setattr(node, field, value)
                tried += 1
    assert unseen == []
    assert tried > 300


# Files of a toy project: what a text changes, and where names are followed.

CONTRACT = """
@dataclass(frozen=True)
class Method:
    title: str
    config: type
    parameters: object
    mergeable: bool
    paper: str = ""
    defaults: object = None
    variants: object = None
    auxiliary_loss: object = None
    hooks: object = None
    streams: bool = False

def register(config, tuner):
    MAPPING[config.peft_type] = tuner
"""

LAYERS = """
from torch import nn

def half(x):
    return x / 2

class Layer(nn.Module):
    pass
"""

TOY = '''"""Toy: y = W x + tanh(a x) / 2."""

from dataclasses import dataclass

import torch
from torch import Tensor

from methods.contract import Method, register
from methods.layers import Layer, half

SCALE = 0.5
"""What the update is scaled by."""


@dataclass
class ToyConfig:
    """Fields of the toy.

    Attributes:
        a: The slope.
    """

    peft_type = "TOY"
    a: float = 0.3

    def __post_init__(self) -> None:
        if self.a < 0:
            raise ValueError(f"a must be at least 0, not {self.a}.")


class Toy(Layer):
    """The update."""

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., in) to (..., out)."""
        y = torch.tanh(self.a * x)  # odd
        return SCALE * half(y)


class ToyModel:
    layer = Toy


register(ToyConfig, ToyModel)


def parameters(config, model) -> int:
    """Count."""
    return 2 * model.config.hidden_size


method = Method(
    title="Toy",
    config=ToyConfig,
    parameters=parameters,
    mergeable=False,
    variants={"steep": {"a": 3.0}},
)
'''


def write(folder: Path, **texts: str) -> Path:
    """Write files; `a___b` is `a/b.py`."""
    for name, text in texts.items():
        file = folder.joinpath(*name.split("___")).with_suffix(".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    return write(tmp_path / "methods", contract=CONTRACT, layers=LAYERS, toy=TOY)


def hashed(folder: Path, **texts: str) -> str:
    """Hash the toy after some files were written."""
    return hash_of(reached_in({"methods": write(folder, **texts)}, "methods.toy", "method"))


def replaced(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


RENAMES_NO_RUN = {
    "docstring": ("Toy: y = W x", "The toy: y = W x"),
    "docstring of a class": ("Fields of the toy.", "What the toy has."),
    "docstring of a function": ("Map (..., in)", "From (..., in)"),
    "docstring added": ("class ToyModel:\n", 'class ToyModel:\n    """Puts it in."""\n'),
    "docstring of a constant": ("What the update", "The factor that the update"),
    "comment": ("# odd", "# an odd function"),
    "formatting": ("torch.tanh(self.a * x)", "torch.tanh(\n            (self.a*x)\n        )"),
    "another spelling of a number": ("SCALE = 0.5", "SCALE = 5e-1"),
    "words of an error": ("a must be at least 0, not", "a is 0 or more, and not"),
    "title": ('title="Toy"', 'title="TOY"'),
    "paper": ('title="Toy"', 'title="Toy", paper="https://example.org"'),
    "variant": ('{"steep": {"a": 3.0}}', '{"steep": {"a": 4.0}, "flat": {"a": 0.1}}'),
    "default in the spec": ("mergeable=False", 'mergeable=False, defaults={"a": 1.0}'),
    "flag": ("mergeable=False", "mergeable=True, streams=True"),
    "formula of the count": ("return 2 *", "return 3 *"),
    "function that nothing names": ("class ToyModel", "def f(x):\n    return x\n\nclass ToyModel"),
    "import that nothing names": ("import torch\n", "import math\nimport torch\n"),
    "types of arguments": ("(self, x: Tensor) -> Tensor", '(self, x: "Tensor")'),
    "import in a function": ("        y = torch", "        import torch\n\n        y = torch"),
}


@pytest.mark.parametrize("change", RENAMES_NO_RUN)
def test_what_changes_no_number_renames_no_run(toy: Path, change: str) -> None:
    assert hashed(toy) == hashed(toy, toy=replaced(TOY, *RENAMES_NO_RUN[change]))


ANOTHER_METHOD = {
    "constant": ("SCALE = 0.5", "SCALE = 0.25"),
    "operator": ("self.a * x", "self.a + x"),
    "function of torch": ("torch.tanh", "torch.sin"),
    "import of another thing by its name": ("import torch\n", "import numpy as torch\n"),
    "default of a field": ("a: float = 0.3", "a: float = 0.4"),
    "type of a field": ("a: float", "a: int"),
    "limit": ("self.a < 0", "self.a <= 0"),
    "kind of error": ("raise ValueError", "raise StopIteration"),
    "base": ("class Toy(Layer)", "class Toy(torch.nn.Module)"),
    "decorator": ("@dataclass\n", "@dataclass(eq=False)\n"),
    "argument": ("def forward(self, x", "def forward(self, x, z"),
    "registration": ("register(ToyConfig, ToyModel)", "register(ToyConfig, Layer)"),
    "patch": ("register(ToyConfig", "torch.relu = torch.tanh\nregister(ToyConfig"),
    "configuration": ("config=ToyConfig", "config=Layer"),
    "hooks": ("mergeable=False", "mergeable=False, hooks=half"),
    "loss": ("mergeable=False", "mergeable=False, auxiliary_loss=half"),
}


@pytest.mark.parametrize("change", ANOTHER_METHOD)
def test_what_changes_a_number_makes_another_method(toy: Path, change: str) -> None:
    assert hashed(toy) != hashed(toy, toy=replaced(TOY, *ANOTHER_METHOD[change]))


def test_a_method_changes_with_what_it_takes_from_other_files(toy: Path) -> None:
    before = hashed(toy)
    assert hashed(toy, layers=replaced(LAYERS, "x / 2", "x / 3")) != before
    assert hashed(toy, layers=replaced(LAYERS, "nn.Module", "nn.Linear")) != before
    assert hashed(toy, layers=f"{LAYERS}\ndef third(x):\n    return x / 3\n") == before


def test_a_capability_that_methods_get_renames_no_run(toy: Path) -> None:
    before = hashed(toy)
    contract = replaced(CONTRACT, "    streams:", "    offline: bool = True\n    streams:")
    offline = replaced(TOY, "mergeable=False", "mergeable=False, offline=True")
    assert hashed(toy, contract=contract) == before
    assert hashed(toy, contract=contract, toy=offline) == before


def test_another_method_of_the_same_file_is_not_reached(toy: Path) -> None:
    text = TOY + "\nother = Method(title='Other', config=Layer)\n"
    assert hashed(toy, toy=text) == hashed(toy, toy=replaced(text, "Other", "Another"))


def test_where_and_in_which_order_things_are_defined_is_no_part_of_a_method(toy: Path) -> None:
    before = hashed(toy)
    moved = "def half(x):\n    return x / 2\n"
    files = {"layers": replaced(LAYERS, moved, ""), "numbers___halves": f"import math\n{moved}"}
    imports = "from .numbers.halves import half\nfrom methods.layers import Layer"
    text = replaced(TOY, "from methods.layers import Layer, half", imports)
    scale = 'SCALE = 0.5\n"""What the update is scaled by."""\n'
    assert hashed(toy, toy=replaced(text, scale, "") + scale, **files) == before


USES = [
    ("from methods.layers import half", "half(y)"),
    ("from methods.layers import half as divided", "divided(y)"),
    ("from methods import layers", "layers.half(y)"),
    ("from . import layers as shared", "shared.half(y)"),
    ("from .layers import half", "half(y)"),
    ("import methods.layers", "methods.layers.half(y)"),
    ("import methods.layers as shared", "shared.half(y)"),
    ("from methods.again import half", "half(y)"),
    ("from methods.again import divided as half", "half(y)"),
]


@pytest.mark.parametrize(("imports", "use"), USES)
def test_however_a_definition_is_imported_it_is_followed(toy: Path, imports: str, use: str) -> None:
    before = hashed(toy, again="from .layers import half, half as divided\n")
    text = replaced(TOY, "import Layer, half", f"import Layer\n{imports}")
    text = replaced(text, "half(y)", use)
    assert hashed(toy, toy=text) == before
    assert hashed(toy, layers=replaced(LAYERS, "x / 2", "x / 3")) != before


WHOLE = [
    ("from methods.layers import *", "half(y)"),
    ("from methods.again import *", "half(y)"),
    ("from methods.again import half", "half(y)"),
    ("import methods.layers as shared", "getattr(shared, 'half')(y)"),
]


@pytest.mark.parametrize(("imports", "use"), WHOLE)
def test_a_file_that_is_imported_as_a_whole_is_reached_as_a_whole(
    toy: Path, imports: str, use: str
) -> None:
    text = replaced(TOY, "import Layer, half", f"import Layer\n{imports}")
    before = hashed(toy, toy=replaced(text, "half(y)", use), again="from methods.layers import *\n")
    assert hashed(toy, layers=replaced(LAYERS, "x / 2", "x / 3")) != before


def test_an_import_within_a_function_is_followed(toy: Path) -> None:
    text = replaced(TOY, "import Layer, half", "import Layer")
    text = replaced(text, "        y =", "        from methods.layers import half\n        y =")
    before = hashed(toy, toy=text)
    assert hashed(toy, layers=replaced(LAYERS, "x / 2", "x / 3")) != before


def test_files_that_import_each_other_are_followed_once(toy: Path) -> None:
    layers = f"from methods.toy import SCALE, half\n{LAYERS}\nTWICE = 2 * SCALE\n"
    text = replaced(TOY, "Layer, half", "Layer, half, TWICE")
    before = hashed(toy, toy=replaced(text, "return SCALE", "return TWICE"), layers=layers)
    assert hashed(toy, toy=replaced(text, "SCALE = 0.5", "SCALE = 0.6")) != before
    hashed(toy, toy=replaced(TOY, "SCALE = 0.5", "from methods.layers import SCALE"))


def test_a_package_may_offer_a_function_by_the_name_of_its_file(toy: Path) -> None:
    texts = {
        "halves_____init__": "from .half import half\n",
        "halves___half": "def half(x):\n    return x / 2\n",
    }
    text = replaced(TOY, "import Layer, half", "import Layer\nfrom methods.halves import half")
    before = hashed(toy, toy=text, **texts)
    assert hashed(toy, halves___half="def half(x):\n    return x / 3\n") != before


TIES = {
    "decorator": ("@registers(ToyConfig)\nclass ToyModel:", ""),
    "argument of a class": ("class ToyModel(config=ToyConfig):", ""),
    "value": ("class ToyModel:", "\n_ = registers(ToyConfig)(ToyModel)\n"),
}


@pytest.mark.parametrize("tie", TIES)
def test_a_tuner_is_reached_however_it_is_registered(toy: Path, tie: str) -> None:
    made, after = TIES[tie]
    text = replaced(TOY, "register(ToyConfig, ToyModel)\n", after)
    text = replaced(text, "class ToyModel:", made)
    text = replaced(text, "import Method, register", "import Method, registers")
    contract = f"{CONTRACT}\ndef registers(config):\n    return lambda tuner: tuner\n"
    text = text if tie != "argument of a class" else replaced(text, "(config=", "(Layer, config=")
    before = hashed(toy, toy=text, contract=contract)
    assert hashed(toy, toy=replaced(text, "SCALE = 0.5", "SCALE = 0.6")) != before


def test_a_patch_in_a_file_that_is_only_imported_is_reached(toy: Path) -> None:
    text = replaced(TOY, "import torch\n", "import torch\nimport methods.patches\n")
    before = hashed(toy, toy=text, patches="import torch\ntorch.relu = torch.tanh\n")
    assert hashed(toy, patches="import torch\ntorch.relu = torch.sin\n") != before


def test_what_is_defined_on_a_condition_is_reached(toy: Path) -> None:
    layers = replaced(LAYERS, "def half(x):\n    return x / 2\n", "if nn:\n    half = nn.Half\n")
    before = hashed(toy, layers=layers)
    assert hashed(toy, layers=replaced(layers, "nn.Half", "nn.Third")) != before


def test_two_definitions_of_one_name_are_not_mistaken_for_each_other(toy: Path) -> None:
    other = "def half(x):\n    return 0.5 * x\n"
    text = replaced(TOY, "Layer, half", "Layer, half as one\nfrom methods.other import half as two")
    before = hashed(toy, other=other, toy=replaced(text, "half(y)", "one(y) + two(2 * y)"))
    assert hashed(toy, toy=replaced(text, "half(y)", "two(y) + one(2 * y)")) != before


def test_a_definition_is_not_mistaken_for_what_is_built_in(toy: Path) -> None:
    layers = f"{LAYERS}\ndef abs(x):\n    return x\n\nclass Other(Layer):\n    size = abs(1)\n"
    text = replaced(TOY, "Layer, half", "Layer, Other, half")
    text = replaced(text, "layer = Toy", "layer, other = Toy, Other")
    before = hashed(toy, layers=layers, toy=replaced(text, "half(y)", "abs(half(y))"))
    assert (
        hashed(
            toy,
            toy=replaced(
                replaced(text, "half(y)", "abs(half(y))"), "Other, half", "Other, abs, half"
            ),
        )
        != before
    )


def test_a_method_without_code_of_its_own_has_a_hash(toy: Path) -> None:
    nothing = 'from methods.contract import Method\nmethod = Method(title="Base", config=None)\n'
    retitled = replaced(nothing, "Base", "Bare")
    assert hashed(toy, toy=nothing) == hashed(toy, toy=retitled) != hashed(toy, toy=TOY)


def test_the_form_of_a_method_is_the_same_under_every_python(toy: Path) -> None:
    # As computed by Python 3.11, 3.12 and 3.13.
    assert hashed(toy) == "c48f10d2a19630f20b48614767eaa396f62bb44f08d72f10e478a9669e3822bf"


# Methods of other distributions.


def hash_by(module: str, path: Path, offered: str = "method") -> str:
    return hash_of(reached_in(packages_of(module, path), module, offered))


def test_a_plugin_is_followed_through_its_own_package(tmp_path: Path) -> None:
    text = replaced(TOY, "methods.layers", "extra.parts.layers")
    write(tmp_path / "extra", nets___toy=text, parts___layers=LAYERS)
    file = tmp_path / "extra" / "nets" / "toy.py"
    before = hash_by("extra.nets.toy", file)
    write(tmp_path / "extra", parts___layers=replaced(LAYERS, "x / 2", "x / 3"))
    assert hash_by("extra.nets.toy", file) != before


def test_a_plugin_in_no_package_is_followed_through_the_files_beside_it(tmp_path: Path) -> None:
    write(tmp_path, toy=replaced(TOY, "methods.layers", "layers"), layers=LAYERS)
    before = hash_by("toy", tmp_path / "toy.py")
    write(tmp_path, layers=replaced(LAYERS, "x / 2", "x / 3"))
    assert hash_by("toy", tmp_path / "toy.py") != before


def test_a_plugin_is_followed_into_the_project(tmp_path: Path) -> None:
    text = "from methods.contract import Method\nfrom methods.dypam import DyPAMConfig\n"
    write(tmp_path, toy=f"{text}method = Method(title='Mine', config=DyPAMConfig)\n")
    found = reached_in(packages_of("toy", tmp_path / "toy.py"), "toy", "method")
    assert {"DyPAMModel", "Modulation", "QueryKeyLayer"} <= {one.name for one in found}


def test_a_package_may_offer_a_method_that_one_of_its_files_defines(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "extra",
        __init__="from .toy import method as mine\n",
        toy=replaced(TOY, "methods.layers", ".layers"),
        layers=LAYERS,
    )
    before = hash_by("extra", folder / "__init__.py", "mine")
    write(folder, toy=(folder / "toy.py").read_text().replace("SCALE = 0.5", "SCALE = 0.6"))
    assert hash_by("extra", folder / "__init__.py", "mine") != before


def test_a_subclass_of_method_is_reached_with_its_own_fields(tmp_path: Path) -> None:
    own = "class Mine(Method):\n    warm: int = 3\n    def adapt(self):\n        return 1\n\n"
    text = replaced(TOY, "method = Method(", f"{own}method = Mine(warm=5, ")
    file = write(tmp_path, toy=text, layers=LAYERS) / "toy.py"
    before = hash_by("toy", file)
    for old, new in [
        ("return 1", "return 2"),
        ("warm=5", "warm=6"),
        ("warm: int = 3", "warm: int = 4"),
    ]:
        write(tmp_path, toy=replaced(text, old, new))
        assert hash_by("toy", file) != before
    write(tmp_path, toy=replaced(text, 'title="Toy"', 'title="TOY"'))
    assert hash_by("toy", file) == before


def test_a_method_made_of_another_is_reached_with_it(tmp_path: Path) -> None:
    text = "from dataclasses import replace\nfrom methods.flylora import method as flylora\n"
    file = write(tmp_path, toy=f"{text}method = replace(flylora, title='Mine')\n") / "toy.py"
    before = hash_by("toy", file)
    assert Definition("methods.flylora", "FlyLoRA") in reached_in(
        packages_of("toy", file), "toy", "method"
    )
    write(tmp_path, toy=f"{text}method = replace(flylora, title='Yours')\n")
    assert hash_by("toy", file) == before
    write(tmp_path, toy=f"{text}method = replace(flylora, title='Mine', hooks=None)\n")
    assert hash_by("toy", file) != before


@pytest.mark.parametrize("name", ["lora", "peft:WAVEFT"])
def test_the_code_that_selects_layers_counts_where_it_is_used(name: str) -> None:
    assert source_hash(name, selects_layers=True) != source_hash(name, selects_layers=False)
    assert "DynamicLayerSelection" not in {found.name for found in reached("lora")}


def test_a_plugin_is_followed_into_a_folder_beside_it(tmp_path: Path) -> None:
    write(tmp_path, toy=replaced(TOY, "methods.layers", "parts.layers"), parts___layers=LAYERS)
    before = hash_by("toy", tmp_path / "toy.py")
    write(tmp_path, parts___layers=replaced(LAYERS, "x / 2", "x / 3"))
    assert hash_by("toy", tmp_path / "toy.py") != before


RECORD = "extra/toy.py,,\nextra_layers/layers.py,,\nextra-1.0.dist-info/RECORD,,\n"


@pytest.mark.parametrize(("record", "follows"), [(RECORD, True), (None, False)])
def test_a_plugin_is_followed_through_the_packages_of_its_own_distribution(
    record: str | None, follows: bool, install: Any, tmp_path: Path
) -> None:
    text = replaced(TOY, "methods.layers", "extra_layers.layers")
    site = install("[harness.methods]\ntoy = extra.toy:method\n", toy=text).parent
    write(site / "extra_layers", layers=LAYERS)
    if record:
        (site / "extra-1.0.dist-info" / "RECORD").write_text(record)
    before = source_hash("toy", selects_layers=False)
    write(site / "extra_layers", layers=replaced(LAYERS, "x / 2", "x / 3"))
    assert (source_hash("toy", selects_layers=False) != before) is follows


def test_a_plugin_is_not_followed_into_other_distributions(install: Any) -> None:
    text = replaced(TOY, "methods.layers", "strange.layers")
    site = install("[harness.methods]\ntoy = extra.toy:method\n", toy=text).parent
    (site / "extra-1.0.dist-info" / "RECORD").write_text("extra/toy.py,,\n")
    write(site / "strange", layers=LAYERS)
    before = source_hash("toy", selects_layers=False)
    write(site / "strange", layers=replaced(LAYERS, "x / 2", "x / 3"))
    assert source_hash("toy", selects_layers=False) == before


def test_a_guests_benchmark_and_group_have_a_source_and_ours_have_none(install: Any) -> None:
    text = "from tasks.contract import Group\nfrom extra.names import NAMES\n"
    text += "group = Group(title='Mine', benchmarks=NAMES, train=(), sample_rows=9)\n"
    package = install(
        "[harness.groups]\nmine = extra.mine:group\n", mine=text, names='NAMES = ("gsm8k",)\n'
    )
    before = task_source("groups", "mine")
    write(package, names='NAMES = ("svamp",)\n')
    assert before not in (None, task_source("groups", "mine"))
    assert task_source("groups", "math") is None
    assert task_source("tasks", "gsm8k") is None
