"""The protocols, spelled out. In templates a dot stands for a space and ends are marked."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import plugins, protocols
from harness.errors import UserError
from harness.planning.parse import parse_assignment
from harness.planning.settings import Settings, make_settings
from harness.protocols import hycam, llm_adapters, paper
from harness.spec.protocol import Protocol
from tasks.contract import Row

PLAIN = Row(0, "Add 2 and 3.", "It is 5.", "5")
WITH_INPUT = Row(0, "Add them.", "It is 5.", "5", input="2 and 3")

HEAD = "Below is an instruction that describes a task. "
PAIRED = (
    "Below is an instruction that describes a task, paired with an input that provides further "
    "context. "
)
WRITE = "Write a response that appropriately completes the request."


def text(*lines: str) -> str:
    """Write the middle dots of a template as spaces."""
    return "\n".join(lines).replace("·", " ")


# LLM-Adapters at commit 8166572: `generate_prompt` of finetune.py and of evaluate.py are indented
# texts in triple quotes, so that each line after the first keeps 16 spaces.
TAUGHT = text(
    f"{HEAD}{WRITE}··",
    "",
    "················### Instruction:",
    "················Add 2 and 3.",
    "················",
    "················### Response:",
    "················",
)
TAUGHT_WITH_INPUT = text(
    f"{PAIRED}{WRITE}·",
    "",
    "················### Instruction:",
    "················Add them.",
    "················",
    "················### Input:",
    "················2 and 3",
    "················",
    "················### Response:",
    "················",
)
ASKED = text(
    f"{HEAD}{WRITE}·",
    "",
    "················### Instruction:",
    "················Add 2 and 3.",
    "",
    "················### Response:",
    "················",
)
ASKED_WITH_INPUT = text(
    f"{PAIRED}{WRITE}",
    "",
    "················### Instruction:",
    "················Add them.",
    "",
    "················### Input:",
    "················2 and 3",
    "",
    "················### Response:",
    "················",
)

# Stanford Alpaca's template, which the papers use.
ALPACA = text(f"{HEAD}{WRITE}", "", "### Instruction:", "Add 2 and 3.", "", "### Response:", "")
ALPACA_WITH_INPUT = text(
    f"{PAIRED}{WRITE}",
    "",
    *("### Instruction:", "Add them.", "", "### Input:", "2 and 3", "", "### Response:", ""),
)


@pytest.mark.parametrize(
    ("row", "taught", "asked"),
    [(PLAIN, TAUGHT, ASKED), (WITH_INPUT, TAUGHT_WITH_INPUT, ASKED_WITH_INPUT)],
    ids=["plain", "with input"],
)
def test_the_prompts_of_llm_adapters_are_its_code_to_the_last_space(
    row: Row, taught: str, asked: str
) -> None:
    assert llm_adapters.protocol.teach(row) == (taught, "It is 5.")
    assert llm_adapters.protocol.ask(row) == asked
    assert taught != asked


@pytest.mark.parametrize(("row", "prompt"), [(PLAIN, ALPACA), (WITH_INPUT, ALPACA_WITH_INPUT)])
def test_the_papers_prompt_is_the_clean_alpaca_template_in_training_and_evaluation(
    row: Row, prompt: str
) -> None:
    assert paper.protocol.teach(row) == (prompt, "It is 5.")
    assert paper.protocol.ask(row) == prompt


@pytest.mark.parametrize(("row", "prompt"), [(PLAIN, ALPACA), (WITH_INPUT, ALPACA_WITH_INPUT)])
def test_hycam_puts_nothing_between_the_response_mark_and_the_output(row: Row, prompt: str) -> None:
    assert hycam.protocol.teach(row) == (prompt.removesuffix("\n"), "It is 5.")
    assert hycam.protocol.ask(row) == prompt.removesuffix("\n")


def test_only_the_papers_protocol_takes_white_space_from_the_ends() -> None:
    row = Row(0, "\n Add. ", " 5\n", "5")
    assert paper.protocol.teach(row) == (ALPACA.replace("Add 2 and 3.", "Add."), "5")
    for protocol in (llm_adapters.protocol, hycam.protocol):
        prompt, output = protocol.teach(row)
        assert "\n Add. \n" in prompt
        assert output == " 5\n"


def test_an_input_of_white_space_is_none_to_the_paper_alone() -> None:
    row = Row(0, "Add.", "5", "5", input=" ")
    assert "### Input" not in paper.protocol.ask(row)
    assert "### Input" in llm_adapters.protocol.ask(row)  # its code asks for truth, and " " is true


def test_braces_of_a_row_are_text() -> None:
    row = Row(0, "Why {instruction}?", "{}", "", input="{input} {0}")
    for protocol in map(protocols.load, protocols.names()):
        assert "Why {instruction}?" in protocol.ask(row)
        assert "{input} {0}" in protocol.ask(row)
        assert protocol.teach(row)[1] == "{}"


# methods.md 7.1, 7.3 and 6; 2 of the same for the papers.
FIGURES = {
    "paper": ("all", 2048, 1, 256, "", False, "llm-adapters"),
    "llm-adapters": ("all", 256, 4, 256, "### Response:", True, "llm-adapters"),
    "hycam": ("all", 1200, 1, 256, "", True, "llm-adapters"),
    "chat": ("answer", 2048, 1, 256, "", False, "strict"),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_protocol_holds_mask_lengths_decoding_and_extractor(name: str) -> None:
    one = protocols.load(name)
    assert one.id == name
    assert (
        one.loss,
        one.max_length,
        one.beams,
        one.max_new_tokens,
        one.stop,
        one.joint,
        one.extractor,
    ) == FIGURES[name]


def test_there_are_four_protocols() -> None:
    assert set(protocols.names()) == set(FIGURES)


def test_an_answer_ends_where_the_next_response_begins() -> None:
    said = "It is 7. ### Response: 12 ### Response: 13"
    assert llm_adapters.protocol.heard(said) == "It is 7. "
    assert llm_adapters.protocol.heard("### Response: 12") == ""
    assert paper.protocol.heard(said) == said


def made(*settings: str, protocol: str = "paper", group: str = "math") -> Settings:
    return make_settings(map(parse_assignment, settings), protocol, group)


def settled(*settings: str, protocol: str = "paper", group: str = "math") -> Protocol:
    return made(*settings, protocol=protocol, group=group).protocol


def test_a_field_that_the_user_sets_makes_another_protocol_named_after_it() -> None:
    one = settled("protocol.loss=answer")
    assert one.id == "paper[loss=answer]"
    assert one == paper.protocol.model_copy(update={"id": one.id, "loss": "answer"})


def test_the_name_does_not_depend_on_the_order_of_the_settings() -> None:
    fields = ["protocol.max_new_tokens=64", "protocol.beams=2"]
    names = {settled(*order).id for order in (fields, fields[::-1])}
    assert names == {"paper[beams=2,max_new_tokens=64]"}


def test_a_setting_that_changes_nothing_makes_no_other_protocol() -> None:
    assert settled("protocol.loss=all", "protocol.max_new_tokens=256") == paper.protocol


def test_a_template_of_the_users_is_named_by_its_hash() -> None:
    names = {settled(f"protocol.prompt=Now answer this: {{instruction}}{end}").id for end in "?!"}
    assert len(names) == 2
    assert all(re.fullmatch(r"paper\[prompt=[0-9a-f]{8}\]", name) for name in names)


def test_a_protocol_without_settings_keeps_its_name() -> None:
    for name in protocols.names():
        assert settled(protocol=name) == protocols.load(name)


def test_commonsense_under_llm_adapters_decodes_32_tokens() -> None:
    # commonsense_evaluate.py, max_new_tokens=32.
    assert settled(protocol="llm-adapters", group="commonsense").max_new_tokens == 32
    assert settled(protocol="llm-adapters").max_new_tokens == 256
    assert settled(group="commonsense").max_new_tokens == 256
    own = settled("protocol.max_new_tokens=9", protocol="llm-adapters", group="commonsense")
    assert own.max_new_tokens == 9


def test_multitask_is_trained_at_1200_tokens_with_a_patience_of_2() -> None:
    # The HyCAM paper's maximum length; early stopping is stated, its patience is our choice.
    multitask, math = made(group="multitask"), made(group="math")
    assert (multitask.protocol.max_length, multitask.recipe.patience) == (1200, 2)
    assert (math.protocol.max_length, math.recipe.patience) == (2048, 0)


def test_what_the_user_sets_counts_for_more_than_what_a_group_sets() -> None:
    settings = ["protocol.max_length=64", "train.patience=0"]
    own = made(*settings, group="multitask")
    assert (own.protocol.max_length, own.recipe.patience) == (64, 0)


@pytest.mark.parametrize(
    ("protocol", "setting", "nearest"),
    [
        ("llm-adapter", "", "Did you mean 'llm-adapters'?"),
        ("papers", "", "Did you mean 'paper'?"),
        ("paper", "protocol.los=answer", "Did you mean 'protocol.loss'?"),
        ("paper", "protocol.max_new_token=3", "Did you mean 'protocol.max_new_tokens'?"),
    ],
)
def test_an_unknown_protocol_or_field_gets_the_nearest_name(
    protocol: str, setting: str, nearest: str
) -> None:
    with pytest.raises(UserError) as error:
        settled(*filter(None, [setting]), protocol=protocol)
    assert nearest in str(error.value)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("protocol.loss=prompt", ["protocol.loss", "'all' or 'answer'", "'prompt'"]),
        ("protocol.beams=0", ["protocol.beams", "greater than or equal to 1", "0"]),
        ("protocol.max_length=8", ["protocol.max_length", "greater than or equal to 16", "8"]),
        ("protocol.strip=perhaps", ["protocol.strip", "'perhaps'"]),
    ],
)
def test_a_wrong_value_of_a_protocol_is_named_with_what_was_expected(
    setting: str, words: list[str]
) -> None:
    with pytest.raises(UserError) as error:
        settled(setting)
    assert [word for word in words if word not in str(error.value)] == []


@pytest.mark.parametrize("field", ["id", "version"])
def test_what_names_a_protocol_cannot_be_set(field: str) -> None:
    with pytest.raises(UserError, match=f"'protocol.{field}' is not a known setting"):
        settled(f"protocol.{field}=3")


@pytest.mark.parametrize(
    "prompt", ["Answer {question}", "Answer {0}", "Answer {", "Answer, please."]
)
def test_a_template_that_no_row_fits_in_is_refused_before_a_run(prompt: str) -> None:
    with pytest.raises(UserError, match=r"protocol\.prompt"):
        settled(f"protocol.prompt={prompt}")


def test_every_extractor_that_a_protocol_names_is_one_of_each_benchmark_that_has_any() -> None:
    for name in plugins.names("tasks"):
        extractors = plugins.benchmark(name).extractors
        assert not extractors or {
            protocols.load(one).extractor for one in protocols.names()
        } <= set(extractors)


def test_a_headline_extractor_that_the_benchmarks_lack_is_refused_with_the_nearest(
    harness: Callable[..., Any], tmp_path: Path
) -> None:
    grid = ("run", "--methods", "lora", "--tasks", "gsm8k", "--set", "protocol.extractor=strct")
    done = harness(tmp_path, *grid, "--dry-run")
    assert done.returncode == 2
    assert "Did you mean 'strict'?" in done.stderr


def test_an_unknown_protocol_is_refused_on_the_command_line(
    harness: Callable[..., Any], tmp_path: Path
) -> None:
    done = harness(tmp_path, "run", "--methods", "lora", "--tasks", "math", "--protocol", "hykam")
    assert done.returncode == 2
    assert "'hykam' is not a known protocol. Did you mean 'hycam'?" in done.stderr
    assert not list(tmp_path.iterdir())
