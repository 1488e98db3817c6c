"""AQuA: algebra questions with five options, judged by the first letter.

Question: A car drives 60 km in 2 hours. How many km an hour?
Answer Choices: (A) 20 (B) 30 (C) 40 (D) 60 (E) 120
Answer: 60 / 2 = 30. The answer is B.

Ling et al., 2017. Program Induction by Rationale Generation.
"""

from tasks.answers.gold import must_be_letter
from tasks.answers.letters import first_letter, same_letter, stated_letter
from tasks.contract import Benchmark, published_file
from tasks.samples.problems import Arithmetic

benchmark = Benchmark(
    title="AQuA",
    file=published_file(
        "AQuA",
        "AQuA",
        sha256="de677f5f0139340009eb01f17c0db781b4161912cd1f4efa77292f2fcf3478ee",
        rows=254,
        licence="Apache-2.0",
    ),
    extractors={"llm-adapters": first_letter, "strict": stated_letter},
    judge=same_letter,
    check_gold=must_be_letter,
    sample=((Arithmetic("TWO_STEPS", options=True), 60),),
)
