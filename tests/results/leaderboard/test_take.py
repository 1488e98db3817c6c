"""What is taken along of a view is what the command beside it prints."""

import json
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from harness.commands.leaderboard import source
from results.leaderboard.build import build
from results.leaderboard.server.app import app
from results.leaderboard.values.ranking.take import FORMS
from results.record import Run
from results.store import Store

Command = Callable[..., "subprocess.CompletedProcess[str]"]
Make = Callable[..., Run]

SHELL = 'it\'s "a" $(id) `id` ;*?~\\n & é'
METHODS = ("lora", "dypam", SHELL, "-x", "base")
BACKBONES = ("tiny", "my tiny's")
PRINTED = {"group": "printed", "published": "dypam"}
"""A view with what a paper prints beside."""
PROTOCOLS = ("paper/2", "chat/1")
FOLDER = {"backbone": {"name": "own", "revision": "sha256:0123abc"}, "train": {"lr": 0.1}}


@pytest.fixture(scope="module")
def place(make: Make, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fill a store: names that mean something to a shell, two of most that a view chooses from."""
    place = tmp_path_factory.mktemp("take") / "harness.db"
    store, minute = Store(str(place)), 0
    for protocol in PROTOCOLS:
        for backbone in BACKBONES:
            for number, method in enumerate(METHODS):
                for recipe, seed in ((lr, seed) for lr in (0.1, 0.2) for seed in (1, 2, 3)):
                    minute += 1
                    right = 80 - 7 * number + seed + 10 * (recipe == 0.2)
                    store.add(
                        make(
                            method,
                            seed,
                            {"gsm8k": right, "aqua": 40},
                            minute=minute,
                            backbone=backbone,
                            protocol=protocol,
                            setting=f"setting {protocol}",
                            recipe=f"recipe {recipe}",
                            environment_id=f"{'ab'[PROTOCOLS.index(protocol)] * 8}00",
                            series=f"{protocol} {backbone} {method} {recipe}",
                            spec={
                                "train": {"lr": recipe},
                                "backbone": {"name": backbone, "revision": f"0{len(backbone)}"},
                            },
                            validation_loss=recipe + seed,
                            provenance={"titles": {"-x": "The_X"}},
                        )
                    )
    store.add(
        make("lora", 1, {"svamp": 9}, group="alone", backbone="own", minute=9999, spec=FOLDER)
    )
    for method in ("lora", "dypam"):
        facts = {"group": "printed", "backbone": "Llama-3.2-3B", "marks": (), "minute": minute}
        store.add(make(method, 1, {"gsm8k": 50, "aqua": 30}, **facts))
    return place


@pytest.fixture(scope="module")
def served(place: Path) -> TestClient:
    return client(place)


def client(place: Path | str, *, private: bool = False) -> TestClient:
    return TestClient(app(source(str(place), private=private)), base_url="http://localhost")


def commands(served: TestClient, query: str) -> dict[str, str]:
    """Give the command of each form of a view."""
    return {one["form"]: one["command"] for one in served.get(f"/api/rank?{query}").json()["takes"]}


def words(command: str) -> list[str]:
    """Let a real shell read a command."""
    script = f"set -- {command}\nprintf '%s\\0' \"$@\""
    read = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
    return read.split("\0")[:-1]


views = st.fixed_dictionaries(
    {"group": st.just("math")},
    optional={
        "backbones": st.sampled_from([[name] for name in BACKBONES] + [list(BACKBONES)]),
        "methods": st.lists(st.sampled_from(METHODS), unique=True),
        "columns": st.lists(st.sampled_from(["macro", "gsm8k", "micro", "aqua"]), unique=True),
        "protocol": st.sampled_from(PROTOCOLS),
        "recipes": st.sampled_from(["own", "validation"]),
        "era": st.sampled_from(["aaaa", "bbbbbbbb"]),
        "sort": st.just("method"),
        "search": st.sampled_from(["o", "a", "'"]),
    },
)


@settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)
@given(view=views, form=st.sampled_from(["latex", "csv", "json"]))
@example(view={"group": "math"}, form="latex")
@example(view={"group": "math", "methods": [SHELL, "-x"]}, form="latex")
@example(view={"group": "alone"}, form="latex")
@example(view={"group": "alone"}, form="json")
@example(view=PRINTED, form="json")
@example(view=PRINTED | {"methods": ["lora"]}, form="latex")
def test_the_command_of_a_view_prints_its_file(
    view: dict[str, Any], form: str, place: Path, served: TestClient, harness: Command
) -> None:
    query = urlencode(view, doseq=True)
    told = commands(served, query)
    file = served.get(f"/take/{form}?{query}")
    if not told:
        assert file.status_code == 404
        return
    assert file.status_code == 200, file.text
    name, *asked = words(told[form])
    done = harness(place.parent, *asked)
    assert (name, done.returncode) == ("harness", 0), done.stderr
    assert file.text == done.stdout


def test_hidden_rows_are_in_no_file_and_the_ranks_are_among_all(served: TestClient) -> None:
    (table, *_) = served.get("/take/json?group=math&methods=dypam&protocol=chat/1").json()
    (block,) = table["blocks"]
    assert [row["label"] for row in block["rows"]] == ["dypam"]
    assert set(block["hidden"]) == {*METHODS} - {"dypam"}
    assert "Printed: 1 of 5 methods." in served.get("/take/latex?group=math&methods=dypam").text


@pytest.mark.parametrize("form", FORMS)
def test_a_file_has_a_name_and_says_what_it_is(form: str, served: TestClient) -> None:
    headers = served.get(f"/take/{form}?recipes=own&backbones=tiny&group=math").headers
    name = f'attachment; filename="math-tiny-own.{FORMS[form].suffix}"'
    assert headers["Content-Disposition"] == name
    assert headers["Content-Type"].startswith(FORMS[form].media)
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_papers_are_those_of_what_is_shown(served: TestClient) -> None:
    query = "/take/bibtex?group=math&backbones=my+tiny%27s&methods=lora&methods=base&columns=gsm8k"
    text = served.get(query).text
    assert "@misc{hu2021lora,\n  author = {Hu and others},\n" in text
    assert "  title = {{LoRA: Low-Rank Adaptation of Large Language Models}}," in text
    assert "  eprint = {2106.09685},\n  archivePrefix = {arXiv}," in text
    assert "@misc{cobbe2021training," in text
    assert "  title = {{my tiny's}}," in text
    assert "title = {{peft-proving-ground}}" in text
    assert "% base: its paper has no title here" in text
    assert "dypam" not in text
    assert "aqua" not in text
    assert "own}" not in served.get("/take/bibtex?group=alone").text


@pytest.mark.parametrize("name", ["a,b", "a\nb", "a\x00b", "\u202egnp", " a", "x" * 20_000])
def test_what_no_command_line_can_name_has_no_command(
    name: str, make: Make, tmp_path: Path
) -> None:
    store = Store(str(tmp_path / "harness.db"))
    for method in (name, "lora"):
        store.add(make(method, 1, minute=len(method)))
    served = client(tmp_path / "harness.db")
    query = urlencode({"methods": name})
    assert set(commands(served, query).values()) == {""}
    assert "No command line can name" in served.get(f"/?{query}").text
    file = served.get(f"/take/latex?{query}")
    assert file.status_code == 200
    assert "Command: " not in file.text
    # Of all methods, none has to be named.
    assert commands(served, "")["csv"] == (
        "harness table --tasks math --backbones tiny --format csv"
    )


def test_a_command_names_a_store_unless_that_is_private(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Store("other runs.db").add(make("lora", 1))
    for place in ("other runs.db", tmp_path / "other runs.db"):
        told = commands(client(place, private=True), "")["latex"]
        assert words(told)[-2:] == ["--store", str(place)]
    assert words(commands(client("other runs.db"), "")["latex"])[-2:] == [
        "--store",
        "other runs.db",
    ]
    assert "--store" not in commands(client(tmp_path / "other runs.db"), "")["latex"]


def test_what_cannot_be_taken_along_is_a_page_that_says_so(served: TestClient) -> None:
    unknown = served.get("/take/latx?group=math")
    assert unknown.status_code == 404
    assert "Did you mean &#39;latex&#39;?" in unknown.text
    nothing = served.get("/take/latex?search=nothing+like+that")
    assert nothing.status_code == 404
    assert "shows no row" in nothing.text
    assert "Download</h2>" not in served.get("/?search=nothing+like+that").text


class Links(HTMLParser):
    """Collects the links to files, and the commands."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if "download" in found:
            self.files[found["download"] or ""] = found["href"] or ""


def test_a_build_has_the_same_files_beside_its_pages(place: Path, tmp_path: Path) -> None:
    built = source(str(place), private=False)
    build(built, tmp_path)
    page = tmp_path / "rank" / "math" / "tiny-own.html"
    links = Links()
    links.feed(page.read_text())
    assert set(links.files) == {f"math-tiny-own.{form.suffix}" for form in FORMS.values()}
    for form, known in FORMS.items():
        file = page.parent / links.files[f"math-tiny-own.{known.suffix}"]
        served = client(place).get(f"/take/{form}?group=math&backbones=tiny&recipes=own")
        assert file.read_bytes() == served.content
    assert "The files hold all rows and columns" in page.read_text()
    assert json.loads((page.parent / "tiny-own.json").read_text())


@pytest.mark.parametrize("form", FORMS)
def test_no_file_names_a_folder_a_host_or_a_user(
    form: str, store: tuple[str, dict[str, Run]]
) -> None:
    text = client(store[0]).get(f"/take/{form}").text
    assert not [private for private in ("quentin", "node7", "/home", store[0]) if private in text]
