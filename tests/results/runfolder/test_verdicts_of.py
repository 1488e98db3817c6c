"""Packed verdicts say of every row of a run folder what its verdict file says."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from results.record import Verdicts
from results.runfolder.folder import RunFolder
from results.runfolder.record_of import folders
from results.runfolder.values import Generation, Result, Verdict
from results.runfolder.verdicts_of import verdicts_of

FORMAT_1 = Path(__file__).parent / "format_1"

Write = Callable[..., Verdicts]


@pytest.fixture(scope="session")
def written(create: Callable[..., RunFolder], result: Callable[..., Result]) -> Write:
    """Write a folder whose headline extractor found `right`, the other one the opposite."""

    def write(
        right: Sequence[bool],
        prompts: Sequence[str] = (),
        ids: Sequence[int] = (),
        data: str = "ab",
    ) -> Verdicts:
        folder = create()
        folder.create(folder.head(), {"tests": {"gsm8k": {"sha256": data}}}, {})
        rows = list(zip(ids or range(len(right)), right, strict=True))
        folder.write_verdicts("gsm8k", [verdict(place, one) for place, one in reversed(rows)])
        if prompts:
            folder.write_generations("gsm8k", map(generation, range(len(right)), prompts))
        folder.write_result(result())
        (found,) = verdicts_of(folder)
        return found

    return write


def verdict(place: int, right: bool) -> Verdict:
    return Verdict(id=place, extracted={}, correct={"strict": not right, "llm-adapters": right})


def generation(place: int, prompt: str) -> Generation:
    return Generation(id=place, prompt=prompt, ended=True, long=False, text="")


RIGHT = st.lists(st.booleans(), min_size=1, max_size=40)


@given(RIGHT)
@settings(max_examples=25)  # each example writes a folder
def test_numpy_unpacks_what_the_headline_extractor_found_in_the_order_of_the_rows(
    written: Write, right: list[bool]
) -> None:
    found = written(right)
    assert (found.benchmark, found.n) == ("gsm8k", len(right))
    assert found.right == np.packbits(right).tobytes()


def test_rows_are_the_same_only_in_the_same_data_and_with_the_same_ids(written: Write) -> None:
    one = written([True, False])
    assert written([False, False]).rows == one.rows
    others = {
        written([True, False], data="cd").rows,
        written([True, False], ids=[0, 2]).rows,
        written([True, False, False]).rows,
    }
    assert len(others | {one.rows}) == 4


@pytest.mark.parametrize(
    ("prompts", "clusters"),
    [
        (["a", "b", "a", "c", "b"], (0, 1, 0, 3, 1)),
        (["a", "b", "c", "d", "e"], None),
        ([], None),
        (["", "", "", "", ""], None),
    ],
    ids=["two repeat", "none repeats", "no generations", "no prompts kept"],
)
def test_rows_of_one_prompt_are_one_cluster(
    written: Write, prompts: list[str], clusters: tuple[int, ...] | None
) -> None:
    assert written([True] * 5, prompts).clusters == clusters


def test_the_packed_verdicts_have_the_accuracies_of_the_run() -> None:
    for folder in folders(FORMAT_1):
        result = folder.result()
        accuracies = {
            score.benchmark: score.value
            for score in (result.scores if result else ())
            if score.headline and score.metric == "accuracy"
        }
        shares = {one.benchmark: share(one) for one in verdicts_of(folder)}
        assert shares == pytest.approx(accuracies)


def share(one: Verdicts) -> float:
    return int.from_bytes(one.right).bit_count() / one.n


def test_a_run_that_is_not_judged_or_not_finished_has_none(
    create: Callable[..., RunFolder], result: Callable[..., Result]
) -> None:
    folder = create()
    assert verdicts_of(folder) == ()
    folder.write_result(result())
    assert verdicts_of(folder) == ()
