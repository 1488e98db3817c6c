"""`harness new method`: a native low-rank method under a name of the user's."""

from pathlib import Path

from harness.commands.new.place import new_file
from harness.commands.report import Report

EXAMPLE = Path(__file__).with_name("example.py")


def method(name: str) -> Report:
    """Write a method that runs as it is.

    Raises:
        UserError: The name is no name, or is taken.
    """
    path = new_file("methods", name)
    path.write_text(renamed(EXAMPLE.read_text(encoding="utf-8"), name), encoding="utf-8")
    text = (
        f"{path} is written, and runs as it is. Make it yours: docstring, fields, `forward`.\n"
        f"  harness doctor {path}\n"
        f"  harness run --methods lora,{path} --tasks math"
    )
    return Report(text, {"file": str(path)})


def renamed(source: str, name: str) -> str:
    """Put another name for `example` into a source, as the name of a class and of a type too.

    >>> renamed('class ExampleConfig: peft_type = "EXAMPLE"  # example[r=4]', "tanh_lora")
    'class TanhLoraConfig: peft_type = "TANH_LORA"  # tanh_lora[r=4]'
    """
    capitals = "".join(part.capitalize() for part in name.split("_"))
    written = source.replace("EXAMPLE", name.upper()).replace("Example", capitals)
    return written.replace("example", name)
