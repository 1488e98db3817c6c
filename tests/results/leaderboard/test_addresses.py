"""Wrong addresses: a page, or JSON, that says what was wrong and leads to what there is."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from starlette.testclient import TestClient

from results.record import Run

WRONG = {
    "/?sort=gsm9k": (
        "'gsm9k' is not a known column to sort by. Did you mean 'gsm8k'?",
        "sort=gsm8k",
    ),
    "/?columns=gsm8k&columns=aqau": ("Did you mean 'aqua'?", "columns=gsm8k&columns=aqua"),
    "/?methods=dpyam": ("'dpyam' is not a known method. Did you mean 'dypam'?", "methods=dypam"),
    "/?protocol=papr%2F1": ("Did you mean 'paper/1'?", "protocol=paper%2F1"),
    "/?era=zzz": ("'zzz' is not a known environment of these tables.", "group=math"),
    "/?published=dipam": ("is not a known paper with numbers in these columns.", "group=math"),
    "/?group=mth": ("'mth' is not a known group. Did you mean 'math'?", "group=math"),
    "/?backbones=tniy": ("'tniy' is not a known backbone of this group.", "backbones=tiny"),
    "/?recipes=share": ("Did you mean 'shared'?", ""),
    "/runs?status=faild": (
        "'faild' is not a known status. Did you mean 'failed'?",
        "status=failed",
    ),
    "/runs?page=0&status=failed": ("page=0: Input should be greater", "status=failed"),
    "/runs?page=two": ("page=two: Input should be a valid integer", "/runs"),
    "/rnus": ("'/rnus' is not a known page. Did you mean '/runs'?", "/runs"),
}


@pytest.mark.parametrize("path", WRONG)
def test_a_wrong_address_says_what_was_wrong_and_leads_to_what_there_is(
    store: tuple[str, dict[str, Run]], client: Callable[..., TestClient], path: str
) -> None:
    served, (told, query) = client(store[0]), WRONG[path]
    answer = served.get(path)
    assert answer.status_code == (400 if path.startswith("/runs?") else 404)
    assert told in unescape(answer.text)
    assert "text/html" in answer.headers["content-type"]
    link = unescape(re.findall(r'<p><a href="([^"]*)"', answer.text)[0])
    assert query in link
    assert served.get(link).status_code == 200
    as_json = served.get(f"/api/rank{path[1:]}" if path.startswith("/?") else f"/api{path}")
    assert as_json.status_code == answer.status_code
    assert told.replace("'/", "'/api/") in as_json.json()["detail"]


def test_an_unknown_name_of_a_query_is_ignored(
    store: tuple[str, dict[str, Run]], client: Callable[..., TestClient]
) -> None:
    assert client(store[0]).get("/?utm_source=mail").status_code == 200


def test_a_kind_of_items_that_there_is_not_leads_to_the_nearest(
    store: tuple[str, dict[str, Run]], client: Callable[..., TestClient]
) -> None:
    served, path = client(store[0]), f"/run/{store[1]['lora 3'].run_id}/items/gsm8k"
    answer = served.get(f"{path}?kind=rong")
    assert answer.status_code == 400
    assert "'rong' is not a known kind. Did you mean 'wrong'?" in unescape(answer.text)
    assert f'<p><a href="{path}?kind=wrong">' in answer.text
