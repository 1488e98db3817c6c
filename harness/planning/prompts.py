"""Whether the prompts of a protocol can be written for what a request stands for."""

from collections.abc import Sequence
from functools import cache

from jinja2 import TemplateError
from transformers import AutoTokenizer

from harness.errors import UserError
from harness.planning.faults import Faults
from harness.planning.request import Request
from harness.spec.planned import Located
from harness.spec.protocol import Protocol
from tasks.contract import Row
from tasks.data.sets import DataSet

ANY = Row(0, "A question", "An answer", "")


def check(
    protocol: Protocol,
    train: DataSet | None,
    places: Sequence[Located],
    request: Request,
    faults: Faults,
) -> None:
    """Look for enough examples among the training rows, and for a chat template that takes them."""
    if protocol.shots and train:
        faults.of(lambda: _has_examples(protocol.shots, train, request.train_limit))
    if protocol.chat:
        faults.each(lambda place: _takes_chat(place, protocol), places)


def _has_examples(shots: int, train: DataSet, limit: int | None) -> None:
    rows = min(len(train.rows), limit or len(train.rows))
    if shots > rows:
        raise UserError(f"protocol.shots={shots}: {train.title} has only {rows} rows to draw from.")


@cache
def _takes_chat(place: Located, protocol: Protocol) -> None:
    """Refuse a tokenizer without a chat template, or whose template takes no such messages."""
    revision = None if place.place.startswith("/") else place.backbone.revision
    name = place.backbone.name
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            place.place, revision=revision, trust_remote_code=False
        )
    except (OSError, ValueError) as error:
        raise UserError(f"{name}: {error}") from error
    if tokenizer.chat_template is None:
        raise UserError(
            f"{name} has no chat template, which protocol {protocol.id} asks for. "
            "Take an instruction-tuned backbone, or another --protocol."
        )
    try:
        chat = protocol.messages(protocol.ask(ANY), protocol.solved([ANY] * protocol.shots))
        tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    except TemplateError as error:
        raise UserError(f"{name}: its chat template refuses the messages: {error}") from error
