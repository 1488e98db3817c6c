"""GSM8K: grade-school word problems of two to eight steps, judged by the last number.

Question: A pen costs 3 coins and a book twice as much. What do 4 books cost?
Answer: 3 * 2 = 6. 6 * 4 = 24. The answer is 24.

Cobbe et al., 2021. Training Verifiers to Solve Math Word Problems. Two gold answers are negative;
the `output` column is a model's and often wrong.
"""

from tasks.answers.gold import must_be_number
from tasks.answers.numbers import last_number, stated_number, within_tolerance
from tasks.contract import Benchmark, published_file
from tasks.samples.problems import Arithmetic

benchmark = Benchmark(
    title="GSM8K",
    file=published_file(
        "GSM8K",
        "gsm8k",
        sha256="2cc616a1e0b23ea1df29370476365cde71c4e0aa823fb06cc194c5a8a9381abe",
        rows=1319,
        licence="MIT",
    ),
    extractors={"llm-adapters": last_number, "strict": stated_number},
    judge=within_tolerance,
    check_gold=must_be_number,
    sample=(
        (Arithmetic("THREE_STEPS", pointed=True), 50),
        (Arithmetic("BELOW_ZERO", pointed=True), 10),
    ),
)
