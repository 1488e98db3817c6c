"""CodeAlpaca: programming tasks with answers that a model wrote.

Instruction: Write a Python function that doubles a number.
Answer: def double(x): return 2 * x

Chaudhary, 2023. Code Alpaca 20K. The substitute is the release of 2,017 rows.
"""

from tasks.contract import Benchmark, DataFile
from tasks.samples.instructions import Code

benchmark = Benchmark(
    title="CodeAlpaca",
    file=DataFile(
        title="CodeAlpaca",
        places=("multitask/codealpaca/codealpaca.json", "CodeAlpaca/CodeAlpaca.json"),
        sha256=None,
        rows=20222,
        source="sahil280114/codealpaca",
        licence="CC BY-NC 4.0",
    ),
    substitutes=(
        DataFile(
            title="substitute for CodeAlpaca",
            places=("multitask/codealpaca/code_alpaca_2k.json",),
            sha256="9cb7352683bd2f530ce81eff7f8d58ccbe1a4bdf28afebbe9f80ec687256066d",
            rows=2017,
            source="sahil280114/codealpaca, commit 2f78ddc",
            licence="CC BY-NC 4.0",
            kind="substitute",
            blank=2,
        ),
    ),
    sample=((Code(), 40),),
    metrics=("bleu", "rouge-l", "perplexity"),
)
