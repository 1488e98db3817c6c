"""The protocol `chat` and examples before the question, as far as planning sees them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.backbones import TINY
from harness.errors import UserError
from harness.planning.plan import plan
from harness.planning.request import Request
from harness.spec.planned import PlannedRun
from results.runfolder.folder import RunFolder

TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}<assistant>"
NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"


@pytest.fixture
def instruct(tmp_path: Path) -> Callable[[str], Path]:
    """Copy `tiny` and give its tokenizer a chat template."""

    def make(template: str = TEMPLATE) -> Path:
        folder = tmp_path / "tiny-instruct"
        shutil.copytree(TINY, folder)
        (folder / "chat_template.jinja").write_text(template)
        return folder

    return make


def planned(backbone: object = "tiny", **options: Any) -> PlannedRun:
    (run,) = plan(Request(methods="lora", tasks="gsm8k", backbones=str(backbone), **options))
    return run


def test_a_backbone_without_a_chat_template_is_refused_before_a_run() -> None:
    with pytest.raises(UserError, match=r"^tiny has no chat template, which protocol chat asks"):
        planned(protocol="chat")


def test_a_template_that_takes_no_system_message_is_refused_with_its_own_words(
    instruct: Callable[[str], Path],
) -> None:
    backbone = instruct(NO_SYSTEM + TEMPLATE)
    assert planned(backbone, protocol="chat").spec.protocol.chat
    with pytest.raises(UserError, match="its chat template refuses the messages: no system"):
        planned(backbone, protocol="chat", settings=["protocol.system=Be brief."])


def test_a_system_message_without_a_chat_is_refused() -> None:
    with pytest.raises(UserError, match=r"protocol\.system: .*only a chat has a system message"):
        planned(settings=["protocol.system=Be brief."])


def test_more_examples_than_training_rows_are_refused() -> None:
    assert planned(train_limit=40, settings=["protocol.shots=40"]).spec.protocol.shots == 40
    with pytest.raises(UserError, match=r"protocol\.shots=41: .* has only 40 rows to draw from"):
        planned(train_limit=40, settings=["protocol.shots=41"])


def test_examples_make_another_protocol_named_after_them_and_none_is_the_plain_one() -> None:
    plain, none = planned(), planned(settings=["protocol.shots=0"])
    few = planned(settings=["protocol.shots=3", "protocol.shots_seed=7"])
    assert plain.spec.run_id == none.spec.run_id
    assert few.spec.protocol.id == "paper[shots=3,shots_seed=7]"
    assert few.spec.setting != plain.spec.setting


def test_a_chat_with_examples_keeps_the_prompts_that_the_model_saw(
    harness: Callable[..., Any], tmp_path: Path, instruct: Callable[[], Path]
) -> None:
    grid = ["run", "--methods", "base", "--tasks", "gsm8k", "--limit", "2", "--train-limit", "20"]
    grid += ["--backbones", str(instruct()), "--protocol", "chat", "--set", "protocol.shots=1"]
    done = harness(tmp_path, *grid, "--set", "protocol.max_new_tokens=4")
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    first, second = RunFolder(folder).generations("gsm8k")
    example, _, question = first.prompt.rpartition("<user>")
    assert example.startswith("<user>")
    assert example.count("<assistant>") == 1
    assert question.endswith("<end><assistant>")
    assert second.prompt.startswith(example)
    assert json.loads((folder / "spec.json").read_text())["protocol"]["chat"] is True
