"""`harness card` and `harness push`, against a server that answers as the hub does.

The replies have the fields that huggingface_hub 2.4 reads of the hub's HTTP API: repositories,
preupload, LFS batch, commit. They were written by hand; no real hub was asked.
"""

import json
import os
import subprocess
import sys
import threading
from base64 import b64decode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from harness.commands.new.method import method as new_method
from harness.spec.planned import PlannedRun
from harness.spec.spec import Backbone, MethodSpec
from results.record import Score
from results.runfolder.folder import RunFolder
from results.runfolder.record_of import record_of
from results.runfolder.values import Result, TrainRecord
from results.store import Store

WEIGHTS = b"the weights"
COMMIT = "0" * 40
Harness = Callable[..., "subprocess.CompletedProcess[str]"]


@dataclass
class Hub:
    """What a server holds, how it answers, and what it was asked."""

    files: list[str] = field(default_factory=lambda: [".gitattributes"])
    private: bool = True
    create: tuple[int, dict[str, Any]] = (200, {})
    asked: list[tuple[str, str, bytes]] = field(default_factory=list)
    url: str = ""

    def body(self, path: str) -> bytes:
        return next(body for _, asked, body in self.asked if asked == path)


class Handler(BaseHTTPRequestHandler):
    hub: Hub

    def do_GET(self) -> None:
        self.answer("GET")

    def do_POST(self) -> None:
        self.answer("POST")

    def do_PUT(self) -> None:
        self.answer("PUT")

    def answer(self, verb: str) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0]
        self.hub.asked.append((verb, path, body))
        code, reply = self.reply(path, body)
        text = json.dumps(reply).encode()
        self.send_response(code)
        if "error" in reply:
            self.send_header("X-Error-Message", reply["error"])
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def reply(self, path: str, body: bytes) -> tuple[int, dict[str, Any]]:
        hub, known = self.hub, json.loads(body.splitlines()[0]) if body[:1] == b"{" else {}
        if path == "/api/repos/create":
            code, reply = hub.create
            return code, reply or {"url": f"{hub.url}/me/adapter"}
        if path == "/api/models/me/adapter":
            siblings = [{"rfilename": name} for name in hub.files]
            return 200, {"id": "me/adapter", "private": hub.private, "siblings": siblings}
        if path == "/api/models/me/adapter/preupload/main":
            modes = {True: "lfs", False: "regular"}
            return 200, {
                "files": [
                    {
                        "path": one["path"],
                        "uploadMode": modes[one["path"].endswith(".safetensors")],
                        "shouldIgnore": False,
                    }
                    for one in known["files"]
                ]
            }
        if path == "/me/adapter.git/info/lfs/objects/batch":
            upload = {"upload": {"href": f"{hub.url}/put"}}
            objects = [{**one, "actions": upload} for one in known["objects"]]
            return 200, {"transfer": "basic", "objects": objects}
        if path == "/api/models/me/adapter/commit/main":
            return 200, {
                "commitUrl": f"{hub.url}/me/adapter/commit/{COMMIT}",
                "commitOid": COMMIT,
                "pullRequestUrl": None,
            }
        return 200, {}

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[Hub]:
    class Own(Handler):
        hub = Hub()

    with ThreadingHTTPServer(("127.0.0.1", 0), Own) as server:
        Own.hub.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield Own.hub
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def place(
    tmp_path: Path,
    planned: Callable[..., PlannedRun],
    train_record: TrainRecord,
    result: Result,
) -> Path:
    """Write a store with a run that trained DyPAM, one of the bare backbone, and a failed one."""
    store = Store(str(tmp_path / "harness.db"))
    for name in ("dypam", "base", "lora"):
        one = planned(
            method=MethodSpec(name=name, label=name, fields={"r": 8}, source="cd"),
            backbone=Backbone(name="meta/llama", revision=COMMIT),
        )
        folder = RunFolder(tmp_path / "runs" / name)
        folder.create(*one.kept)
        if name == "lora":
            folder.note_failure("ValueError: no such layer")
        else:
            finish(folder, train_record, result, trained=name == "dypam")
        record = record_of(folder)
        assert record
        store.add(record)
    return tmp_path


def finish(folder: RunFolder, train_record: TrainRecord, result: Result, *, trained: bool) -> None:
    if trained:
        folder.adapter.mkdir()
        # As versions before this one saved it.
        config = {"peft_type": "DYPAM", "base_model_name_or_path": "/home/me/llama"}
        (folder.adapter / "adapter_config.json").write_text(json.dumps(config))
        (folder.adapter / "adapter_model.safetensors").write_bytes(WEIGHTS)
        folder.write_train_record(train_record)
    score = Score("gsm8k", "accuracy", "llm-adapters", True, 0.5, 10)
    folder.write_result(result.model_copy(update={"scores": (score,)}))


def run_of(place: Path, name: str) -> str:
    return RunFolder(place / "runs" / name).head().run_id


MAIN = """
import sys
from harness.cli import main
try:
    main()
finally:
    heavy = {"torch", "transformers", "peft"} & set(sys.modules)
    print("heavy:", *sorted(heavy), file=sys.stderr)
"""


def push(place: Path, hub: Hub, *more: str, **environment: str) -> tuple[int, str, str]:
    """Push in a process of its own: huggingface_hub reads its environment when it is imported."""
    settings = {
        **{name: value for name, value in os.environ.items() if "PROXY" not in name.upper()},
        "HF_ENDPOINT": hub.url,
        "HF_TOKEN": "secret",
        "HF_HOME": str(place / "home"),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        **environment,
    }
    command = [sys.executable, "-c", MAIN, "push", run_of(place, "dypam"), "me/adapter", *more]
    done = subprocess.run(
        command, cwd=place, env=settings, capture_output=True, text=True, check=False
    )
    said, _, heavy = done.stderr.rpartition("heavy:")
    assert heavy.strip() == ""
    return done.returncode, done.stdout, said


def committed(hub: Hub) -> dict[str, Any]:
    lines = hub.body("/api/models/me/adapter/commit/main").splitlines()
    values = [json.loads(line) for line in lines]
    return {one["value"].get("path", one["key"]): one["value"] for one in values}


def test_a_card_says_what_the_run_and_the_method_say(place: Path, harness: Harness) -> None:
    done = harness(place, "card", run_of(place, "dypam")[:6])
    assert done.returncode == 0, done.stderr
    for part in ("[DyPAM](https://", "meta/llama", "import methods.register", "50.00 %"):
        assert part in done.stdout
    assert "/home/me" not in done.stdout
    assert str(place) not in done.stdout


def test_the_card_of_an_own_method_reads_its_copy(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    harness: Harness,
    planned: Callable[..., PlannedRun],
    train_record: TrainRecord,
    result: Result,
) -> None:
    monkeypatch.chdir(tmp_path)
    new_method("tanh_lora")
    method = MethodSpec(name="tanh_lora", label="tanh_lora", fields={"r": 8}, source="cd")
    one, folder = planned(method=method), RunFolder(tmp_path / "run")
    folder.create(*one.kept)
    folder.copy({"tanh_lora.py": "methods/tanh_lora/tanh_lora.py"})
    finish(folder, train_record, result, trained=True)
    config = {"peft_type": "TANH_LORA", "base_model_name_or_path": "/home/me/llama"}
    (folder.adapter / "adapter_config.json").write_text(json.dumps(config))
    Path("tanh_lora.py").unlink()
    done = harness(tmp_path, "card", "./run")
    assert done.returncode == 0, done.stderr
    for part in (
        "# TanhLora on ",
        "An adapter of TanhLora (a draft) for ",
        "TanhLora: learn a low-rank update of each frozen linear layer, bent by tanh.",
        "import methods.register\nimport tanh_lora\nfrom peft",
    ):
        assert part in done.stdout
    assert "\n\n\n" not in done.stdout


@pytest.mark.parametrize(("name", "why"), [("base", "nothing is trained"), ("lora", "it failed")])
def test_a_run_without_an_adapter_has_no_card(
    place: Path, harness: Harness, name: str, why: str
) -> None:
    done = harness(place, "card", run_of(place, name))
    assert done.returncode == 2
    assert why in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_adapter_and_card_are_uploaded_in_one_commit_to_a_private_repository(
    place: Path, hub: Hub
) -> None:
    code, said, error = push(place, hub)
    assert code == 0, error
    assert said.strip() == f"{hub.url}/me/adapter"
    made = json.loads(hub.body("/api/repos/create"))
    assert (made["organization"], made["name"], made["visibility"]) == ("me", "adapter", "private")
    assert hub.body("/put") == WEIGHTS
    files = committed(hub)
    assert {"README.md", "adapter_config.json", "adapter_model.safetensors"} < files.keys()
    assert run_of(place, "dypam") in files["header"]["summary"]


@pytest.mark.parts
def test_what_is_uploaded_names_the_backbone_as_the_hub_does(place: Path, hub: Hub) -> None:
    push(place, hub)
    files = committed(hub)
    config = json.loads(b64decode(files["adapter_config.json"]["content"]))
    assert (config["base_model_name_or_path"], config["revision"]) == ("meta/llama", COMMIT)
    card = b64decode(files["README.md"]["content"]).decode()
    assert 'PeftModel.from_pretrained(model, "me/adapter")' in card


@pytest.mark.parts
def test_it_is_public_where_asked(place: Path, hub: Hub) -> None:
    hub.private = False
    assert push(place, hub, "--public")[0] == 0
    assert json.loads(hub.body("/api/repos/create"))["visibility"] == "public"


def refused(done: tuple[int, str, str]) -> str:
    code, said, error = done
    assert (code, said) == (2, "")
    assert error.startswith("error: me/adapter")
    assert "Traceback" not in error
    return error


def test_without_a_token_nothing_is_asked(place: Path, hub: Hub) -> None:
    assert "hf auth login" in refused(push(place, hub, HF_TOKEN=""))
    assert hub.asked == []


@pytest.mark.parts
def test_a_token_that_may_not_write_is_told(place: Path, hub: Hub) -> None:
    hub.create = (403, {"error": "You don't have the rights to create a model under this name"})
    hub.files = [".gitattributes", "model.safetensors"]
    message = refused(push(place, hub))
    assert "rights" in message or "taken" in message


def test_a_repository_that_holds_something_is_taken_and_stays_as_it_is(
    place: Path, hub: Hub
) -> None:
    hub.create = (409, {"error": "exists", "url": f"{hub.url}/me/adapter"})
    hub.files = [".gitattributes", "model.safetensors"]
    assert "taken: model.safetensors" in refused(push(place, hub))
    assert not any("commit" in path for _, path, _ in hub.asked)


@pytest.mark.parts
def test_an_empty_repository_that_a_broken_upload_left_is_filled(place: Path, hub: Hub) -> None:
    hub.create = (409, {"error": "exists", "url": f"{hub.url}/me/adapter"})
    assert push(place, hub)[0] == 0
    assert hub.body("/put") == WEIGHTS


def test_nothing_private_goes_to_a_public_repository(place: Path, hub: Hub) -> None:
    hub.create, hub.private = (409, {"error": "exists", "url": f"{hub.url}/me/adapter"}), False
    assert "--public" in refused(push(place, hub))
    assert not any("commit" in path for _, path, _ in hub.asked)


@pytest.mark.parametrize(
    "environment", [{"HF_ENDPOINT": "http://127.0.0.1:1"}, {"HF_HUB_OFFLINE": "1"}]
)
def test_offline_is_one_message(place: Path, hub: Hub, environment: dict[str, str]) -> None:
    assert "the hub was not reached" in refused(push(place, hub, **environment))


@pytest.mark.parts
def test_a_name_that_the_hub_does_not_allow_is_told(place: Path, hub: Hub) -> None:
    command = ["push", run_of(place, "dypam"), "a/b/c"]
    environment = {**os.environ, "HF_ENDPOINT": hub.url, "HF_TOKEN": "secret"}
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *command],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "'a/b/c' is not a name for the hub" in done.stderr
    assert hub.asked == []
