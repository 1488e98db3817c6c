"""Auto-CoT: questions of many reasoning sets, with chains of thought that a model wrote.

Question: A shelf holds 3 rows of 4 jars. How many jars are on it?
Answer: Let's think step by step. 3 rows of 4 jars are 12 jars. The answer is 12.

Zhang et al., 2023. Automatic Chain of Thought Prompting in Large Language Models; as HyCAM ships
it. It holds test questions of mathematics (621 of SVAMP's 1,000): train nothing on it that is
tested there.
"""

from tasks.contract import HYCAM, Benchmark, DataFile
from tasks.samples.instructions import ChainOfThought

benchmark = Benchmark(
    title="Auto-CoT",
    file=DataFile(
        title="Auto-CoT",
        places=("multitask/auto_cot/auto_cot.json", "Auto-CoT/Auto-CoT.json"),
        sha256="21dc33ab842212cfad2b3afdc33017d82a675ee992284a80d1f5e756f4a98340",
        rows=5816,
        source="Applied-Machine-Learning-Lab/HyCAM, commit 8280ae4",
        licence="not established",
        url=f"{HYCAM}datasets/Auto-CoT/Auto-CoT.json",
    ),
    sample=((ChainOfThought(), 40),),
    metrics=("bleu", "rouge-l", "perplexity"),
)
