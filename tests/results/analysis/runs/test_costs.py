"""What runs cost, as values and in columns."""

import csv
import json
from collections.abc import Callable
from io import StringIO

import pytest

from results.analysis.history import history
from results.analysis.runs.costs import Costs, costs
from results.analysis.table import tables
from results.record import Run
from results.reports import history as history_report
from results.reports.formats import render
from results.reports.sheets.printing import Printing

Make = Callable[..., Run]


def test_a_row_costs_the_mean_over_its_seeds(make: Make) -> None:
    phases = [{"train": 6.0, "generate": 3.0, "likelihood": 1.0}, {"train": 8.0, "generate": 2.0}]
    runs = [make(seed=seed, seconds=spent) for seed, spent in enumerate(phases)]
    # By hand: (6 + 8) / 2 and (3 + 1 + 2) / 2.
    assert costs(runs) == Costs(7.0, 3.0, 1234.5, 4096.0, 20.0)


def test_a_run_without_training_time_is_left_out_of_the_mean(make: Make) -> None:
    runs = [make(seed=1, seconds={"generate": 3.0}), make(seed=2, seconds={"train": 8.0})]
    assert costs(runs).training_seconds == 8.0
    assert costs(runs[:1]).training_seconds is None


def test_the_bare_backbone_has_no_speed_of_training(make: Make) -> None:
    assert costs([make(train_tokens_per_second=0.0)]).tokens_per_second is None


def test_a_table_shows_costs_on_request(make: Make) -> None:
    found = tables([make()])
    header, _, line = [
        [cell.strip() for cell in line.split("|")]
        for line in render(found, "markdown", Printing(costs=True, characters=None)).splitlines()
        if line.startswith("|")
    ]
    assert header[-6:-1] == ["training", "evaluation", "tokens/s", "peak memory", "adapter"]
    assert line[-6:-1] == ["6.0 s", "3.0 s", "1,234", "4.0 KiB", "20 B"]
    assert "peak memory" not in render(found, "markdown")


def test_csv_and_json_always_hold_costs_and_run_ids(make: Make) -> None:
    runs = [make(seed=1), make(seed=2)]
    line = next(csv.DictReader(StringIO(render(tables(runs), "csv"))))
    assert (float(line["training_seconds"]), float(line["peak_memory_bytes"])) == (6.0, 4096.0)
    assert line["runs"].split() == [run.run_id for run in runs]
    (table,) = json.loads(render(tables(runs), "json"))
    row = table["blocks"][0]["rows"][0]
    assert row["costs"]["evaluation_seconds"] == 3.0
    assert row["cells"][0]["runs"] == [run.run_id for run in runs]


def test_the_history_shows_costs_on_request(make: Make) -> None:
    entries = history([make()])
    assert "4.0 KiB" in history_report.markdown(entries, costs=True)
    assert "4.0 KiB" not in history_report.markdown(entries)


@pytest.mark.parametrize("fold", [None, 0])
def test_the_runs_of_a_cell_are_those_that_have_its_number(make: Make, fold: int | None) -> None:
    both = make(seed=1, correct={"gsm8k": 50, "aqua": 50}, fold=fold)
    lacking = make(seed=2, correct={"gsm8k": 50}, fold=fold)
    (table,) = tables([both, lacking])
    runs = {cell.column: cell.runs for cell in table.blocks[0].rows[0].cells}
    assert runs["gsm8k"] == (both.run_id, lacking.run_id)
    assert runs["aqua"] == runs["micro"] == (both.run_id,)
    text = render([table], "markdown", Printing(runs=True, characters=None))
    assert f"gsm8k              | {both.run_id} {lacking.run_id}" in text
