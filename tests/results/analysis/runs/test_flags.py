"""Flags: one line for each kind, with range and count."""

from collections.abc import Callable, Mapping

from results.analysis.pairwise import compare
from results.analysis.runs.flags import summed_up
from results.analysis.table import tables
from results.record import Run

Make = Callable[..., Run]

SETS = {"boolq": 50, "piqa": 50, "gsm8k": 50, "aqua": 50, "siqa": 50}


def of(make: Make, flags: Mapping[tuple[str, int], tuple[str, ...]]) -> tuple[str, ...]:
    return summed_up(
        tables(
            make(method, seed=seed, correct=SETS, flags=found)
            for (method, seed), found in flags.items()
        )
    )


def test_a_kind_is_one_line_with_the_range_of_its_numbers_and_counts(make: Make) -> None:
    all_sets = tuple(f"{name}: cut at the limit: 100 %" for name in SETS)
    flags = {("a", 1): all_sets, ("a", 2): ("boolq: cut at the limit: 60 %",), ("b", 1): ()}
    assert of(make, flags) == ("cut at the limit: 60 to 100 % on 5 of 5 sets, in 2 of 3 runs (a)",)


def test_few_sets_are_named_and_all_sets_are_not(make: Make) -> None:
    flags = {("a", 1): ("boolq: empty: 3 %", "piqa: empty: 3 %")}
    assert of(make, flags) == ("empty: 3 % on 2 of 5 sets (boolq, piqa), in 1 of 1 runs",)


def test_the_same_answer_is_one_kind_whatever_the_answer(make: Make) -> None:
    same = "always the same answer"
    flags = {("a", 1): (f"boolq: {same}: true (100 %)", f"aqua: {same}: 2 (95 %)")}
    (line,) = of(make, flags)
    assert line.startswith(f"{same}: 95 to 100 % on 2 of 5 sets (aqua, boolq)")


def test_counts_have_ranges_with_separators_and_flags_of_the_training_no_sets(make: Make) -> None:
    flags = {
        ("a", 1): ("gsm8k: 5 of 1319 test rows are in the training set", "3 training rows cut"),
        ("b", 1): ("aqua: 2 of 254 test rows are in the training set", "4 training rows cut"),
    }
    assert of(make, flags) == (
        "2 to 5 of 254 to 1,319 test rows are in the training set on 2 of 5 sets (aqua, gsm8k), "
        "in 2 of 2 runs",
        "3 to 4 training rows cut, in 2 of 2 runs",
    )


def test_a_run_in_two_tables_counts_once(make: Make) -> None:
    found = tables([make(correct=SETS, flags=("boolq: empty: 3 %",))])
    assert summed_up(found * 2) == summed_up(found)


def test_rows_keep_the_flags_of_each_run(make: Make) -> None:
    runs = [make(seed=1, flags=("x",)), make(seed=2)]
    (table,) = tables(runs)
    (row,) = table.blocks[0].rows
    assert row.flags == {runs[0].run_id: ("x",), runs[1].run_id: ()}
    assert row.notes == ()


def test_a_comparison_sums_up_the_flags_of_its_two_methods(make: Make) -> None:
    runs = [
        make(name, seed=seed, flags=(f"gsm8k: {name} 3 %",)) for name in "abc" for seed in (1, 2)
    ]
    (one,) = compare(runs, "a", "b")
    assert one.flags == (
        "a 3 % on 1 of 1 sets, in 2 of 4 runs (a)",
        "b 3 % on 1 of 1 sets, in 2 of 4 runs (b)",
    )


def test_backbones_and_tables_are_named_where_not_all_have_the_flag(make: Make) -> None:
    flagged = make("a", seed=1, flags=("gsm8k: empty: 3 %",))
    runs = [
        *(flagged, make("a", seed=1, backbone="llama")),
        *(make("a", seed=1, backbone=name, setting="b", minute=1) for name in ("tiny", "llama")),
    ]
    found = tables(runs)
    (number,) = (n for n, one in enumerate(found, 1) if one.conditions.setting == "setting-a")
    assert summed_up(found) == (
        f"empty: 3 % on 1 of 1 sets, in 1 of 4 runs (on tiny; table {number}: math)",
    )


def test_a_table_is_not_named_where_all_tables_have_the_flag(make: Make) -> None:
    runs = [make(setting=name, flags=("gsm8k: empty: 3 %",)) for name in "ab"]
    assert summed_up(tables(runs)) == ("empty: 3 % on 1 of 1 sets, in 2 of 2 runs",)
