"""Base model: the frozen backbone as it is, which no training has changed.

    y = W x

Nothing is added and nothing is trained: 0 parameters. It is what every method is compared with, and
how much of a benchmark the backbone already knows.
"""

from methods.contract import Method

method = Method(
    title="Base model",
    paper="The backbone's own",
    config=None,
    parameters=None,
    mergeable=False,
)
