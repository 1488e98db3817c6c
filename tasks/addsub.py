"""AddSub: one addition or subtraction, some of decimals, judged by the last number.

Question: There are 7 cups on the table . Ida took 3 . How many cups are there now ?
Answer: 7 - 3 = 4. The answer is 4.

Hosseini et al., 2014. Learning to Solve Arithmetic Word Problems with Verb Categorization. 126
gold answers are not whole; 111 questions stand in SingleEq too, and the training set of MAWPS, a
source of Math10K, holds 327.
"""

from tasks.answers.gold import must_be_number
from tasks.answers.numbers import last_number, stated_number, within_tolerance
from tasks.contract import Benchmark, published_file
from tasks.samples.problems import Arithmetic

benchmark = Benchmark(
    title="AddSub",
    file=published_file(
        "AddSub",
        "AddSub",
        sha256="62a8662b1ad40879953c4df0e61883a749d03aa3fc5e71f1cdb842b816e139ff",
        rows=395,
        licence="not established",
    ),
    extractors={"llm-adapters": last_number, "strict": stated_number},
    judge=within_tolerance,
    check_gold=must_be_number,
    sample=(
        (Arithmetic("ADD_SUB", spaced=True, padded=True), 40),
        (Arithmetic("ADD_SUB", decimals=True, spaced=True, padded=True), 20),
    ),
)
