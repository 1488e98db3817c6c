"""ARC-Challenge: school science that retrieval gets wrong, judged by the first `answerN`.

Question: Which of these is the heaviest?
Answer1: an egg Answer2: a car Answer3: a coin Answer4: a brick
Answer: the correct answer is answer2

Clark et al., 2018. Think you have Solved Question Answering? Try ARC, the AI2 Reasoning Challenge.
4 rows have three options and 3 rows five.
"""

from tasks.answers.choices import completions, must_be_offered
from tasks.answers.options import ANSWERS, first_of, same_option, stated_of
from tasks.contract import Benchmark, published_file
from tasks.samples.choices import Extreme

benchmark = Benchmark(
    title="ARC-Challenge",
    file=published_file(
        "ARC-Challenge",
        "ARC-Challenge",
        sha256="4a89ce368ae01a71d268d9851686738b2a0a1d84271116bab49a1dd2b48ecad7",
        rows=1172,
        licence="CC BY-SA 4.0",
    ),
    extractors={"llm-adapters": first_of(*ANSWERS), "strict": stated_of(*ANSWERS)},
    judge=same_option,
    check_gold=must_be_offered,
    options=completions,
    sample=((Extreme(), 60),),
)
