"""Backbones of one name are told apart, in tables and in the history."""

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from results.analysis.history import history
from results.analysis.runs.backbones import Named, told_apart
from results.analysis.runs.selection import select
from results.analysis.table import tables
from results.record import Run

Make = Callable[..., Run]


def on(make: Make, place: str, revision: str, method: str = "lora", **facts: Any) -> Run:
    spec = {"backbone": {"name": "Llama", "revision": revision}, "train": {"lr": 0.001}}
    series = f"{method} {revision}"
    facts = {"backbone": "Llama", "backbone_place": place, "spec": spec, "series": series} | facts
    return make(method, **facts)


def test_two_backbones_of_one_name_are_two_rows(make: Make) -> None:
    runs = [on(make, "/m/chat/Llama", "sha256:aa"), on(make, "/m/base/Llama", "sha256:bb")]
    (table,) = tables(runs)
    assert [block.backbone for block in table.blocks] == ["base/Llama", "chat/Llama"]
    assert [block.rows[0].notes for block in table.blocks] == [(), ()]
    assert [entry.backbone for entry in history(runs)] == ["chat/Llama", "base/Llama"]
    assert select(runs, [run.kind for run in runs], backbones=["base/Llama"]) == runs[1:]


def test_one_backbone_in_two_places_is_one_row(make: Make) -> None:
    runs = [
        on(make, "/old/Llama", "sha256:aa", seed=1),
        on(make, "/new/Llama", "sha256:aa", seed=2),
    ]
    (table,) = tables(runs)
    (block,) = table.blocks
    assert (block.backbone, block.rows[0].seeds) == ("Llama", (1, 2))


def test_a_name_that_the_user_gave_is_shown_as_the_newest_run_has_it(make: Make) -> None:
    runs = [
        on(make, "/m/Llama", "sha256:aa", seed=1),
        on(make, "/m/Llama", "sha256:aa", seed=2, backbone="mine", minute=1),
    ]
    (table,) = tables(runs)
    assert [block.backbone for block in table.blocks] == ["mine"]


def test_the_revision_tells_apart_what_lay_in_one_folder(make: Make) -> None:
    runs = [on(make, "/m/Llama", f"sha256:{one * 10}") for one in "ab"]
    (table,) = tables(runs)
    assert [block.backbone for block in table.blocks] == ["Llama@aaaaaaa", "Llama@bbbbbbb"]


PLACES = st.lists(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map("/".join),
    min_size=1,
    max_size=6,
    unique=True,
)


@given(places=PLACES)
def test_no_two_backbones_have_one_name(places: list[str]) -> None:
    named = {
        place: Named(place.rpartition("/")[2], f"/models/{place}", f"sha256:{number:08}")
        for number, place in enumerate(places)
    }
    found = told_apart(named)
    assert len(set(found.values())) == len(places)
    assert all(f"/models/{place}".endswith(name) for place, name in found.items())
