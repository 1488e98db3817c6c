"""Mathematics: seven benchmarks, one model trained on Math10K for all of them.

The substitute for Math10K holds GSM8K's training set, MAWPS' training set without the questions of
the test sets, and AQuA's development set, with worked answers.
"""

from tasks.contract import LLM_ADAPTERS, DataFile, Group

group = Group(
    title="Mathematics",
    benchmarks=("multiarith", "gsm8k", "addsub", "aqua", "singleeq", "svamp", "mawps"),
    train=(
        DataFile(
            title="Math10K",
            places=("ft-training_set/math_10k.json", "finetune/math_10k.json", "math_10k.json"),
            sha256=None,
            rows=9919,
            source="AGI-Edgerunners/LLM-Adapters, commit 8166572",
            licence="not established",
            url=f"{LLM_ADAPTERS}ft-training_set/math_10k.json",
        ),
        DataFile(
            title="substitute for Math10K",
            places=("finetune/math_substitute.json",),
            sha256="d08be4565124979cf11ce6ca9225e3cfeb7e605bfb2e5a5ed35dd0dc872ef23e",
            rows=8412,
            source="GSM8K train, MAWPS train without test questions, AQuA dev",
            licence="GSM8K MIT, AQuA-RAT Apache-2.0, MAWPS not established",
            kind="substitute",
        ),
    ),
    sample_rows=1000,
)
