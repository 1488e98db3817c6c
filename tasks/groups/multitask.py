"""Multi-task learning: five sets of instructions trained together, as HyCAM does.

The paper divides by 7:2:1 and cross-validates over five folds. Both cannot hold if every row is to
be tested once: so a fold tests a fifth, and the rest is divided 7:2 into training and validation,
of which at most `train.validation_rows` are looked at.
"""

from tasks.contract import Group

group = Group(
    title="Multi-task",
    benchmarks=("auto_cot", "icliniq", "dolly", "codealpaca", "webgpt"),
    train=(),
    sample_rows=0,
    folds=5,
    patience=2,
    max_length=1200,
)
