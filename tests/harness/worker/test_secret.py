"""Which values of the environment no message tells."""

import pytest

from harness.worker.secret import hidden


@pytest.mark.parametrize(
    "name",
    [
        *("HF_TOKEN", "WANDB_API_KEY", "AWS_SECRET_ACCESS_KEY", "db_password", "PGPASS"),
        *("WANDB_CRED", "HTTP_AUTH", "DATABASE_URL", "MLFLOW_TRACKING_URI", "SENTRY_DSN"),
    ],
)
def test_the_name_of_a_variable_stands_for_its_value(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "http://ann:password@host")
    assert hidden("no answer of http://ann:password@host/api") == f"no answer of ${name}/api"


def test_words_that_are_no_secret_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    monkeypatch.setenv("MAX_TOKENS", "4096")
    monkeypatch.setenv("EMPTY_TOKEN", "")
    monkeypatch.setenv("HOME_OF_RUNS", "the-runs")
    text = "verify=false after 4096 tokens in the-runs"
    assert hidden(text) == text


def test_a_secret_that_begins_another_shows_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN", "s3cret")
    monkeypatch.setenv("B_TOKEN", "s3cret-and-more")
    assert hidden("told s3cret-and-more, s3cret") == "told $B_TOKEN, $A_TOKEN"
