"""Whether planned runs fit on the cards of this machine."""

from collections.abc import Mapping, Sequence

from harness.errors import UserError
from harness.planning.faults import Faults
from harness.planning.footprint.cards import Card
from harness.planning.footprint.need import Texts, need_of, packs
from harness.spec.planned import Need, PlannedRun
from results.reports.costs import size


def fitted(
    runs: Sequence[PlannedRun], texts: Mapping[str, Texts], cards: Sequence[Card]
) -> list[PlannedRun]:
    """Note what each run needs; with `auto`, turn checkpointing on where a run fits only so.

    Args:
        runs: As they were planned.
        texts: The longest texts by group.
        cards: What they are to fit on; without any, nothing is refused.

    Raises:
        UserError: Names the methods that fit on none of the cards, and what would help.
    """
    faults = Faults()
    found = faults.each(lambda run: _fitted(run, texts[run.spec.group], cards), runs)
    faults.raise_if_any()
    return found


def _fitted(run: PlannedRun, texts: Texts, cards: Sequence[Card]) -> PlannedRun:
    need = need_of(run, texts)
    if need and cards and not _fits(need, cards):
        need = need_of(run, texts, keeps=False)
    fits = need is None or not cards or _fits(need, cards)
    # A backbone that is spread over cards is not for one of them to hold.
    if fits or run.memory.device_map:
        return run.model_copy(update={"need": need})
    if run.memory.gradient_checkpointing == "auto":
        memory = run.memory.model_copy(update={"gradient_checkpointing": True})
        return _fitted(run.model_copy(update={"memory": memory}), texts, cards)
    assert need
    raise UserError(_refusal(run, need, max(cards, key=lambda card: card.memory)))


def _fits(need: Need, cards: Sequence[Card]) -> bool:
    return any(card.holds(need.peak) for card in cards)


def _refusal(run: PlannedRun, need: Need, card: Card) -> str:
    """Say what does not fit where, and what would."""
    recipe, packed = run.spec.train, packs(run)
    helps = {
        "--checkpointing on": not run.checkpoints and need.phase == "training",
        "--set train.packed=false": packed and need.phase == "training",
        "--set train.batch_size=1": recipe.batch_size > 1
        and not packed
        and need.phase == "training",
        "--set protocol.max_length=N": need.phase != "generation",
        "--set generate.batch_size=N": need.phase == "generation",
        "--quantize nf4": run.spec.quantize is None,
    }
    return (
        f"{run.spec.method.label} on {run.located.shown}: {need.phase} takes about "
        f"{size(need.peak)}, which no GPU here has; the largest is {card}.\n"
        f"  What may help: {', '.join(name for name, does in helps.items() if does)}, a larger GPU."
    )
