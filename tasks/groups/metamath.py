"""MetaMath to GSM8K: trained on MetaMathQA, tested on GSM8K, as SMoA does.

MetaMathQA rephrases the training set of GSM8K, and MATH. The substitute is that training set.
"""

from tasks.contract import DataFile, Group, HubSet

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
            hub=HubSet(
                repository="meta-math/MetaMathQA",
                revision="aa4f34d3d2d3231299b5b03d9b3e5a20da45aa18",
                columns=("query", "response"),
            ),
        ),
        DataFile(
            title="substitute for MetaMathQA",
            places=("original/gsm8k/train.jsonl",),
            sha256="17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465",
            rows=7473,
            source="openai/gsm8k on the Hugging Face hub: the training set of GSM8K",
            licence="MIT",
            kind="substitute",
            hub=HubSet(
                repository="openai/gsm8k",
                revision="e53f048856ff4f594e959d75785d2c2d37b678ee",
                columns=("question", "answer"),
                configuration="main",
            ),
        ),
    ),
    sample_rows=600,
)
