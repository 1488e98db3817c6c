"""What runs cost, in columns."""

from results.analysis.runs.costs import Costs

HEADER = ("training", "evaluation", "tokens/s", "peak memory", "adapter")

KIB = 1024


def cells(costs: Costs) -> tuple[str, ...]:
    """Write costs, one text for each title of `HEADER`; a dash where nothing is known."""
    speed = costs.tokens_per_second
    return (
        seconds(costs.training_seconds),
        seconds(costs.evaluation_seconds),
        "-" if speed is None else f"{speed:,.0f}",
        size(costs.peak_memory_bytes),
        size(costs.adapter_bytes),
    )


def seconds(spent: float | None) -> str:
    """Write a time.

    >>> seconds(1.25), seconds(95.4), seconds(3725)
    ('1.2 s', '1:35', '1:02:05')
    """
    if spent is None:
        return "-"
    if spent < 60:  # noqa: PLR2004 (of a minute)
        return f"{spent:.1f} s"
    minutes, rest = divmod(round(spent), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def size(number: float | None) -> str:
    """Write a number of bytes.

    >>> size(512), size(3_500_000), size(20 * 2**30)
    ('512 B', '3.3 MiB', '20.0 GiB')
    """
    if number is None:
        return "-"
    for unit in ("B", "KiB", "MiB"):
        if number < KIB:
            return f"{number:.0f} B" if unit == "B" else f"{number:.1f} {unit}"
        number /= KIB
    return f"{number:.1f} GiB"
