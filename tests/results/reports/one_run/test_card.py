"""The model card of a run, read back by the hub's own library."""

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from huggingface_hub import ModelCard

from results.record import POOLED, Run, Score
from results.reports.one_run.card import About, markdown

Make = Callable[..., Run]

SET = {"kind": "published", "verified": True}
SPEC = {
    "method": {"fields": {"r": 24, "bias": None}},
    "train": {"lr": 0.001, "epochs": 3},
    "train_data": {"title": "Math10K", "sha256": "ab" * 32, "rows": 9919, **SET},
    "tests": {"gsm8k": {"title": "GSM8K test set", "sha256": "cd" * 32, "rows": 1319, **SET}},
}
SCORES = (
    Score("gsm8k", "accuracy", "llm-adapters", True, 0.5, 10, unparsed=1),
    Score("gsm8k", "accuracy", "strict", False, 0.4, 10),
    Score(POOLED, "bleu", "", True, 31.416, 10),
)
ABOUT = About(
    title="LoRA",
    paper="https://arxiv.org/abs/2106.09685",
    summary="LoRA: learn a low-rank update.",
    repository="meta-llama/Llama-3.2-3B",
    revision="c0ffee",
    licences={"Math10K": "not established", "GSM8K test set": "MIT"},
    training={"steps": 7},
    imports=("methods.register",),
)


@pytest.fixture
def run(make: Make) -> Run:
    return make(
        spec=SPEC, scores=SCORES, backbone=str(ABOUT.repository), flags=("gsm8k: cut: 70 %",)
    )


def test_the_hub_reads_the_scores_with_their_rows_and_wilsons_interval(run: Run) -> None:
    data: Any = ModelCard(markdown(run, ABOUT, "me/adapter")).data
    accuracy, bleu = data.eval_results
    assert (accuracy.dataset_name, accuracy.metric_type) == ("GSM8K test set", "accuracy")
    assert (accuracy.metric_value, bleu.metric_value) == (50.0, 31.42)
    # Of 5 in 10, from a table of Wilson's interval: 0.2366 to 0.7634.
    assert accuracy.metric_args["wilson_95"] == [23.66, 76.34]
    assert (accuracy.metric_args["n"], accuracy.metric_args["extractor"]) == (10, "llm-adapters")
    assert "wilson_95" not in bleu.metric_args
    assert (data.base_model, data.library_name) == ("meta-llama/Llama-3.2-3B", "peft")


def test_people_read_method_paper_backbone_data_licences_recipe_and_flags(run: Run) -> None:
    text = markdown(run, ABOUT, "me/adapter")
    for part in (
        "# LoRA on meta-llama/Llama-3.2-3B, math",
        "An adapter of [LoRA](https://arxiv.org/abs/2106.09685) for "
        "[meta-llama/Llama-3.2-3B](https://huggingface.co/meta-llama/Llama-3.2-3B/tree/c0ffee), "
        "trained on Math10K.",
        "Read with care: sample data.",
        "| gsm8k                   | accuracy | 50.00 % | 23.66 to 76.34 |  10 |               1 |",
        "| all benchmarks together | bleu     |   31.42 |              - |  10 |               0 |",
        "- gsm8k: cut: 70 %",
        "    r = 24",
        "    epochs = 3",
        "    steps = 7",
        "| training | Math10K        | 9919 | abababababababab | not established |",
        "| gsm8k    | GSM8K test set | 1319 | cdcdcdcdcdcdcdcd | MIT             |",
        f"    run = {run.run_id}",
    ):
        assert part in text, text
    assert "bias" not in text.partition("## Method")[2]
    assert run.folder not in text


def test_the_code_that_loads_it_is_python_and_pins_the_backbone(run: Run) -> None:
    text = markdown(run, ABOUT, "me/adapter")
    code = text.partition("```python\n")[2].partition("```")[0]
    ast.parse(code)
    assert code.startswith("import methods.register\n")
    assert 'AutoModelForCausalLM.from_pretrained(backbone, revision="c0ffee")' in code
    assert 'PeftModel.from_pretrained(model, "me/adapter")' in code
    plain = markdown(run, replace(ABOUT, imports=()), "me/adapter")
    assert "methods.register" not in plain


def test_a_backbone_from_a_folder_is_no_name_of_the_hub(run: Run) -> None:
    about = replace(ABOUT, repository=None, revision=None)
    text = markdown(replace(run, backbone="tiny"), about, "adapter")
    assert "base_model" not in text
    assert 'backbone = "FOLDER"  # of tiny' in text


def test_a_run_without_scores_has_a_card(run: Run) -> None:
    text = markdown(replace(run, scores=()), ABOUT, "adapter")
    assert "## Scores" not in text
    assert ModelCard(text).data.base_model == "meta-llama/Llama-3.2-3B"


@pytest.mark.parametrize(
    ("paper", "named"),
    [("a draft", "Tanh (a draft)"), ("", "Tanh"), ("https://a.b", "[Tanh](https")],
)
def test_only_an_address_is_a_link(run: Run, paper: str, named: str) -> None:
    text = markdown(run, replace(ABOUT, title="Tanh", paper=paper), "me/adapter")
    assert f"An adapter of {named}" in text
    assert "](a" not in text


def test_a_method_of_which_nothing_is_known_leaves_no_gap(run: Run) -> None:
    assert "\n\n\n" not in markdown(run, replace(ABOUT, summary=""), "me/adapter")


def test_the_file_of_an_own_method_is_asked_for_where_it_is_imported(run: Run) -> None:
    about = replace(ABOUT, imports=("methods.register", "tanh_lora"), file="tanh_lora.py")
    text = markdown(run, about, "me/adapter")
    assert "With peft-proving-ground installed, and tanh_lora.py in the current folder:" in text
    assert "import tanh_lora\n" in text
