"""Whether a tokenizer can write the prompts of a protocol."""

from functools import cache

from jinja2 import TemplateError
from transformers import AutoTokenizer

from harness.errors import UserError
from harness.spec.planned import Located
from harness.spec.protocol import Protocol
from tasks.contract import Row

ANY = Row(0, "A question", "An answer", "")


@cache
def takes_chat(place: Located, protocol: Protocol) -> None:
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
