import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from harness.cli import app
from harness.commands.doctor import examine, written
from harness.errors import UserError
from harness.worker.decoding.conformance import slots_change_no_token
from harness.worker.training.conformance import resumes_where_it_was_cut
from methods.conformance.checks import CHECKS
from methods.conformance.packing import packed_equals_padded

OF_THE_HARNESS = (slots_change_no_token, resumes_where_it_was_cut)
EVERY = [check.__name__ for check in (*CHECKS, packed_equals_padded, *OF_THE_HARNESS)]

# Rank-1 LoRA on the queries, with two mistakes: the formula counts rank 2, and it says to start
# away from the base.
FAULTY = '''
"""Mine."""
from peft import LoraConfig

from methods.contract import Method
from methods.tuners.layers import targeted


def parameters(config, model):
    return sum(2 * (l.in_features + l.out_features) for l in targeted(config, model).values())


method = Method(
    title="Mine",
    paper="https://example.org",
    config=LoraConfig,
    defaults={"r": 1, "target_modules": ["q_proj"]},
    parameters=parameters,
    mergeable=True,
    starts_at_base=False,
)
'''


@pytest.fixture(scope="module")
def examined(tmp_path_factory: pytest.TempPathFactory) -> Result:
    path = tmp_path_factory.mktemp("third party") / "mine.py"
    path.write_text(FAULTY)
    return CliRunner().invoke(app, ["doctor", str(path), "--json"])


def test_a_file_of_a_third_party_is_examined_and_its_mistakes_are_found(examined: Result) -> None:
    findings = json.loads(examined.stdout)
    faults = {finding["check"]: finding["fault"] for finding in findings if finding["fault"]}
    assert set(faults) == {"counts_by_the_formula", "starts_as_the_base"}
    # tiny: five layers of 128 x 128 queries.
    said = faults["counts_by_the_formula"]
    assert "1280 trainable parameters, 2560 by the formula: correct `parameters`" in said


def test_a_finding_is_a_line_that_begins_with_its_verdict(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(FAULTY)
    first, second = (finding for finding, _ in zip(examine(str(path)), range(2), strict=False))
    assert str(first).startswith(f"holds  {path}  something_trains: ")
    assert str(second).startswith(f"FAILS  {path}  starts_as_the_base: ")
    assert str(second).endswith("AssertionError: starts at the base")


def test_a_fault_is_said_once_and_names_the_line_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    checked = "    check=lambda config, model: config.no_such_field,\n)"
    path.write_text(FAULTY.strip().removesuffix(")") + checked)
    place = f"mine.py, line {len(path.read_text().splitlines()) - 1}"
    findings = list(examine(str(path)))
    first, second, *_ = (number for number, one in enumerate(findings) if one.fault)
    assert "AttributeError" in findings[first].fault
    assert findings[second].fault == findings[first].fault
    assert str(findings[first]).endswith(f"'no_such_field' ({place})")
    lines = written(findings[second], findings[:second]).splitlines()
    assert lines[0].startswith(f"FAILS  {path}  {findings[second].check}: ")
    assert lines[1:] == [f"       the same fault as {findings[first].check}"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("method = 3", "offers 'int', not Method"),
        ("import nowhere_at_all", "cannot be imported: ModuleNotFoundError"),
    ],
)
def test_a_file_that_offers_no_method_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(UserError, match=words):
        next(examine(str(path)))


def test_a_name_that_is_no_method_gets_the_nearest_and_a_missing_file_says_so() -> None:
    with pytest.raises(UserError, match="Did you mean 'lora'"):
        next(examine("lorra"))
    with pytest.raises(UserError, match=r"nowhere\.py: there is no such file"):
        next(examine("nowhere.py"))


@pytest.mark.skipif(find_spec("bitsandbytes") is not None, reason="bitsandbytes is here")
def test_without_bitsandbytes_the_doctor_says_what_it_did_not_check() -> None:
    *_, last = examine("ia3")
    assert str(last).startswith("skips  ia3  over nf4 and int8: Not checked, since bitsandbytes")
    assert not last.fault


def test_the_json_of_the_doctor_has_every_finding(examined: Result) -> None:
    assert examined.exit_code == 1
    assert [finding["check"] for finding in json.loads(examined.stdout)] == EVERY
