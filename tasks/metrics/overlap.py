"""Words that a generated text shares with its reference: BLEU, ROUGE-L, METEOR, in percent.

Each score carries the signature of how it was made; scores of two signatures do not compare.
An empty hypothesis is a text that shares nothing: it scores 0 and stays in every mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from statistics import fmean

Texts = Sequence[str]


class MetricUnavailableError(Exception):
    """A metric lacks data on this machine; the message says what to put where."""


@dataclass(frozen=True)
class Measured:
    """A score with its origin.

    Attributes:
        value: In percent, 0 to 100; sacrebleu's sums may end a rounding error above.
        signature: Program, version and settings, as fields between `|`.
    """

    value: float
    signature: str


def bleu(hypotheses: Texts, references: Texts) -> Measured:
    """Measure corpus BLEU-4: n-gram counts are summed over all texts before they are divided.

    Papineni et al., 2002, by sacrebleu (Post, 2018), whose signature is kept as it is.

    Raises:
        ValueError: No texts, or not as many references as hypotheses.
    """
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415 (start-up time)

    _check(hypotheses, references)
    metric = BLEU(force=True)  # Else it warns of published sets that are tokenised, as ConvAI2.
    value = metric.corpus_score(hypotheses, [references]).score
    return Measured(value, str(metric.get_signature()))


def sentence_bleu(hypotheses: Texts, references: Texts) -> Measured:
    """Measure the mean of sentence BLEU, which is not corpus BLEU.

    In a text of fewer than four words only the orders that it has count (`eff:yes`).

    Raises:
        ValueError: No texts, or not as many references as hypotheses.
    """
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415 (start-up time)

    _check(hypotheses, references)
    metric = BLEU(effective_order=True)
    pairs = zip(hypotheses, references, strict=True)
    value = fmean(metric.sentence_score(text, [reference]).score for text, reference in pairs)
    return Measured(value, f"mean-of-sentences|{metric.get_signature()}")


def rouge_l(hypotheses: Texts, references: Texts) -> Measured:
    """Measure the mean F1 of the longest common subsequence of words, without stemming.

    Lin, 2004, by rouge-score, for which only the letters a to z and digits make words: a line
    break is a space, and texts in other scripts score 0.

    Raises:
        ValueError: No texts, or not as many references as hypotheses.
    """
    from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415 (start-up time)

    _check(hypotheses, references)
    score = RougeScorer(["rougeL"], use_stemmer=False).score
    pairs = zip(hypotheses, references, strict=True)
    value = fmean(score(reference, text)["rougeL"].fmeasure for text, reference in pairs)
    return Measured(100 * value, f"rouge-score:{version('rouge-score')}|rougeL|f1|stem:no")


def meteor(hypotheses: Texts, references: Texts) -> Measured:
    """Measure the mean of METEOR: words equal, of equal stem, or synonyms in WordNet.

    Lavie and Agarwal, 2007, by nltk with its defaults, alpha 0.9, beta 3 and gamma 0.5, on lower
    case words and signs. nltk looks for synonyms among stems, so that it misses those of words
    that stemming changes, as `car` for `automobile`.

    Raises:
        MetricUnavailableError: WordNet is not on this machine.
        ValueError: No texts, or not as many references as hypotheses.
    """
    from nltk.corpus import wordnet  # noqa: PLC0415 (start-up time)
    from nltk.tokenize import wordpunct_tokenize  # noqa: PLC0415
    from nltk.translate.meteor_score import single_meteor_score  # noqa: PLC0415

    _check(hypotheses, references)
    try:
        wordnet.ensure_loaded()
    except (LookupError, OSError) as error:
        raise MetricUnavailableError(NO_WORDNET) from error
    value = fmean(
        single_meteor_score(
            wordpunct_tokenize(reference), wordpunct_tokenize(text), wordnet=wordnet
        )
        for text, reference in zip(hypotheses, references, strict=True)
    )
    program = f"nltk:{version('nltk')}|wordnet:{wordnet.get_version()}"
    return Measured(100 * value, f"{program}|meteor|tok:wordpunct|case:lc|stem:porter")


NO_WORDNET = (
    "METEOR needs WordNet, which is not on this machine. Get it by `python -m nltk.downloader "
    "wordnet`, or unpack packages/corpora/wordnet.zip of https://github.com/nltk/nltk_data as "
    "corpora/wordnet in a folder that NLTK_DATA names."
)


def _check(hypotheses: Texts, references: Texts) -> None:
    if not hypotheses or len(hypotheses) != len(references):
        raise ValueError(
            f"{len(hypotheses)} hypotheses and {len(references)} references; "
            "expected as many of both, and at least one."
        )
