"""HellaSwag: how the description of an activity goes on, judged by the first `endingN`.

Question: Baking a cake: Mia breaks two eggs into a bowl of flour. Then Mia
Ending1: pedals uphill. Ending2: stirs the dough. Ending3: signs it. Ending4: feeds the dog.
Answer: the correct answer is ending2

Zellers et al., 2019. HellaSwag: Can a Machine Really Finish Your Sentence?

The file of LLM-Adapters was not at hand: its number of rows alone identifies it. The substitute has
the same rows in the same order, but from row 3,244 on it lacks WikiHow's markup, such as `[step]`:
scores are near but not the same. As both are called `hellaswag/test.json`, the published file is
looked for below `dataset/` and the substitute below `qa/`.
"""

from tasks.answers.choices import completions, must_be_offered
from tasks.answers.options import ENDINGS, first_of, same_option, stated_of
from tasks.contract import LLM_ADAPTERS, Benchmark, DataFile
from tasks.samples.choices import Continuation

benchmark = Benchmark(
    title="HellaSwag",
    file=DataFile(
        title="HellaSwag test set",
        places=("dataset/hellaswag/test.json", "hellaswag/test.json"),
        sha256=None,
        rows=10042,
        source="AGI-Edgerunners/LLM-Adapters, commit 8166572",
        licence="MIT",
        url=f"{LLM_ADAPTERS}dataset/hellaswag/test.json",
    ),
    substitutes=(
        DataFile(
            title="substitute for the HellaSwag test set",
            places=("qa/hellaswag/test.json",),
            sha256="f50fa0f3b243f7f7d2e768e3fd4a96b16af3ea189a1a679d1222727c05a1976d",
            rows=10042,
            source="klosax/hellaswag_text_data, commit 1105d37, put into the same wording",
            licence="MIT",
            kind="substitute",
        ),
    ),
    extractors={"llm-adapters": first_of(*ENDINGS), "strict": stated_of(*ENDINGS)},
    judge=same_option,
    check_gold=must_be_offered,
    options=completions,
    sample=((Continuation(), 60),),
)
