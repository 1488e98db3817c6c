"""Commonsense: eight benchmarks, one model trained on Commonsense15K for all of them.

The substitute holds 2,000 rows of the training set of each benchmark (of ARC-Challenge all 1,119)
without questions of the test sets, and none of HellaSwag, whose training set was not at hand.
"""

from tasks.contract import LLM_ADAPTERS, DataFile, Group

group = Group(
    title="Commonsense",
    benchmarks=(
        "boolq",
        "piqa",
        "siqa",
        "arc_challenge",
        "arc_easy",
        "obqa",
        "hellaswag",
        "winogrande",
    ),
    train=(
        DataFile(
            title="Commonsense15K",
            places=(
                "ft-training_set/commonsense_15k.json",
                "finetune/commonsense_15k.json",
                "commonsense_15k.json",
            ),
            sha256=None,
            rows=15119,
            source="AGI-Edgerunners/LLM-Adapters, commit 8166572",
            licence="not established",
            url=f"{LLM_ADAPTERS}ft-training_set/commonsense_15k.json",
        ),
        DataFile(
            title="substitute for Commonsense15K",
            places=("finetune/commonsense_substitute.json",),
            sha256="e87b8382bdb4c8278e0218d0426e8660d487fde08f1207be393b95f0e4ca8bf9",
            rows=13119,
            source="the training sets of the benchmarks, without HellaSwag's and test questions",
            licence="mixed: that of each benchmark",
            kind="substitute",
        ),
    ),
    sample_rows=800,
)
