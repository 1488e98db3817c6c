"""The contract of a benchmark and of a group: what a file in this folder offers.

A benchmark file ends in `benchmark = Benchmark(...)`, a file in `groups/` in `group = Group(...)`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tasks.form import Form

Extractor = Callable[[str], str]
"""Finds the answer in a completion; gives an empty text if there is none."""

EXTRACTOR_VERSIONS: Mapping[str, int] = {"llm-adapters": 1, "strict": 2}
"""Of each extractor by name; raised when it reads a completion differently. Others are at 1."""

Judge = Callable[[str, str], bool]
"""Whether an extracted answer (first) is the gold answer (second)."""

Kind = Literal["published", "substitute", "sample", "own"]
"""A published file, a stand-in for one, rows that this project generates, or a user's file."""

HUB = "https://huggingface.co"
LLM_ADAPTERS = (
    "https://raw.githubusercontent.com/AGI-Edgerunners/LLM-Adapters/"
    "816657208af4db747803f87ba40a4c71383fed7a/"
)
HYCAM = (
    "https://raw.githubusercontent.com/Applied-Machine-Learning-Lab/HyCAM/"
    "8280ae488353adff54398ebb5d5053c6707018b2/"
)


@dataclass(frozen=True)
class Row:
    """One problem, named by its place in the file: prompts repeat, so they are no key.

    Attributes:
        id: Place in the file, from 0.
        instruction: The text put to the model.
        output: A worked answer to learn from. Benchmarks that compare texts take it as reference;
            the others do not, since some files hold wrong ones.
        answer: The gold answer; empty if there is no single right one.
        input: What the instruction is about, if the file gives it in a field of its own.
    """

    id: int
    instruction: str
    output: str
    answer: str
    input: str = ""

    @property
    def question(self) -> str:
        """Instruction and input: rows of the same problem have the same."""
        return f"{self.instruction}\n{self.input}".strip()


GoldCheck = Callable[[Row], str]
"""Says what a row's gold answer should be, such as "a number"; gives an empty text if it is."""


@dataclass(frozen=True)
class HubSet:
    """A data set of the Hugging Face hub, at a pinned revision.

    Attributes:
        repository: Owner and name.
        revision: The commit.
        columns: The columns to keep, in this order; together they are one of `data/layouts.py`.
        configuration: Its name, in a repository of several.
        split: Its name.
    """

    repository: str
    revision: str
    columns: tuple[str, ...]
    configuration: str | None = None
    split: str = "train"

    @property
    def address(self) -> str:
        """The page of the revision."""
        return f"{HUB}/datasets/{self.repository}/tree/{self.revision}"


@dataclass(frozen=True)
class Columns:
    """Which columns of a user's file mean what; an empty name stands for a usual one.

    Attributes:
        question: The text put to the model.
        answer: The gold answer, or the reference of a benchmark that compares texts.
        output: A worked answer to learn from, in files that have it; the answer in others.
    """

    question: str = ""
    answer: str = ""
    output: str = ""


@dataclass(frozen=True)
class DataFile:
    """A file that this project knows by content, or one of the user's.

    Attributes:
        title: What it is, for messages and tables.
        places: Where it may lie below the data folder; a `.gz` may follow. A file of the user's has
            one place, an absolute path.
        sha256: Of the uncompressed content; None if this project never had the file: then the
            number of rows alone identifies it.
        rows: How many rows it has; None for a file of the user's.
        source: Where it comes from.
        licence: As its authors state it, or that it is not established.
        kind: Whether it is the published set, a stand-in, or the user's.
        blank: How many of the rows have no output; these are left out.
        url: Where it can be downloaded, at a pinned revision.
        hub: The hub's data set that it is written from; such a file has no `url`.
        columns: How the user names its columns; None if its fields tell its layout.
    """

    title: str
    places: tuple[str, ...]
    sha256: str | None
    rows: int | None
    source: str
    licence: str
    kind: Kind = "published"
    blank: int = 0
    url: str | None = None
    hub: HubSet | None = None
    columns: Columns | None = None

    @property
    def address(self) -> str | None:
        """Where it can be had, at a pinned revision; None if nowhere."""
        return self.hub.address if self.hub else self.url


def published_file(title: str, folder: str, *, sha256: str, rows: int, licence: str) -> DataFile:
    """Describe a test set of LLM-Adapters, in that repository's layout or below `qa/`."""
    return DataFile(
        title=f"{title} test set",
        places=tuple(f"{top}{folder}/test.json" for top in ("qa/", "dataset/", "")),
        sha256=sha256,
        rows=rows,
        source="AGI-Edgerunners/LLM-Adapters, commit 8166572",
        licence=licence,
        url=f"{LLM_ADAPTERS}dataset/{folder}/test.json",
    )


@dataclass(frozen=True)
class Benchmark:
    """A test set and how its completions are judged.

    There are two kinds. A benchmark whose rows have one right answer has extractors, a judge and
    the metric "accuracy"; its options, if it has any, are scored by likelihood too. A benchmark
    that compares texts has metrics of `metrics/` and perplexities.

    Attributes:
        title: As tables print it.
        file: The published test set; or, in a group with folds, all rows.
        sample: The forms of the generated stand-in, and how many problems are drawn from each;
            empty where there is none.
        extractors: By name; all are applied, the protocol says which one counts.
        judge: Compares what was extracted with the gold answer.
        check_gold: Checks the gold answer of a row.
        options: The completions that a row offers, by the gold answer that each one states.
        metrics: What tables show, in their order; more is measured and kept with a run.
        substitutes: Stand-ins for the file, by preference.
        train: Training sets by preference, for a benchmark that is in no group.
    """

    title: str
    file: DataFile
    sample: tuple[tuple[Form, int], ...] = ()
    extractors: Mapping[str, Extractor] = field(default_factory=dict)
    judge: Judge = str.__eq__
    check_gold: GoldCheck = lambda row: ""
    options: Callable[[Row], Mapping[str, str]] | None = None
    metrics: tuple[str, ...] = ("accuracy",)
    substitutes: tuple[DataFile, ...] = ()
    train: tuple[DataFile, ...] = ()

    @property
    def files(self) -> tuple[DataFile, ...]:
        """The files that can be tested on, by preference."""
        return (self.file, *self.substitutes)


@dataclass(frozen=True)
class Group:
    """Benchmarks that share a training set.

    Attributes:
        title: As tables print it.
        benchmarks: Their names, in the order of the papers' tables.
        train: Training sets by preference: the first one at hand is used. None in a group with
            folds, which trains on its benchmarks' own rows.
        sample_rows: How many rows the generated training set has.
        folds: How many folds the rows are divided into; 0 if test sets are files of their own.
        patience: Validations in a row without a lower loss after which training ends; 0 to go on.
        max_length: The most tokens of a training row, if the papers depart from the usual limit.
    """

    title: str
    benchmarks: tuple[str, ...]
    train: tuple[DataFile, ...]
    sample_rows: int
    folds: int = 0
    patience: int = 0
    max_length: int | None = None
