"""Dolly 2.0: instructions of seven kinds, written and answered by a company's employees.

Instruction: Name three metals.
Answer: Iron, copper and tin.

Conover et al., 2023. databricks-dolly-15k. The substitute holds its open questions alone.
"""

from tasks.contract import Benchmark, DataFile
from tasks.samples.instructions import Instruction

benchmark = Benchmark(
    title="Dolly 2.0",
    file=DataFile(
        title="Dolly 2.0",
        places=("multitask/dolly/dolly.json", "Dolly/Dolly.json"),
        sha256=None,
        rows=15015,
        source="databricks-dolly-15k",
        licence="CC BY-SA 3.0",
    ),
    substitutes=(
        DataFile(
            title="substitute for Dolly 2.0",
            places=("multitask/dolly/dolly_open_qa.json",),
            sha256="e9add3441e77f5a65b8f54e97e79f0a62bd7754b2ee5cf22aef767e82b9b7a7f",
            rows=3742,
            source="prp-e/chinkara-openqa-dataset, commit 6720f52",
            licence="CC BY-SA 3.0",
            kind="substitute",
        ),
    ),
    sample=((Instruction(), 40),),
    metrics=("bleu", "rouge-l", "perplexity"),
)
