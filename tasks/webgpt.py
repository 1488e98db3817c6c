"""WebGPT: open questions with long answers from sources on the web.

Question: Why is the sky blue?
Answer: Air scatters blue light more than red light, so that blue reaches us from all sides.

Nakano et al., 2021. WebGPT. Never at hand here: known by its number of rows.
"""

from tasks.contract import Benchmark, DataFile
from tasks.samples.instructions import Explanation

benchmark = Benchmark(
    title="WebGPT",
    file=DataFile(
        title="WebGPT",
        places=("multitask/webgpt/webgpt.json", "WebGPT/WebGPT.json"),
        sha256=None,
        rows=18994,
        source="openai/webgpt_comparisons",
        licence="not established",
    ),
    sample=((Explanation(), 40),),
    metrics=("bleu", "rouge-l", "perplexity"),
)
