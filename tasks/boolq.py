"""BoolQ: yes-or-no questions of search users, judged by the first `true` or `false`.

Question: is a stone heavier than a feather?
Answer: the correct answer is true

Clark et al., 2019. BoolQ: Exploring the Surprising Difficulty of Natural Yes/No Questions. The
passage that holds the answer is left out here. Always to say `true` is right in 62.17 % of rows.
"""

from tasks.answers.choices import completions, must_be_offered
from tasks.answers.options import TRUTH, first_of, same_option, stated_of
from tasks.contract import Benchmark, published_file
from tasks.samples.choices import Comparison

benchmark = Benchmark(
    title="BoolQ",
    file=published_file(
        "BoolQ",
        "boolq",
        sha256="89df2397cbca81dc31adcc6f7f5b635821aa0565aafde46725b2b4bd39b4dfa9",
        rows=3270,
        licence="CC BY-SA 3.0",
    ),
    extractors={"llm-adapters": first_of(*TRUTH), "strict": stated_of(*TRUTH)},
    judge=same_option,
    check_gold=must_be_offered,
    options=completions,
    sample=((Comparison(), 60),),
)
