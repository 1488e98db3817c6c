"""The API is asked for what its own description allows, and for what it does not."""

from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.specs.openapi.checks import negative_data_rejection

from results.leaderboard.public import Public
from results.leaderboard.server.api import SCHEMA
from results.leaderboard.server.app import app
from results.leaderboard.source import Source
from results.record import Run, Score
from results.store import Store

pytestmark = pytest.mark.parts

FUZZED = settings(
    max_examples=60,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
DESCRIBED = app(Source("", lambda *_: [], list, Public())).openapi()["paths"]
VALID, INVALID = schemathesis.GenerationMode


@pytest.fixture(scope="module")
def run(make: Callable[..., Run], store: tuple[str, dict[str, Run]]) -> Run:
    """Add to the store scores that are no numbers."""
    place, runs = store
    scores = tuple(
        Score(name, metric, "", True, value, 10)
        for name, metric, value in (
            ("dolly", "perplexity", float("inf")),
            ("dolly", "bleu", float("nan")),
            ("alpaca", "perplexity", float("-inf")),
        )
    )
    for seed in (1, 2):
        Store(place).add(make("prefix", seed, group="multitask", scores=scores))
    return runs["lora 3"]


@pytest.fixture(scope="module")
def described(
    source: Callable[..., Source], store: tuple[str, dict[str, Run]], run: Run
) -> schemathesis.BaseSchema:
    made = app(source(store[0]), ("localhost", "testserver"))
    return schemathesis.openapi.from_asgi(SCHEMA, made)


def fuzz(operation: Any, mode: schemathesis.GenerationMode, **found: Any) -> None:
    """Ask for what is of a mode; an answer has a status, a type and a schema that are described."""

    @FUZZED
    @given(case=operation.as_strategy(mode, **found))
    def answers(case: Any) -> None:
        # A form sends fields that were left empty: they are not refused, but left out.
        case.call_and_validate(excluded_checks=[negative_data_rejection])

    answers()


@pytest.mark.parametrize("path", DESCRIBED)
def test_every_answer_is_as_described(described: Any, path: str) -> None:
    fuzz(described[path]["GET"], VALID)


@pytest.mark.parametrize("path", [path for path in DESCRIBED if "{" in path])
def test_every_answer_of_a_run_is_as_described(described: Any, run: Run, path: str) -> None:
    known = {"run": run.run_id, "benchmark": "gsm8k"}
    fuzz(described[path]["GET"], VALID, path_parameters=known)


TAKES_QUERY = [
    path
    for path, methods in DESCRIBED.items()
    if any(one["in"] == "query" for one in methods["get"].get("parameters", ()))
]


@pytest.mark.parametrize("path", TAKES_QUERY)
def test_what_is_not_described_is_answered_as_described(described: Any, path: str) -> None:
    fuzz(described[path]["GET"], INVALID)
