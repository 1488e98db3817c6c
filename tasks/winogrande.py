"""WinoGrande: which of two nouns a gap stands for, judged by the first `optionN`.

Question: The box did not fit into the bag because the _ was too big.
Option1: bag Option2: box
Answer: the correct answer is option2

Sakaguchi et al., 2020. WinoGrande: An Adversarial Winograd Schema Challenge at Scale. A single
space stands before "Answer format", where the other sets have a blank line.
"""

from tasks.answers.choices import completions, must_be_offered
from tasks.answers.options import OPTIONS, first_of, same_option, stated_of
from tasks.contract import Benchmark, published_file
from tasks.samples.choices import Blank

benchmark = Benchmark(
    title="WinoGrande",
    file=published_file(
        "WinoGrande",
        "winogrande",
        sha256="6946f5209e7114c65c6d04f8f644c5a061af20d730b1cfe158fff3dc44076fb9",
        rows=1267,
        licence="CC BY 4.0",
    ),
    extractors={"llm-adapters": first_of(*OPTIONS), "strict": stated_of(*OPTIONS)},
    judge=same_option,
    check_gold=must_be_offered,
    options=completions,
    sample=((Blank(), 60),),
)
