"""Score against the size of the backbone, on runs made by hand."""

from collections.abc import Callable
from pathlib import Path

import pytest

from results.leaderboard.charts import pictures
from results.leaderboard.charts.drawings import scale
from results.leaderboard.source import Opened, Source
from results.leaderboard.values.charted.scale import ScalePage, scale_page
from results.leaderboard.view import Axes, View
from results.record import Run
from results.store import Store

SIZES = {"Qwen3-4B": 4_000_000_000, "Qwen3-0.6B": 600_000_000}


@pytest.fixture
def page(
    tmp_path: Path, source: Callable[..., Source], make: Callable[..., Run]
) -> Callable[..., ScalePage]:
    def of(backbones: dict[str, int], view: View | None = None) -> ScalePage:
        store = Store(str(tmp_path / "harness.db"))
        for number, (backbone, size) in enumerate(backbones.items()):
            for added, method in enumerate(("base", "lora", "dora")):
                if (method, backbone) == ("dora", "Qwen3-4B"):
                    continue
                store.add(
                    make(
                        method,
                        1,
                        {"gsm8k": 40 + 10 * (size > 10**9) + added},
                        minute=number,
                        backbone=backbone,
                        trainable_parameters=1000 * added,
                        total_parameters=size + 1000 * added,
                    )
                )
        opened: Opened = source(str(tmp_path / "harness.db")).open()
        return scale_page(opened, view or View(), Axes())

    return of


def test_a_line_goes_from_the_smallest_backbone_to_the_largest(
    page: Callable[..., ScalePage],
) -> None:
    (chart,) = page(SIZES).charts
    assert [(one.backbone, one.parameters, one.text) for one in chart.sizes] == [
        ("Qwen3-0.6B", 600_000_000, "600M"),
        ("Qwen3-4B", 4_000_000_000, "4B"),
    ]
    lines = {line.method: line for line in chart.lines}
    assert [point.score.text for point in lines["lora"].points] == ["41.00", "51.00"]
    assert not lines["base"].trained


def test_a_method_that_lacks_a_backbone_is_a_point_and_says_so(
    page: Callable[..., ScalePage],
) -> None:
    (chart,) = page(SIZES).charts
    dora = next(line for line in chart.lines if line.method == "dora")
    assert [point.backbone for point in dora.points] == ["Qwen3-0.6B"]
    assert [(one.name, one.why) for one in dora.missing] == [("Qwen3-4B", "no run")]
    assert [line.method for line in chart.lines if line.best_at_largest] == ["lora"]


def test_lines_join_no_two_families(page: Callable[..., ScalePage]) -> None:
    sizes = {"Qwen3-8B": 8 * 10**9, "Llama-3.2-3B": 3 * 10**9, "Qwen3-0.6B": 6 * 10**8}
    picture = pictures.scale(page(sizes).charts[0])
    assert picture
    lora = [line for line in picture.lines if line.ys[-1] == 51.0]
    assert [line.xs for line in lora] == [(6e8, 8e9), (3e9,)]
    assert [line.label for line in lora] == ["lora", ""]


def test_one_backbone_says_what_is_missing(page: Callable[..., ScalePage]) -> None:
    (chart,) = page({"Qwen3-0.6B": 600_000_000}).charts
    assert chart.notes == (
        "Qwen3-0.6B alone has runs that may be compared here: "
        "a scale curve needs two backbones or more.",
    )


def test_a_view_without_backbones_is_of_all_of_its_group(page: Callable[..., ScalePage]) -> None:
    assert len(page(SIZES).choices.view.backbones) == 2
    (chart,) = page(SIZES, View(backbones=("Qwen3-4B",))).charts
    assert [one.backbone for one in chart.sizes] == ["Qwen3-4B"]


def test_a_drawing_has_all_points_and_names_its_backbones_and_lines(
    page: Callable[..., ScalePage],
) -> None:
    (chart,) = page(SIZES).charts
    drawn = scale(chart)
    assert drawn.count('class="point"') == sum(len(line.points) for line in chart.lines) == 5
    for text in ("Qwen3-0.6B, 600M", "Qwen3-4B, 4B", "base", "lora", "dora"):
        assert f">{text}</text>" in drawn
    assert scale(page({"Qwen3-0.6B": 600_000_000}, View(backbones=("Qwen3-0.6B",))).charts[0]) == ""
