"""SVAMP: one-step problems with a number that is not needed, judged by the last number.

Question: Max has 8 eggs and 3 hens. Mia gives him 5 eggs. How many eggs does he have?
Answer: 8 + 5 = 13. The answer is 13.

Patel et al., 2021. Are NLP Models really able to Solve Simple Math Word Problems?
"""

from tasks.answers.gold import must_be_number
from tasks.answers.numbers import last_number, stated_number, within_tolerance
from tasks.contract import Benchmark, published_file
from tasks.samples.problems import Arithmetic

benchmark = Benchmark(
    title="SVAMP",
    file=published_file(
        "SVAMP",
        "SVAMP",
        sha256="ffed015784f738f317c5603177861d044c4fc94e09211d78b25e96d46c656e2c",
        rows=1000,
        licence="MIT",
    ),
    extractors={"llm-adapters": last_number, "strict": stated_number},
    judge=within_tolerance,
    check_gold=must_be_number,
    sample=((Arithmetic("DISTRACTED", pointed=True), 60),),
)
