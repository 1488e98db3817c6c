"""MultiArith: problems of two steps, judged by the last number.

Question: Sam had 13 plums and 17 nuts. If 15 were eaten, how many are left?
Answer: 13 + 17 = 30. 30 - 15 = 15. The answer is 15.

Roy and Roth, 2015. Solving General Arithmetic Word Problems. 20 of its 600 rows are repeats, and
the training set of MAWPS, a source of Math10K, holds 452 of them.
"""

from tasks.answers.gold import must_be_number
from tasks.answers.numbers import last_number, stated_number, within_tolerance
from tasks.contract import Benchmark, published_file
from tasks.samples.problems import Arithmetic

benchmark = Benchmark(
    title="MultiArith",
    file=published_file(
        "MultiArith",
        "MultiArith",
        sha256="a40f426807c8a563802c2a5b66bda3bcd1eba9c099038fd1199f0dd57de5fd28",
        rows=600,
        licence="not established",
    ),
    extractors={"llm-adapters": last_number, "strict": stated_number},
    judge=within_tolerance,
    check_gold=must_be_number,
    sample=((Arithmetic("TWO_STEPS", padded=True, pointed=True), 60),),
)
