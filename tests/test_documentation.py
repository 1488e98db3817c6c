"""The documentation is true: names, links, paths, commands, modules, words."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from safetensors import safe_open
from typer.core import TyperGroup

from harness import plugins
from harness.backbones import TINY
from harness.cli import app
from harness.commands import catalogue

ROOT = Path(__file__).parent.parent
PACKAGES = ("harness", "methods", "tasks", "results")
PAGES = sorted([*ROOT.glob("*.md"), *(p for top in PACKAGES for p in ROOT.glob(f"{top}/**/*.md"))])
PAGES.append(ROOT / "benchmarks" / "README.md")
README, ARCHITECTURE = ((ROOT / name).read_text() for name in ("README.md", "ARCHITECTURE.md"))
MODULES = [
    path.relative_to(ROOT) for top in PACKAGES for path in sorted(ROOT.glob(f"{top}/**/*.py"))
]
LISTED = re.compile(r"^(?:\| `|  )?(?:[\w/]+/)?(\w+\.py)(?:`|  )", re.MULTILINE)
"""A module as a list of modules names it: in a table's first cell, or in a tree."""

on_every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@on_every_page
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)\)", page.read_text())
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


@on_every_page
def test_every_test_that_a_page_names_exists(page: Path) -> None:
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("*.py"))
    named = re.findall(r"`(test_[a-z0-9_]+)`", page.read_text())
    assert [name for name in named if f"def {name}(" not in tests] == []


FILES = [path for top in (*PACKAGES, "tests", "benchmarks") for path in ROOT.glob(f"{top}/**/*.*")]
KNOWN = [f"/{path.relative_to(ROOT)}" for path in [*FILES, *PAGES]]
OTHERS = {"act.py", "commonsense_evaluate.py", "env.py", "evaluate.py"}
"""Files of the stand-in's run folder, of Alembic and of LLM-Adapters."""


def missing(text: str) -> list[str]:
    """List the paths of Python files and pages in backticks that end no path of the project.

    Capitals in the path of a Python file stand for any name.
    """
    found = set(re.findall(r"`([a-z0-9_./-]+\.py|[\w./-]+\.md)`", text)) - OTHERS
    return [path for path in found if not any(known.endswith(f"/{path}") for known in KNOWN)]


@on_every_page
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    assert missing(page.read_text()) == []


def docstrings(module: Path) -> Iterator[str]:
    """Yield the texts of a module that stand alone: docstrings, also of attributes."""
    for node in ast.walk(ast.parse((ROOT / module).read_text())):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield str(node.value.value)


@pytest.mark.parametrize("top", PACKAGES)
def test_every_file_that_a_docstring_names_exists(top: str) -> None:
    modules = [module for module in MODULES if module.parts[0] == top]
    found = {str(module): missing("\n".join(docstrings(module))) for module in modules}
    assert {module: paths for module, paths in found.items() if paths} == {}


def commands(group: TyperGroup, *path: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of each command, `data fetch` as two."""
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from commands(command, *path, name)
        else:
            yield (*path, name)


def test_the_readme_stays_under_150_lines_and_shows_every_command() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    every = [" ".join(words) for words in commands(group)]
    assert {"run", "data contamination"} < set(every)
    assert README.count("\n") < 150
    shown = README.partition("## Use")[2].partition("\n\n- ")[0]
    assert [words for words in every if f"    harness {words} " not in shown] == []


def between(page: str, mark: str) -> str:
    text = (ROOT / page).read_text()
    return text.partition(f"<!-- {mark}: begin -->\n")[2].partition(f"\n<!-- {mark}: end -->")[0]


def test_the_table_of_methods_is_what_the_plugins_say() -> None:
    assert between("methods/README.md", "methods") == catalogue.methods(None, None, wide=True).text


def test_the_table_of_tasks_is_what_the_plugins_say() -> None:
    assert between("tasks/README.md", "tasks") == catalogue.tasks(None, wide=True).text


def is_listed_by_rule(module: Path) -> bool:
    """Whether a module stands in a generated table, or in a folder of many files of one kind."""
    folders: dict[plugins.Kind, Path] = {
        "methods": Path("methods"),
        "tasks": Path("tasks"),
        "groups": Path("tasks/groups"),
    }
    kinds = [kind for kind, folder in folders.items() if module.parent == folder]
    a_plugin = any(module.stem in plugins.names(kind) for kind in kinds)
    return a_plugin or "migrations" in module.parts or module.name == "__init__.py"


@pytest.mark.parametrize("top", PACKAGES)
def test_every_module_stands_in_a_list_of_its_package_and_no_other_does(top: str) -> None:
    modules = [module for module in MODULES if module.parts[0] == top]
    named = Counter(module.name for module in modules if not is_listed_by_rule(module))
    pages = (page.read_text() for page in ROOT.glob(f"{top}/**/README.md"))
    listed = Counter(name for page in pages for name in LISTED.findall(page))
    assert sorted((named - listed).elements()) == [], "not in any list"
    assert sorted(listed.keys() - {module.name for module in modules} - {"NAME.py"}) == [], "gone"


def test_the_architecture_takes_at_most_150_lines_and_names_every_room() -> None:
    assert ARCHITECTURE.count("\n") <= 150
    rooms = {f"{module.parent}/" for module in MODULES if "versions" not in module.parts}
    assert len(rooms) > 25
    assert [room for room in sorted(rooms) if f"`{room}`" not in ARCHITECTURE] == []


def test_every_class_that_the_architecture_names_exists() -> None:
    named = re.findall(r"`([A-Z]\w*[a-z]\w*)(?:\.\w+)?`", ARCHITECTURE)
    code = "".join((ROOT / module).read_text() for module in MODULES)
    assert len(named) > 20
    gone = [name for name in named if not re.search(rf"^class {name}\b", code, re.MULTILINE)]
    assert gone == ["PeftConfig"], "all but one of PEFT's own"


WORDS = (
    "request, planned run, plan, spec, run, run id, run folder, attempt, job, slot, outcome, "
    "executor, grid, recipe, own recipe, batch plan, protocol, setting, series, marks, flags, "
    "adjustments, notes, headline, extractor, verdict, generation, reference, score, average, "
    "environment, plugin, contract, provenance, method, benchmark, group"
)


def test_the_vocabulary_gives_each_word_one_line() -> None:
    table = ARCHITECTURE.partition("## Vocabulary")[2].partition("\n## ")[0]
    heads = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
    words = [word for head in heads for word in head.split(", ")]
    assert [word for word in WORDS.split(", ") if words.count(word) != 1] == []


def test_the_figures_of_tiny_are_those_of_its_files() -> None:
    with safe_open(TINY / "model.safetensors", "numpy") as weights:
        parameters = sum(weights.get_tensor(name).size for name in weights.keys())  # noqa: SIM118
    tokens = len(json.loads((TINY / "tokenizer.json").read_text())["model"]["vocab"])
    for page in ("harness/README.md", "harness/backbones/tiny/train.py"):
        text = (ROOT / page).read_text()
        assert f"{parameters:,} parameters" in text
        assert f"BPE of {tokens} tokens" in text


OLD = (
    "anew",
    "for ever",
    "is that of the bare model, or the method says that not",
    "What the commands that run, or that read the store",
    "what the worker registered for its own end",
    "are one rank, and true is none",
    "How a model is trained to answer, asked and heard",
    "the extractors and metrics of today",
    "yesterday's generations",
    "Averages without rows of the training set too",
    "whether the best is so beyond chance",
    "What is said of a method from its seeds",
    "it is a failure of form, not of skill",
    "tables tell the gap",
    "not yet understood",
    "is printed as markdown or json, and not with",
    "the batch plan can move them",
    "these know nobody",
)
"""Words and sentences that were rewritten. In methods/ and tests/ some are left."""


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Read pages and docstrings, each as one line."""
    tops = ("harness", "results", "tasks")
    found = {str(page): page.read_text() for page in PAGES if page.parent.name != "methods"}
    found |= {str(m): "\n".join(docstrings(m)) for m in MODULES if m.parts[0] in tops}
    return {name: " ".join(text.split()) for name, text in found.items()}


@pytest.mark.parametrize("phrase", OLD)
def test_no_sentence_that_was_rewritten_is_back(phrase: str, texts: dict[str, str]) -> None:
    words = re.compile(rf"\b{re.escape(phrase)}\b")
    assert [name for name, text in texts.items() if words.search(text)] == []
