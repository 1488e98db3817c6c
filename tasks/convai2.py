"""ConvAI2: replies in a dialogue that keep to a persona, from persona and history.

Persona: I bake on Sundays. They: What do you do on a Sunday?
Reply: I bake bread, as every week.

Dinan et al., 2019. The Second Conversational Intelligence Challenge. Its test set is hidden, so
that its validation split is tested on: 1,000 dialogues, a row for each of their 7,801 replies.
"""

from tasks.contract import Benchmark, DataFile
from tasks.samples.chats import Chat

benchmark = Benchmark(
    title="ConvAI2",
    file=DataFile(
        title="ConvAI2",
        places=(
            "dialogue/convai2/valid_self_original_no_cands.txt",
            "ConvAI2/valid_self_original_no_cands.txt",
        ),
        sha256="7e26e8a266583dfe21fd2df4c651a2831dceeb7c87be9c7bb517974d9979c363",
        rows=7801,
        source="ParlAI, task convai2, validation split, self_original_no_cands",
        licence="Persona-Chat/ConvAI2 as distributed with ParlAI (MIT)",
    ),
    sample=((Chat(), 40),),
    metrics=("bleu", "meteor", "rouge-l", "perplexity"),
)
