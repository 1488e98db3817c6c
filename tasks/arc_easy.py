"""ARC-Easy: the easier questions of school science, judged by the first `answerN`.

Question: Which of these is a metal?
Answer1: dog Answer2: tea Answer3: desk Answer4: iron
Answer: the correct answer is answer4

Clark et al., 2018. Think you have Solved Question Answering? Try ARC, the AI2 Reasoning Challenge.
7 rows have three options and 4 rows five; one gold answer is `answer5`.
"""

from tasks.answers.choices import completions, must_be_offered
from tasks.answers.options import ANSWERS, first_of, same_option, stated_of
from tasks.contract import Benchmark, published_file
from tasks.samples.choices import Membership

benchmark = Benchmark(
    title="ARC-Easy",
    file=published_file(
        "ARC-Easy",
        "ARC-Easy",
        sha256="3f32a84716ca6d57d38728bf80cc8117aecd17445c2cf29a68b571b810eb82dc",
        rows=2376,
        licence="CC BY-SA 4.0",
    ),
    extractors={"llm-adapters": first_of(*ANSWERS), "strict": stated_of(*ANSWERS)},
    judge=same_option,
    check_gold=must_be_offered,
    options=completions,
    sample=((Membership("CLASSES", ("Which of these is {}?", "Which one is {}?")), 60),),
)
