"""MAWPS: a mixture of problems from older sets, judged by the last number.

Question: Paul had 2.5 miles to go . He ran 1 mile . How far is it still ?
Answer: 2.5 - 1 = 1.5. The answer is 1.5.

Koncel-Kedziorski et al., 2016. MAWPS: A Math Word Problem Repository. LLM-Adapters' evaluation
script does not know it; the rule of the other number sets is used. 152 of its 238 rows stand in
AddSub, MultiArith or SingleEq.
"""

from tasks.answers.gold import must_be_number
from tasks.answers.numbers import last_number, stated_number, within_tolerance
from tasks.contract import Benchmark, published_file
from tasks.samples.problems import Arithmetic

benchmark = Benchmark(
    title="MAWPS",
    file=published_file(
        "MAWPS",
        "mawps",
        sha256="c1a708979cbf2b3df9ac4020baacf3e8e73fcf089e1de7dd1b305b810bfaa15f",
        rows=238,
        licence="not established",
    ),
    extractors={"llm-adapters": last_number, "strict": stated_number},
    judge=within_tolerance,
    check_gold=must_be_number,
    sample=(
        (Arithmetic("ONE_STEP", spaced=True, pointed=True), 30),
        (Arithmetic("ADD_SUB", decimals=True, spaced=True, pointed=True), 20),
        (Arithmetic("BELOW_ZERO", spaced=True, pointed=True), 10),
    ),
)
