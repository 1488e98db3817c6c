"""SingleEq: problems that one equation solves, some of decimals, judged by the last number.

Question: They drove 250 miles on each of 5 days. How many miles did they drive?
Answer: 250 * 5 = 1250. The answer is 1250.

Koncel-Kedziorski et al., 2015. Parsing Algebraic Word Problems into Equations. The training set of
MAWPS, a source of Math10K, holds 416 of its 508 questions.
"""

from tasks.answers.gold import must_be_number
from tasks.answers.numbers import last_number, stated_number, within_tolerance
from tasks.contract import Benchmark, published_file
from tasks.samples.problems import Arithmetic

benchmark = Benchmark(
    title="SingleEq",
    file=published_file(
        "SingleEq",
        "SingleEq",
        sha256="712b15edb851c97aab42a5de106d94008f94d917366c92537ed5400a8aacb207",
        rows=508,
        licence="not established",
    ),
    extractors={"llm-adapters": last_number, "strict": stated_number},
    judge=within_tolerance,
    check_gold=must_be_number,
    sample=(
        (Arithmetic("ONE_STEP", pointed=True), 40),
        (Arithmetic("ADD_SUB", decimals=True, pointed=True), 20),
    ),
)
