"""How an unknown name is reported."""

from results.errors import unknown


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
