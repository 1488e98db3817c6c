"""Pages and API of a server over a store made by hand."""

import re
import shutil
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from results import leaderboard
from results.leaderboard.html.render import readable
from results.record import Run
from results.store import Store
from tests.results.leaderboard.shown import read

Stored = tuple[str, dict[str, Run]]
Client = Callable[..., TestClient]


@pytest.fixture
def page(store: Stored, client: Client) -> Callable[[str], str]:
    served = client(store[0])

    def get(path: str) -> str:
        answer = served.get(path)
        assert answer.status_code == 200, answer.text
        return answer.text

    return get


def test_the_ranking_has_means_intervals_seeds_and_costs(page: Callable[[str], str]) -> None:
    text = " ".join(read(page("/")).text.split())
    # Means of 51, 52, 53 of 100; t(0.975, 2) = 4.3027 and SD 1 give 52 +- 4.3027 / sqrt(3).
    assert "52.00 49.52\N{EN DASH}54.48" in text
    assert "Param (%)" in text
    assert "0.5" in text  # 5 of 1,000 parameters
    assert "4.0 KiB" in text


def test_page_and_api_give_the_same_values(page: Callable[[str], str], api: Any) -> None:
    cells = [
        cell
        for table in api("/api/rank")["tables"]
        for block in table["blocks"]
        for row in block["rows"]
        for cell in row["cells"]
    ]
    shown = re.findall(r'class="number[^"]*">([\d.]+)', page("/"))
    assert len(shown) == 12
    assert shown == [cell["text"] for cell in cells if cell["value"] is not None]


@pytest.fixture
def api(store: Stored, client: Client) -> Callable[[str], Any]:
    served = client(store[0])
    return lambda path: served.get(path).json()


def methods(values: Any) -> list[str]:
    return [row["method"] for row in values["tables"][0]["blocks"][0]["rows"]]


def test_a_view_sorts_by_what_its_address_says(api: Callable[[str], Any], hostile: str) -> None:
    assert methods(api("/api/rank")) == ["dypam", "lora", hostile, "vera"]
    assert methods(api("/api/rank?sort=gsm8k&reverse=1")) == [hostile, "lora", "dypam", "vera"]
    assert methods(api("/api/rank?sort=method")) == [hostile, "dypam", "lora", "vera"]


def test_hiding_rows_and_columns_changes_no_rank(api: Callable[[str], Any]) -> None:
    every = api("/api/rank")["tables"][0]["blocks"][0]
    some = api("/api/rank?search=LOR&columns=aqua")["tables"][0]
    (row,) = some["blocks"][0]["rows"]
    assert some["blocks"][0]["of"] == 4
    assert some["columns"] == ["aqua"]
    whole = next(one for one in every["rows"] if one["method"] == "lora")
    assert row["cells"] == [cell for cell in whole["cells"] if cell["column"] == "aqua"]
    assert row["ranks"] == whole["ranks"] == [2, 2]


def test_the_top_band_and_the_tests_stand_in_a_cell(api: Callable[[str], Any]) -> None:
    best, second, *_ = api("/api/rank")["tables"][0]["blocks"][0]["rows"]
    assert best["top_band"]
    assert not second["top_band"]
    gsm8k = next(cell for cell in best["cells"] if cell["column"] == "gsm8k")
    assert (gsm8k["seeds"], gsm8k["rows"], gsm8k["over"]) == (3, 100, "seeds")
    assert gsm8k["tested"]["against"] == "lora"
    assert gsm8k["tested"]["difference"] == "+30.00"
    assert gsm8k["tested"]["adjusted"] >= gsm8k["tested"]["p"]
    assert gsm8k["tested"]["detectable"]


def test_a_view_of_one_seed_says_that_it_ranks_nothing(
    tmp_path: Path, make: Callable[..., Run], client: Client
) -> None:
    store = Store(tmp_path / "one.db")
    store.add(make("lora", 1))
    store.add(make("dypam", 1, minute=1))
    told = "One seed: this view ranks nothing beyond item noise"
    assert told in client(str(tmp_path / "one.db")).get("/").text


def test_a_run_shows_spec_scores_curve_log_and_the_command_that_reruns_it(
    store: Stored, page: Callable[[str], str]
) -> None:
    run = store[1]["lora 3"]
    text = read(page(f"/run/{run.run_id[:10]}")).text
    for shown in (
        "53.00 %",
        "method.fields.r",
        "40 of 100, evenly chosen",
        "nan",
        "End of the log",
    ):
        assert shown in text
    assert f"harness rerun {run.run_id}" in text


def test_a_run_whose_folder_is_gone_says_so_and_keeps_its_scores(
    store: Stored, page: Callable[[str], str]
) -> None:
    text = read(page(f"/run/{store[1]['lora 1'].run_id}")).text
    assert "Its run folder is not where the store says" in text
    assert "51.00 %" in text


@pytest.mark.parametrize(
    ("kind", "rows"), [("", 4), ("right", 1), ("wrong", 3), ("unparsed", 1), ("cut", 1)]
)
def test_items_are_filtered(store: Stored, api: Any, page: Any, kind: str, rows: int) -> None:
    path = f"/run/{store[1]['lora 3'].run_id}/items/gsm8k?kind={kind}"
    path = path if kind else path.partition("?")[0]
    assert len(api(f"/api{path}")["items"]) == rows
    assert page(path).count("<article") == rows


def test_hostile_names_and_answers_are_shown_as_text(
    store: Stored, page: Callable[[str], str], hostile: str
) -> None:
    items = f"/run/{store[1]['lora 3'].run_id}/items/gsm8k"
    for path in ("/", "/runs", f"/run/{store[1][f'{hostile} 1'].run_id}", items):
        found = read(page(path))
        assert readable(hostile) in found.text
        assert not {name for name in found.names if name.startswith("on")} | {"style"} & found.names
        assert page(path).count("<script") == page(path).count('<script src="/static/')
    assert "Die Größe ist 7." in read(page(items)).text
    assert "答案是\u30008。" in read(page(items)).text
    assert escape("<script>alert(1)") in page(items)


def test_a_method_that_failed_has_a_row_that_says_so(api: Callable[[str], Any]) -> None:
    *_, row = api("/api/rank")["tables"][0]["blocks"][0]["rows"]
    assert row["method"] == "vera"
    assert row["cells"][0]["text"] == "failed"
    assert {badge["text"] for badge in row["badges"]} == {"1 seed failed", "2 seeds not run"}


def test_degenerate_answers_have_a_badge(api: Callable[[str], Any], hostile: str) -> None:
    rows = api("/api/rank")["tables"][0]["blocks"][0]["rows"]
    badges = {row["method"]: [badge["kind"] for badge in row["badges"]] for row in rows}
    assert badges[hostile] == ["flags"]
    assert badges["lora"] == []


def test_failed_runs_say_why(page: Callable[[str], str]) -> None:
    text = read(page("/runs?status=failed")).text
    assert "OSError: …/tiny on …: no space" in text
    assert "dypam" not in text


SECRETS = ("/home", "quentin", "node7")


def test_no_page_and_no_answer_names_a_folder_a_host_or_a_user(
    store: Stored, client: Client
) -> None:
    served, ids = client(store[0]), [store[1][name].run_id for name in ("lora 3", "failed")]
    paths = ["/", "/runs", *(f"/run/{one}" for one in ids), f"/run/{ids[0]}/items/gsm8k"]
    paths += [f"/charts{chart}" for chart in ("/trade-off", "/scale", "/training")]
    paths += ["/compare?first=lora&second=dypam", f"/compare/runs?first={ids[0]}", "/live"]
    paths += ["/run/none", "/run/none/items/x", "/compare/runs?first=none"]
    paths += ["/api/rank", *(f"/api{path}" for path in paths if path != "/"), "/?group=none"]
    for path in paths:
        text = served.get(path).text
        assert [secret for secret in SECRETS if secret in text] == [], path


def test_the_address_of_a_database_server_is_not_shown(client: Client) -> None:
    place = "postgresql+psycopg://quentin:secret@127.0.0.1:1/runs"
    answer, private = (client(place, private=one).get("/") for one in (False, True))
    assert answer.status_code == private.status_code == 503
    assert "see `harness history`" in answer.text
    assert [one for one in ("quentin", "secret", "127.0.0.1") if one in answer.text] == []
    assert "quentin" in private.text
    assert "secret" not in private.text


def test_who_asks_for_it_is_shown_folders_and_hosts(store: Stored, client: Client) -> None:
    text = client(store[0], private=True).get(f"/run/{store[1]['lora 3'].run_id}").text
    assert "/home/quentin/models/tiny" in text
    assert "node7" in text
    assert store[1]["lora 3"].folder in text


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:8000", "", "[::2]"])
def test_a_foreign_host_is_refused(store: Stored, client: Client, host: str) -> None:
    assert client(store[0]).get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8000", "[::1]:8000"])
def test_the_own_host_is_answered(store: Stored, client: Client, host: str) -> None:
    assert client(store[0]).get("/", headers={"host": host}).status_code == 200


def test_a_page_may_run_no_inline_script_and_ask_no_other_host(
    store: Stored, client: Client
) -> None:
    policy = client(store[0]).get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


@pytest.mark.parametrize(("path", "status"), [("/", 200), ("/api/rank", 200), ("/nothing", 404)])
def test_head_is_answered_as_get(store: Stored, client: Client, path: str, status: int) -> None:
    asked, got = (getattr(client(store[0]), verb)(path) for verb in ("head", "get"))
    assert asked.status_code == got.status_code == status
    assert asked.headers == got.headers


def test_an_empty_store_says_so(tmp_path: Path, client: Client) -> None:
    Store(tmp_path / "empty.db")
    answer = client(str(tmp_path / "empty.db")).get("/")
    assert answer.status_code == 200
    assert "The store holds no runs." in answer.text


def test_a_store_that_vanishes_while_served_says_so_and_is_shown_when_it_is_back(
    tmp_path: Path, store: Stored, client: Client
) -> None:
    place = tmp_path / "harness.db"
    shutil.copy(store[0], place)
    served = client(str(place))
    assert served.get("/").status_code == 200
    place.unlink()
    assert served.get("/").status_code == served.get("/api/rank").status_code == 503
    assert "There is no store at …/harness.db" in served.get("/").text
    shutil.copy(store[0], place)
    assert served.get("/").status_code == 200


def test_a_store_of_an_older_schema_says_what_to_do(
    tmp_path: Path, store: Stored, client: Client
) -> None:
    place = tmp_path / "old.db"
    shutil.copy(store[0], place)
    with sa.create_engine(f"sqlite:///{place}").begin() as connection:
        connection.execute(sa.text("UPDATE harness_schema SET version_num = '001'"))
    answer = client(str(place)).get("/")
    assert answer.status_code == 503
    assert "brings it up to date" in answer.text


@pytest.mark.parametrize(
    "path", ["/?group=mth", "/?recipes=best", "/run/zz", "/run/zz/items/gsm8k", "/nothing"]
)
def test_what_is_not_there_is_a_page_that_says_so(store: Stored, client: Client, path: str) -> None:
    answer = client(store[0]).get(path)
    assert answer.status_code == 404
    assert "<h1>" in answer.text


def test_the_api_describes_every_path_and_its_page_names_them(
    page: Callable[[str], str], api: Callable[[str], Any]
) -> None:
    paths = api("/api/openapi.json")["paths"]
    assert len(paths) == 11
    text = read(page("/api")).text
    told = (Path(leaderboard.__file__).parent / "README.md").read_text(encoding="utf-8")
    assert [path for path in paths if path not in text or f"`{path}`" not in told] == []
