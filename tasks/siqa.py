"""SIQA: what people feel and do among people, judged by the first `answerN`.

Question: Tom won the race. How would Tom feel afterwards?
Answer1: sleepy Answer2: proud Answer3: cold
Answer: the correct answer is answer2

Sap et al., 2019. Social IQa: Commonsense Reasoning about Social Interactions. 24 prompts repeat, 5
of them with two different gold answers, so that 100 % is out of reach.
"""

from tasks.answers.choices import completions, must_be_offered
from tasks.answers.options import ANSWERS, first_of, same_option, stated_of
from tasks.contract import Benchmark, published_file
from tasks.samples.choices import Feeling

benchmark = Benchmark(
    title="SIQA",
    file=published_file(
        "SIQA",
        "social_i_qa",
        sha256="71543f41127451945379d106ffedaef502f1c8770dff6d2f543aca85e3080b1d",
        rows=1954,
        licence="CC BY 4.0",
    ),
    extractors={"llm-adapters": first_of(*ANSWERS), "strict": stated_of(*ANSWERS)},
    judge=same_option,
    check_gold=must_be_offered,
    options=completions,
    sample=((Feeling(), 60),),
)
