"""How an unknown name is reported."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.errors import nearest, unknown


def test_the_suggestion_ignores_case_and_keeps_the_known_spelling() -> None:
    assert "Did you mean 'LoRA'?" in unknown("method", "lora", ["DyPAM", "LoRA"])
    assert "Did you mean 'gsm8k'?" in unknown("task", "GSM8K", ["gsm8k"])


def test_a_name_far_from_all_others_has_no_suggestion() -> None:
    assert unknown("format", "pdf", ["csv", "latex"]).splitlines() == [
        "'pdf' is not a known format.",
        "  Known: csv, latex",
    ]


def test_what_to_do_comes_last_and_no_known_name_is_none() -> None:
    text = unknown("method", "lora", [], "To add one, see methods/README.md")
    assert text.splitlines()[1:] == ["  Known: none", "  To add one, see methods/README.md"]


SETTINGS = ["generate.batch_size", "train.batch_size", "train.epochs", "train.lr"]
METHODS = ["adalora", "cascade", "dora", "dypam", "ia3", "lora", "rosa", "rslora", "smoa", "vera"]
LORA = ["alpha_pattern", "lora_alpha", "lora_dropout", "r", "rank_pattern"]


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("LoRA", ["dora", "lora"], "lora"),
        ("lr", SETTINGS, "train.lr"),
        ("LR", SETTINGS, "train.lr"),
        ("train.learning_rate", SETTINGS, "train.lr"),
        ("learning_rate", SETTINGS, "train.lr"),
        ("batch_size", SETTINGS, "train.batch_size"),
        ("generate.batchsize", SETTINGS, "generate.batch_size"),
        ("num_train_epochs", SETTINGS, "train.epochs"),
        ("rank", LORA, "r"),
        ("alpha", LORA, "lora_alpha"),
        ("rank", ["rank", "r"], "rank"),
        ("rank_patern", LORA, "rank_pattern"),
        ("zzz", LORA, None),
        ("lroa", ["dora", "lora", "rosa"], "lora"),
        ("rsoa", ["dora", "lora", "rosa"], "rosa"),
        ("train.rl", SETTINGS, "train.lr"),
        ("swamp", ["mawps", "svamp"], "svamp"),
    ],
)
def test_case_section_and_synonyms_of_a_name_do_not_matter(
    name: str, known: list[str], meant: str | None
) -> None:
    assert nearest(name, known) == meant


@given(st.sampled_from(METHODS), st.data())
def test_two_letters_that_changed_places_suggest_the_name_itself(
    name: str, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(name) - 2))
    typed = name[:place] + name[place + 1] + name[place] + name[place + 2 :]
    assert nearest(typed, METHODS) == name


def test_a_name_of_another_kind_is_suggested_but_not_listed() -> None:
    text = unknown("field of lora", "lr", LORA, also=SETTINGS)
    assert "Did you mean 'train.lr'?" in text
    assert "train.epochs" not in text


def test_a_name_of_a_stranger_may_be_long() -> None:
    # Each swapped pair of letters would be a text as long: 10 ** 12 letters in all.
    assert nearest("a" * 10**6, ["lora", "rosa"]) is None
