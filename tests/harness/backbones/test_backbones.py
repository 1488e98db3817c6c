"""Finding language models; the hub is a server of our own that replays recorded replies."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha1, sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from harness.backbones import fetch, locate
from harness.backbones.content import blob_hash, named_by_content
from harness.errors import UserError

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FILES = {
    "config.json": b"{}",
    "tokenizer.json": b"{}",
    "model.safetensors": b"weights",
    "pytorch_model.bin": b"pickle",
    "modeling_own.py": b"code",
}
UNREACHABLE = "http://127.0.0.1:9"  # the discard port, where nobody listens

LOCATE = """
import json, sys
from harness import backbones
from harness.errors import UserError
for name in sys.argv[1:]:
    try:
        found = backbones.locate(name)
        print(json.dumps([found.backbone.name, found.backbone.revision, found.place]))
    except UserError as error:
        print(json.dumps(str(error)))
"""
FETCH = """
import sys
from harness import backbones
folder = backbones.fetch(backbones.locate(sys.argv[1]))
print(*sorted(path.name for path in folder.iterdir()))
"""


def etag(content: bytes) -> str:
    return sha1(content).hexdigest()


@dataclass
class Hub:
    """A server with the repositories owner/model (whole) and owner/pickled (no safetensors)."""

    address: str = ""
    asked: list[str] = field(default_factory=list)

    def reply(self, path: str) -> tuple[int, dict[str, str], bytes]:
        if "/owner/" in path:  # the library also asks for things of its own
            self.asked.append(path)
        for repository, files in (("owner/model", set(FILES)), ("owner/pickled", {"config.json"})):
            for revision in ("main", "v1", COMMIT):
                if path == f"/api/models/{repository}/revision/{revision}":
                    siblings = [{"rfilename": name} for name in sorted(files)]
                    info = {"id": repository, "sha": COMMIT, "siblings": siblings}
                    return 200, {}, json.dumps(info).encode()
        if path == f"/api/models/owner/model/tree/{COMMIT}":
            tree = [
                {"type": "file", "path": name, "size": len(content), "oid": etag(content)}
                for name, content in FILES.items()
            ]
            return 200, {}, json.dumps(tree).encode()
        if path.startswith(f"/owner/model/resolve/{COMMIT}/"):
            content = FILES[path.rpartition("/")[2]]
            return 200, {"ETag": f'"{etag(content)}"', "X-Repo-Commit": COMMIT}, content
        if path.startswith("/api/models/owner/model/"):
            error = "Invalid rev id: v9"
            return 404, {"X-Error-Code": "RevisionNotFound", "X-Error-Message": error}, b"{}"
        error = "Repository not found"
        return 404, {"X-Error-Code": "RepoNotFound", "X-Error-Message": error}, b"{}"


@pytest.fixture
def hub() -> Iterator[Hub]:
    one = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, content = one.reply(self.path.partition("?")[0])
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        do_HEAD = do_GET  # noqa: N815 (the name is http.server's)

        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        one.address = f"http://127.0.0.1:{server.server_port}"
        yield one
        server.shutdown()


Ask = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def ask(tmp_path: Path, python: Ask) -> Ask:
    """Run a script with a hub address and a cache of its own."""

    def run(script: str, *names: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        own = {"HF_HOME": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "0", "HF_TOKEN": ""}
        return python(script, *names, **{**own, "HF_HUB_DISABLE_XET": "1", **environment})

    return run


@pytest.fixture
def cached(tmp_path: Path) -> Path:
    """Put owner/model into the cache, as huggingface_hub lays it out."""
    repository = tmp_path / "cache" / "hub" / "models--owner--model"
    snapshot = repository / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (snapshot / name).write_bytes(FILES[name])
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)
    return snapshot


def test_a_folder_is_found_by_its_name_and_content(
    tmp_path: Path, make_backbone: Callable[..., Path]
) -> None:
    folder = make_backbone(tmp_path / "small")
    found = locate(str(folder))
    assert (found.backbone.name, found.place) == ("small", str(folder))
    assert fetch(found) == folder


def test_a_folder_keeps_its_identity_where_it_moves(
    tmp_path: Path, make_backbone: Callable[..., Path]
) -> None:
    folder = make_backbone(tmp_path / "here" / "small")
    before = locate(str(folder)).backbone
    (tmp_path / "there").mkdir()
    moved = shutil.move(folder, tmp_path / "there" / "small")
    assert locate(str(moved)).backbone == before
    assert locate(f"{moved}/").backbone == before


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_other_weights_configuration_or_tokenizer_are_another_backbone(
    tmp_path: Path, make_backbone: Callable[..., Path], name: str
) -> None:
    folder = make_backbone(tmp_path / "small")
    before = locate(str(folder)).backbone.revision
    with (folder / name).open("ab") as file:
        file.write(b" ")
    assert locate(str(folder)).backbone.revision != before


def test_what_is_not_loaded_does_not_enter_the_identity(
    tmp_path: Path, make_backbone: Callable[..., Path]
) -> None:
    folder = make_backbone(tmp_path / "small")
    before = locate(str(folder)).backbone
    (folder / "README.md").write_text("about")
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    assert locate(str(folder)).backbone == before


@pytest.mark.parametrize(
    ("absent", "words"),
    [
        ("model.safetensors", "lacks *.safetensors (no other weights are loaded)."),
        ("tokenizer.json", "lacks a tokenizer"),
        ("config.json", "lacks config.json."),
    ],
)
def test_a_folder_that_lacks_a_part_is_refused_with_the_part(
    tmp_path: Path, make_backbone: Callable[..., Path], absent: str, words: str
) -> None:
    folder = make_backbone(tmp_path / "small")
    (folder / absent).unlink()
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(UserError) as error:
        locate(str(folder))
    assert words in str(error.value)
    assert str(folder) in str(error.value)


def test_all_absent_parts_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"config\.json.*safetensors.*tokenizer"):
        locate(str(tmp_path))


@pytest.mark.parametrize("name", ["tinny", "./nowhere", "/nowhere/at/all", "a/b/c", "~/model"])
def test_what_is_neither_folder_nor_repository_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="no such folder, and not a hub repository") as error:
        locate(name)
    assert repr(name) in str(error.value)


def test_a_repository_is_its_name_and_the_commit_of_its_revision(hub: Hub, ask: Ask) -> None:
    answer = ask(LOCATE, "owner/model", "owner/model@v1", HF_ENDPOINT=hub.address)
    assert [json.loads(line) for line in answer.stdout.splitlines()] == [
        ["owner/model", COMMIT, "owner/model"]
    ] * 2, answer.stderr
    assert hub.asked == [f"/api/models/owner/model/revision/{name}" for name in ("main", "v1")]


def test_a_repository_that_cannot_be_used_is_refused_with_the_reason(hub: Hub, ask: Ask) -> None:
    names = ["owner/pickled", "owner/modle", "owner/model@v9"]
    answer = ask(LOCATE, *names, HF_ENDPOINT=hub.address)
    pickled, no_such, no_revision = map(json.loads, answer.stdout.splitlines())
    assert "lacks *.safetensors" in pickled
    assert "owner/pickled" in pickled
    assert "'owner/modle' at 'main': Repository not found" in no_such
    assert "hf auth login" in no_such
    assert "'owner/model' at 'v9': Invalid rev id: v9" in no_revision
    assert not any("resolve" in path for path in hub.asked), "it was downloaded all the same"


def test_only_safetensors_configuration_and_tokenizer_are_downloaded(hub: Hub, ask: Ask) -> None:
    answer = ask(FETCH, "owner/model", HF_ENDPOINT=hub.address)
    assert answer.stdout.split() == ["config.json", "model.safetensors", "tokenizer.json"], answer
    asked = " ".join(hub.asked)
    assert "pytorch_model.bin" not in asked
    assert "modeling_own.py" not in asked


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_file_of_the_hub_that_changed_in_the_cache_is_refused_with_both_hashes(
    tmp_path: Path, hub: Hub, ask: Ask, name: str
) -> None:
    assert ask(FETCH, "owner/model", HF_ENDPOINT=hub.address).returncode == 0
    (blob,) = {one.resolve() for one in (tmp_path / "cache").rglob(name)}
    blob.write_bytes(b"other")
    refused = ask(FETCH, "owner/model", HF_ENDPOINT=hub.address)
    found = sha1(b"blob 5\0other").hexdigest()
    assert f"its hash is {found}, the hub's is {etag(FILES[name])}" in refused.stderr


@pytest.mark.parametrize("digits", [40, 64])
def test_a_file_that_the_hub_names_by_either_hash_is_whole(tmp_path: Path, digits: int) -> None:
    content = b"weights"
    names = {40: sha1(b"blob 7\0" + content).hexdigest(), 64: sha256(content).hexdigest()}
    (tmp_path / names[digits]).write_bytes(content)
    link = tmp_path / "model.safetensors"
    link.symlink_to(names[digits])
    assert named_by_content(link)
    assert blob_hash(link) == names[digits]


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({"HF_HUB_OFFLINE": "1"}, id="offline by wish"),
        pytest.param(
            {"HF_ENDPOINT": UNREACHABLE},
            id="no network",
        ),
    ],
)
def test_without_the_hub_the_cache_answers_or_the_user_is_told(
    ask: Ask, cached: Path, environment: dict[str, str]
) -> None:
    answer = ask(LOCATE, "owner/model", "owner/other", **environment)
    found, absent = map(json.loads, answer.stdout.splitlines())
    assert found == ["owner/model", COMMIT, "owner/model"]
    assert "not in the local cache, and the hub was not reached" in absent
    assert "give its folder" in absent


def test_a_name_that_no_repository_can_have_is_refused_without_a_traceback() -> None:
    with pytest.raises(UserError, match="own er/name"):
        locate("own er/name")
