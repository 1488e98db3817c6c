"""PIQA: which of two solutions reaches an everyday aim, judged by the first `solutionN`.

Question: How do I eat soup?
Solution1: Use a spoon.
Solution2: Use a comb.
Answer: the correct answer is solution1

Bisk et al., 2020. PIQA: Reasoning about Physical Commonsense in Natural Language. Each solution is
a paragraph of its own. The validation set is tested on, since the test set is hidden.
"""

from tasks.answers.choices import completions, must_be_offered
from tasks.answers.options import SOLUTIONS, first_of, same_option, stated_of
from tasks.contract import Benchmark, published_file
from tasks.samples.choices import Tool

benchmark = Benchmark(
    title="PIQA",
    file=published_file(
        "PIQA",
        "piqa",
        sha256="3860d11b9b42e590b6b4bbc1643214d373ed0b0d4ac62fcc7bdceb8e044ad141",
        rows=1838,
        licence="AFL 3.0",
    ),
    extractors={"llm-adapters": first_of(*SOLUTIONS), "strict": stated_of(*SOLUTIONS)},
    judge=same_option,
    check_gold=must_be_offered,
    options=completions,
    sample=((Tool(), 60),),
)
