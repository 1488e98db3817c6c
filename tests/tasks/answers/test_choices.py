"""The samples with options: wording, options and truth.

Weights, heights, speeds and durations are round figures from encyclopaedias; who or what a gap
stands for was read off each sentence by hand.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from random import Random

import pytest

from tasks.contract import Row
from tasks.data import sets
from tasks.data.sets import DataSet
from tasks.form import Form
from tasks.groups.commonsense import group
from tasks.samples import facts

OPTIONS = {"piqa": "solution", "hellaswag": "ending", "winogrande": "option"}
SAID = {
    "boolq": "Please answer the following question with true or false, question",
    "piqa": "Please choose the correct solution to the question",
    "hellaswag": "Please choose the correct ending to complete the given sentence",
    "winogrande": "Please choose the correct answer to fill in the blank to complete the given "
    "sentence",
}
COUNTS = {"piqa": {2}, "siqa": {3}, "obqa": {4}, "hellaswag": {4}, "winogrande": {2}}
NAMES = [name for name in group.benchmarks if name != "boolq"]

KILOGRAMS = {
    "a feather": 0.001, "a coin": 0.005, "an egg": 0.06, "an apple": 0.2, "a brick": 3,
    "a sheep": 80, "a piano": 300, "a car": 1400, "an elephant": 5000, "a train": 400_000,
}  # fmt: skip
CENTIMETRES = {
    "an ant": 0.5, "a bee": 1.3, "a mouse": 8, "a cat": 46, "a sheep": 120, "a horse": 240,
    "an elephant": 600, "a whale": 1500,
}  # fmt: skip
KILOMETRES_PER_HOUR = {
    "a snail": 0.05, "a tortoise": 0.3, "a walker": 5, "a cyclist": 20, "an express train": 200,
    "an airliner": 900, "a rocket": 28_000,
}  # fmt: skip
SECONDS: dict[str, float] = {
    "a second": 1, "a minute": 60, "an hour": 3600, "a day": 86_400, "a week": 604_800,
    "a month": 2_592_000, "a year": 31_536_000, "a century": 3_155_760_000,
}  # fmt: skip
FIGURES: dict[str, dict[str, float]] = {
    "heav": KILOGRAMS, "light": KILOGRAMS, "big": CENTIMETRES, "small": CENTIMETRES,
    "fast": KILOMETRES_PER_HOUR, "slow": KILOMETRES_PER_HOUR, "long": SECONDS, "short": SECONDS,
}  # fmt: skip
LESS = ("light", "small", "slow", "short")

# Whether the gap is the first or the second that the sentence names.
GAPS = {
    "_ was kind": 0, "_ was cold": 1, "_ did not know": 0, "_ knew": 1, "_ won": 0, "_ lost": 1,
    "_ no longer needed": 0, "_ badly wanted": 1, "_ had been helped": 0,
    "_ had been so helpful": 1, "_ had risen early": 0, "_ had slept too long": 1,
    "the _ was too big": 0, "the _ was too small": 1, "the _ was so small": 0,
    "the _ was so big": 1,
}  # fmt: skip


def figure(word: str, thing: str) -> float:
    """Measure a thing by a comparing word; of "lighter" and the like, less is more."""
    stem = next(stem for stem in FIGURES if word.startswith(stem))
    return FIGURES[stem][thing] * (-1 if stem in LESS else 1)


def template(name: str) -> re.Pattern[str]:
    """Write the wording of a published set as an expression."""
    said = re.escape(SAID.get(name, "Please choose the correct answer to the question"))
    if name == "boolq":
        return re.compile(rf"{said}: (?P<asked>.*)\n\nAnswer format: true/false")
    label = OPTIONS.get(name, "answer")
    offered = "|".join(
        "/".join(f"{label}{n}" for n in range(1, count + 1))
        for count in sorted(COUNTS.get(name, {3, 4, 5}))
    )
    after = " " if name == "winogrande" else r"\n\n"
    return re.compile(
        rf"{said}: (?P<asked>.*)\n\n(?P<listed>{label.capitalize()}1: .*){after}"
        rf"Answer format: (?P<offered>{offered})",
        re.DOTALL if name == "piqa" else 0,  # its solutions are paragraphs
    )


def asked(name: str, row: Row) -> str:
    found = template(name).fullmatch(row.instruction)
    assert found, row.instruction
    return found["asked"]


def options(name: str, row: Row) -> dict[str, str]:
    """Read the options of a row by their names."""
    found = template(name).fullmatch(row.instruction)
    assert found, row.instruction
    label = OPTIONS.get(name, "answer").capitalize()
    texts = re.split(rf"\s*{label}\d: ", found["listed"])[1:]
    return dict(zip(found["offered"].split("/"), texts, strict=True))


def rows(name: str, split: str) -> Iterator[Row]:
    """Draw 300 rows of a benchmark's sample form."""
    form: Form = import_module(f"tasks.{name}").benchmark.sample[0][0]
    rng = Random(f"{name}/{split}")
    for number in range(300):
        drawn = form.draw("train" if split == "train" else "test", rng)
        yield Row(number, drawn.question, drawn.worked, drawn.answer)


def both(name: str) -> list[Row]:
    return [*rows(name, "train"), *rows(name, "test")]


def gold(name: str, row: Row) -> str:
    return options(name, row)[row.answer]


@pytest.mark.parametrize("name", group.benchmarks)
def test_published_files_have_the_wording_that_samples_are_compared_with(
    name: str, data: Path
) -> None:
    published = sets.load_test(name, import_module(f"tasks.{name}").benchmark, data)
    pattern = template(name)
    assert all(pattern.fullmatch(row.instruction) for row in published.rows)
    assert all(row.output == f"the correct answer is {row.answer}" for row in published.rows)


@pytest.mark.parametrize("name", group.benchmarks, indirect=True)
def test_a_sample_has_the_wording_of_the_published_set(name: str, sample: DataSet) -> None:
    pattern = template(name)
    assert all(pattern.fullmatch(row.instruction) for row in sample.rows)
    assert all(row.output == f"the correct answer is {row.answer}" for row in sample.rows)


@pytest.mark.parametrize("name", NAMES, indirect=True)
def test_the_options_of_a_row_differ_and_are_on_one_line(name: str, sample: DataSet) -> None:
    for row in sample.rows:
        offered = options(name, row)
        assert len(set(offered.values())) == len(offered)
        assert row.instruction.count("\n") == {"piqa": 6, "winogrande": 2}.get(name, 4)


@pytest.mark.parametrize("name", ["arc_challenge", "arc_easy"], indirect=True)
def test_a_few_rows_of_arc_have_three_or_five_options(name: str, sample: DataSet) -> None:
    numbers = Counter(len(options(name, row)) for row in sample.rows)
    assert set(numbers) == {3, 4, 5}
    assert numbers[4] > 0.7 * len(sample.rows)


@pytest.mark.parametrize("name", group.benchmarks)
@pytest.mark.parametrize("split", ["train", "test"])
def test_no_option_is_favoured(name: str, split: str) -> None:
    drawn = list(rows(name, split))
    if name in {"arc_challenge", "arc_easy"}:
        drawn = [row for row in drawn if len(options(name, row)) == 4]
    number = 2 if name == "boolq" else len(options(name, drawn[0]))
    mean = len(drawn) / number
    # Fair draws leave four standard deviations in less than 1 of 10,000 samples.
    bound = 4 * (mean * (1 - 1 / number)) ** 0.5
    found = Counter(row.answer for row in drawn)
    assert len(found) == number
    assert all(abs(count - mean) < bound for count in found.values())


def test_every_comparison_of_boolq_is_answered_by_the_figures() -> None:
    for row in both("boolq"):
        found = re.fullmatch(
            r"is (?:it true that )?(.*?) (?:is )?(\w+er) than (.*)\?", asked("boolq", row)
        )
        assert found
        x, word, y = found.groups()
        assert row.answer == str(figure(word, x) > figure(word, y)).lower()


def test_the_gold_answer_of_arc_challenge_is_the_extreme_of_the_figures() -> None:
    for row in both("arc_challenge"):
        word = asked("arc_challenge", row).split()[-1]
        things = options("arc_challenge", row)
        assert row.answer == max(things, key=lambda option: figure(word, things[option]))


@pytest.mark.parametrize(("name", "table"), [("arc_easy", "CLASSES"), ("obqa", "PROPERTIES")])
def test_only_the_gold_answer_belongs_to_what_is_asked_for(name: str, table: str) -> None:
    headings: dict[str, tuple[str, ...]] = getattr(facts, table)
    for row in both(name):
        (heading,) = [heading for heading in headings if heading in asked(name, row)]
        fitting = [o for o, thing in options(name, row).items() if thing in headings[heading]]
        assert fitting == [row.answer]


@pytest.mark.parametrize("table", [facts.CLASSES, facts.PROPERTIES, facts.FEELINGS])
def test_nothing_is_listed_under_two_headings(table: dict[str, tuple[str, ...]]) -> None:
    listed = [thing for things in table.values() for thing in things]
    assert len(listed) == len(set(listed))


def test_the_gold_solution_uses_the_tool_that_serves_the_aim() -> None:
    for row in both("piqa"):
        (tool,) = [tool for tool, aim in facts.TOOLS.items() if f" {aim}?" in asked("piqa", row)]
        assert gold("piqa", row) == f"Use {tool}."


def test_the_gold_feeling_is_that_of_what_happened() -> None:
    for row in both("siqa"):
        fitting = [
            feeling
            for feeling, events in facts.FEELINGS.items()
            if any(f" {event}. " in asked("siqa", row) for event in events)
        ]
        assert fitting == [gold("siqa", row)]


def test_the_gold_ending_alone_is_of_the_activity() -> None:
    for row in both("hellaswag"):
        activity = asked("hellaswag", row).partition(":")[0]
        endings = [f"{ending}." for ending in facts.ACTIVITIES[activity][1]]
        fitting = [o for o, text in options("hellaswag", row).items() if text in endings]
        assert fitting == [row.answer]


def test_a_gap_is_filled_by_the_one_that_the_sentence_means() -> None:
    met = set()
    for row in both("winogrande"):
        sentence = asked("winogrande", row)
        (reading,) = [reading for reading in GAPS if reading in sentence]
        offered = sorted(options("winogrande", row).values(), key=sentence.index)
        assert gold("winogrande", row) == offered[GAPS[reading]]
        met.add(reading)
    assert met == set(GAPS)


def compared(row: Row) -> set[frozenset[str]]:
    return {
        frozenset(
            thing
            for thing in KILOGRAMS | CENTIMETRES | KILOMETRES_PER_HOUR | SECONDS
            if re.search(rf"\b{thing}\b", asked("boolq", row))
        )
    }


def against_gold(name: str) -> Callable[[Row], set[frozenset[str]]]:
    def pairs(row: Row) -> set[frozenset[str]]:
        right = gold(name, row)
        return {frozenset((right, o)) for o in options(name, row).values() if o != right}

    return pairs


def named_and(name: str, words: tuple[str, ...]) -> Callable[[Row], set[frozenset[str]]]:
    def pairs(row: Row) -> set[frozenset[str]]:
        text = asked(name, row)
        who = re.search(r"^(?:[^:]*: )?(\w+) ", text)
        assert who
        return {frozenset((who[1], *(word for word in words if word in text)))}

    return pairs


KEYS = {
    "boolq": compared,
    **{name: against_gold(name) for name in ("piqa", "arc_easy", "obqa", "winogrande")},
    "siqa": named_and("siqa", tuple(e for events in facts.FEELINGS.values() for e in events)),
    "hellaswag": named_and("hellaswag", tuple(facts.ACTIVITIES)),
}


@pytest.mark.parametrize("name", KEYS)
def test_no_pair_that_decides_a_question_is_in_both_splits(name: str) -> None:
    train, test = (
        {pair for row in rows(name, split) for pair in KEYS[name](row)}
        for split in ("train", "test")
    )
    assert all(len(pair) == 2 for pair in train | test)
    assert not train & test


def test_the_two_best_of_arc_challenge_are_of_one_split() -> None:
    def best_two(row: Row) -> frozenset[str]:
        word = asked("arc_challenge", row).split()[-1]
        things = options("arc_challenge", row).values()
        return frozenset(sorted(things, key=lambda thing: figure(word, thing))[-2:])

    train, test = ({best_two(r) for r in rows("arc_challenge", s)} for s in ("train", "test"))
    assert train
    assert test
    assert not train & test
