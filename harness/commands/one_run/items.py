"""`harness items`: the items of a run, one by one, from its run folder alone."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.commands.one_run import named
from harness.errors import UserError, unknown
from results.analysis.items import Item, Kind, Pair, disagreeing, of_kinds, pairs
from results.runfolder.files import naming
from results.runfolder.folder import RunFolder
from results.runfolder.values import Generation, OptionLikelihoods, ReferenceLikelihood, Verdict


@dataclass(frozen=True)
class Found:
    """The items that were asked for, and what a reader must know of them."""

    items: list[Item] | list[Pair]
    notes: tuple[str, ...]


def items(
    store_place: str,
    run: str,
    benchmark: str | None = None,
    kinds: Collection[Kind] = (),
    against: str | None = None,
) -> Found:
    """List the items of a run that are of all `kinds`; with `against`, where verdicts differ.

    Args:
        store_place: The store, which says where the run folder is.
        run: The first digits of an id, or a run folder.
        benchmark: Only its items.
        kinds: Such as "wrong" and "cut".
        against: Another run, named likewise. Each pair holds its answer too.

    Raises:
        UserError: The run has no such benchmark, kept no answers, or none that are judged.
    """
    folder = named.folder(store_place, run)
    if against is None:
        found = read(folder, benchmark)
        if set(kinds) - {"cut"}:
            _require_verdicts(found)
        return Found(of_kinds(found, kinds), _notes(folder))
    other = named.folder(store_place, against)
    both = paired(folder, other, benchmark)
    kept = [one for one in disagreeing(both) if one.first.kinds.issuperset(kinds)]
    return Found(kept, _notes(folder, other))


def read(folder: RunFolder, benchmark: str | None = None) -> list[Item]:
    """Read the items of one benchmark of a run, or of all.

    Raises:
        UserError: The run has no such benchmark, or kept no answers.
        RunFolderError: What it kept is damaged.
    """
    with naming(folder.path):
        spec = folder.spec()
        names = list(spec["tests"])
        if benchmark is not None and benchmark not in names:
            raise UserError(unknown(f"benchmark of run {folder.path.name}", benchmark, names))
        wanted = [
            name for name in ([benchmark] if benchmark else names) if folder.has_generations(name)
        ]
        if not wanted:
            raise UserError(
                f"{folder.path}: no answers to {benchmark or 'any benchmark'}; it {_state(folder)}."
            )
        return [item for name in wanted for item in _of_benchmark(folder, name, spec["protocol"])]


def _state(folder: RunFolder) -> str:
    if folder.finished:
        return "finished"
    state = "diverged in training" if folder.diverged else "did not finish"
    return f"{state}: `harness show {folder.path}` says why"


def _of_benchmark(folder: RunFolder, name: str, protocol: Mapping[str, Any]) -> list[Item]:
    generations = folder.generations(name)
    verdicts = folder.verdicts(name) if folder.has_verdicts(name) else []
    by_id = {one.id: one for one in verdicts}
    likelihoods = _likelihoods(folder, name, judged=bool(verdicts))
    return [_item(name, one, by_id.get(one.id), likelihoods, protocol) for one in generations]


def _item(
    name: str,
    one: Generation,
    verdict: Verdict | None,
    likelihoods: Mapping[int, Mapping[str, float]],
    protocol: Mapping[str, Any],
) -> Item:
    stop = protocol.get("stop", "")
    return Item(
        benchmark=name,
        id=one.id,
        prompt=one.prompt,
        gold=one.answer,
        reference=one.reference,
        answer=one.text,
        judged=one.text.split(stop, maxsplit=1)[0] if stop else one.text,
        tokens=one.tokens,
        ended=one.ended,
        long=one.long,
        in_training=one.in_training,
        extractor=protocol["extractor"] if verdict else "",
        extracted=dict(verdict.extracted) if verdict else {},
        correct=dict(verdict.correct) if verdict else {},
        likelihoods=likelihoods.get(one.id, {}),
    )


def _likelihoods(folder: RunFolder, name: str, *, judged: bool) -> dict[int, Mapping[str, float]]:
    """Read log-likelihoods by row: of the options where answers are judged, else of references."""
    if not (folder.finished and folder.has_likelihoods(name)):
        return {}
    found: list[OptionLikelihoods] | list[ReferenceLikelihood]
    found = folder.option_likelihoods(name) if judged else folder.reference_likelihoods(name)
    return {one.id: _by_text(one) for one in found}


def _by_text(one: OptionLikelihoods | ReferenceLikelihood) -> Mapping[str, float]:
    if isinstance(one, OptionLikelihoods):
        return dict(one.options)
    return {"reference": -one.answer, "prompt and reference": -one.text}


def paired(folder: RunFolder, other: RunFolder, benchmark: str | None = None) -> list[Pair]:
    """Pair the rows of two runs of the same data.

    Raises:
        UserError: They share no judged rows, or were tested on different data.
    """
    first, second = read(folder, benchmark), read(other, benchmark)
    tests, others = _hashes(folder), _hashes(other)
    for name in dict.fromkeys(item.benchmark for item in first):
        if name in others and tests[name] != others[name]:
            raise UserError(f"{name}: the two runs were tested on different data.")
    both = pairs(first, second)
    if not both:
        raise UserError("The two runs share no rows.")
    _require_verdicts(pair.first for pair in both)
    return both


def _hashes(folder: RunFolder) -> dict[str, str]:
    """Give the hash of the data of each benchmark of a run."""
    with naming(folder.path):
        return {name: data["sha256"] for name, data in folder.spec()["tests"].items()}


def _require_verdicts(found: Iterable[Item]) -> None:
    if not any(item.verdict for item in found):
        raise UserError("None of these answers is judged right or wrong.")


def _notes(*folders: RunFolder) -> tuple[str, ...]:
    return tuple(
        f"{folder.path}: format 1, which keeps neither prompts nor gold answers; both are left out."
        for folder in folders
        if folder.format == 1
    )
