"""MetaMath to GSM8K: trained on MetaMathQA, tested on GSM8K, as SMoA does.

MetaMathQA rephrases the training set of GSM8K, and MATH. The substitute is that training set.
"""

from tasks.contract import DataFile, Group

group = Group(
    title="MetaMath to GSM8K",
    benchmarks=("gsm8k",),
    train=(
        DataFile(
            title="MetaMathQA",
            places=("metamath/MetaMathQA-395K.json", "MetaMathQA-395K.json"),
            sha256=None,
            rows=395_000,
            source="meta-math/MetaMathQA on the Hugging Face hub",
            licence="MIT",
            url=(
                "https://huggingface.co/datasets/meta-math/MetaMathQA/resolve/"
                "aa4f34d3d2d3231299b5b03d9b3e5a20da45aa18/MetaMathQA-395K.json"
            ),
        ),
        DataFile(
            title="substitute for MetaMathQA",
            places=("original/gsm8k/train.jsonl",),
            sha256="17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465",
            rows=7473,
            source="openai/grade-school-math, commit 3101c7d: the training set of GSM8K",
            licence="MIT",
            kind="substitute",
            url=(
                "https://raw.githubusercontent.com/openai/grade-school-math/"
                "3101c7d5072418e28b9008a6636bde82a006892c/grade_school_math/data/train.jsonl"
            ),
        ),
    ),
    sample_rows=600,
)
