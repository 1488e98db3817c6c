"""OBQA: elementary science from a fact and common knowledge, judged by the first `answerN`.

Question: Something that gives light is
Answer1: a lamp Answer2: a saw Answer3: a map Answer4: a crab
Answer: the correct answer is answer1

Mihaylov et al., 2018. Can a Suit of Armor Conduct Electricity? A New Dataset for Open Book Question
Answering. Many questions are sentences to complete, without a question mark. The book is not given.
"""

from tasks.answers.choices import completions, must_be_offered
from tasks.answers.options import ANSWERS, first_of, same_option, stated_of
from tasks.contract import Benchmark, published_file
from tasks.samples.choices import Membership

benchmark = Benchmark(
    title="OBQA",
    file=published_file(
        "OBQA",
        "openbookqa",
        sha256="8479930f7b8a26052c78250280b5465a4016ca7fc806af440d0f37e243f3099e",
        rows=500,
        licence="Apache-2.0",
    ),
    extractors={"llm-adapters": first_of(*ANSWERS), "strict": stated_of(*ANSWERS)},
    judge=same_option,
    check_gold=must_be_offered,
    options=completions,
    sample=(
        (
            Membership(
                "PROPERTIES",
                (
                    "Something that {} is",
                    "An example of something that {} is",
                    "Which of these {}?",
                ),
                four=True,
            ),
            60,
        ),
    ),
)
