"""iCliniq: questions of patients, answered by doctors.

Question: My knee hurts after running. What should I do?
Answer: Rest it for a week and cool it. If it still hurts, see an orthopaedist.

As ChatDoctor gathered it (Li et al., 2023), 7,321 rows. The substitute is another, smaller
gathering from the same site.
"""

from tasks.contract import Benchmark, DataFile
from tasks.samples.instructions import Advice

benchmark = Benchmark(
    title="iCliniq",
    file=DataFile(
        title="iCliniq",
        places=("multitask/icliniq/icliniq.json", "iCliniq/iCliniq.json"),
        sha256=None,
        rows=7321,
        source="gathered from icliniq.com by ChatDoctor",
        licence="not established",
    ),
    substitutes=(
        DataFile(
            title="substitute for iCliniq",
            places=("multitask/icliniq/icliniq_qas.json",),
            sha256="1e0b082abf3c53d353d495998bfd10cb3cb9525435d9d80dee54a5ae6222c80b",
            rows=465,
            source="LasseRegin/medical-question-answer-data, commit 685c916",
            licence="not established",
            kind="substitute",
        ),
    ),
    sample=((Advice(), 40),),
    metrics=("bleu", "rouge-l", "perplexity"),
)
