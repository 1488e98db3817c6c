"""BLEU, ROUGE-L and METEOR, against values worked out by hand from their definitions.

The first pair has 6 words on each side: 5 words, 3 of 5 pairs, 2 of 4 triples and 1 of 3 fours of
the hypothesis are in the reference. The second has all 4, 3, 2 and 1 of them, and lacks a word.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from math import exp, isclose
from pathlib import Path

import nltk
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.corpus.reader import WordNetCorpusReader
from nltk.corpus.util import LazyCorpusLoader

from tasks.metrics.overlap import (
    Measured,
    MetricUnavailableError,
    bleu,
    meteor,
    rouge_l,
    sentence_bleu,
)

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

HYPOTHESES = ["the cat sat on the mat", "a dog barks loudly"]
REFERENCES = ["the cat sat on a mat", "a dog barks loudly now"]
Metric = Callable[[Sequence[str], Sequence[str]], Measured]
METRICS: tuple[Metric, ...] = (bleu, sentence_bleu, rouge_l)
TEXTS = st.text() | st.text("ab .,\n-&", max_size=20)


def wordnet_of(words: str, folder: Path) -> None:
    """Write the files of a WordNet whose one synonym set is of these nouns.

    Their format is described in wndb(5WN) of WordNet.
    """
    nouns = words.split()
    members = "".join(f"{noun} 0 " for noun in nouns)
    files = {
        "data.adj": "  1 WordNet 3.0 Copyright\n",
        "data.noun": f"00000000 00 n {len(nouns):02x} {members}000 | made for a test\n",
        "index.noun": "".join(f"{noun} n 1 0 1 0 00000000\n" for noun in sorted(nouns)),
        "index.sense": "".join(f"{noun}%1:00:00:: 00000000 1 0\n" for noun in sorted(nouns)),
        "lexnames": "00\tnoun.Tops\t1\n",
        "cntlist.rev": "",
    }
    empty = [
        f"{kind}.{pos}" for kind in ("data", "index") for pos in ("adj", "adv", "noun", "verb")
    ]
    exceptions = [f"{pos}.exc" for pos in ("adj", "adv", "noun", "verb")]
    folder.mkdir(parents=True)
    for name in [*empty, *exceptions, *files]:
        (folder / name).write_text(files.get(name, ""))


@pytest.fixture
def nltk_data(tmp_path: Path) -> Iterator[Path]:
    """A data folder of nltk with nothing in it, and nothing loaded from another."""
    gc.freeze()  # What is there already takes a second to look through.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nltk.data, "path", [str(tmp_path)])
        # The omw is for other languages than English, and never read.
        patch.setattr(
            nltk.corpus, "wordnet", LazyCorpusLoader("wordnet", WordNetCorpusReader, "no omw")
        )
        yield tmp_path
    gc.collect()  # Here, where the warnings of nltk's open files are ignored.


@pytest.fixture
def cars(nltk_data: Path) -> None:
    wordnet_of("car auto automobile", nltk_data / "corpora" / "wordnet")


def test_corpus_bleu_divides_the_sums_of_all_texts() -> None:
    # 5 + 4 of 10 words, 3 + 3 of 8 pairs, 2 + 2 of 6 triples, 1 + 1 of 4; 10 words for 11.
    expected = 100 * exp(1 - 11 / 10) * (9 / 10 * 6 / 8 * 4 / 6 * 2 / 4) ** 0.25
    assert isclose(bleu(HYPOTHESES, REFERENCES).value, expected)


def test_sentence_bleu_is_the_mean_of_that_of_each_text() -> None:
    first, second = (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25, exp(1 - 5 / 4)
    assert isclose(sentence_bleu(HYPOTHESES, REFERENCES).value, 100 * (first + second) / 2)


def test_in_a_text_of_two_words_sentence_bleu_counts_two_orders() -> None:
    assert isclose(sentence_bleu(["hello there"], ["hello there"]).value, 100)
    assert bleu(["hello there"], ["hello there"]).value == 0


def test_rouge_l_is_the_mean_f1_of_the_longest_common_subsequence() -> None:
    # 5 of 6 and 6 words; 4 of 4 and 5 words.
    expected = 100 * (5 / 6 + 2 * 4 / (4 + 5)) / 2
    assert isclose(rouge_l(HYPOTHESES, REFERENCES).value, expected)


def test_rouge_l_does_not_stem() -> None:
    assert rouge_l(["dogs barking"], ["dog barks"]).value == 0


def test_signatures_tell_the_metrics_apart() -> None:
    settings = f"tok:13a|smooth:exp|version:{version('sacrebleu')}"
    signatures = [metric(HYPOTHESES, REFERENCES).signature for metric in METRICS]
    assert signatures == [
        f"nrefs:1|case:mixed|eff:no|{settings}",
        f"mean-of-sentences|nrefs:1|case:mixed|eff:yes|{settings}",
        f"rouge-score:{version('rouge-score')}|rougeL|f1|stem:no",
    ]


@pytest.mark.parametrize("metric", METRICS)
def test_an_empty_hypothesis_scores_0_and_stays_in_the_mean(metric: Metric) -> None:
    half = metric(["", "one two three four"], ["five six", "one two three four"])
    assert metric([""], ["five six"]).value == 0
    assert 0 < half.value < 100


@pytest.mark.parametrize("metric", METRICS)
def test_a_line_break_is_a_space(metric: Metric) -> None:
    found = metric(["one two\nthree four"], ["one\ntwo three\n\nfour\n"])
    assert isclose(found.value, 100)


@pytest.mark.parametrize("metric", [*METRICS, meteor])
@pytest.mark.parametrize(("hypotheses", "references"), [([], []), (["a"], []), (["a"], ["a", "b"])])
def test_texts_without_a_partner_are_refused(
    metric: Metric, hypotheses: list[str], references: list[str]
) -> None:
    with pytest.raises(ValueError, match=f"{len(hypotheses)} hypotheses and {len(references)} ref"):
        metric(hypotheses, references)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
@settings(max_examples=50)
def test_any_text_has_a_score_in_percent(pairs: list[tuple[str, str]]) -> None:
    hypotheses, references = zip(*pairs, strict=True)
    for metric in METRICS:
        assert 0 <= metric(hypotheses, references).value <= 100 + 1e-9


@pytest.mark.usefixtures("cars")
@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [
        # Matches, precision and recall, runs of matches; 1 - (runs / matches) ** 3 / 2 of the mean.
        ("The car stopped.", "the auto stopped .", 1 - (1 / 4) ** 3 / 2),
        ("the cat stopped", "the auto stopped", 2 / 3 * (1 - (2 / 2) ** 3 / 2)),
        ("he stops", "he stopping", 1 - (1 / 2) ** 3 / 2),
        # Precision 1, recall 1/2: their mean has nine parts of recall.
        ("he", "he stops", 1 / (0.9 / (1 / 2) + 0.1) * (1 - 1 / 2)),
        ("no match", "at all", 0),
        ("", "at all", 0),
    ],
    ids=["synonym", "exact", "stem", "recall", "nothing", "empty"],
)
def test_meteor_matches_words_stems_and_synonyms(
    hypothesis: str, reference: str, expected: float
) -> None:
    both = meteor([hypothesis, "same"], [reference, "same"])
    assert isclose(both.value, 100 * (expected + 1 / 2) / 2)


@pytest.mark.usefixtures("cars")
def test_the_signature_of_meteor_names_its_wordnet() -> None:
    program = f"nltk:{version('nltk')}|wordnet:3.0"
    signature = f"{program}|meteor|tok:wordpunct|case:lc|stem:porter"
    assert meteor(["a"], ["a"]).signature == signature


def test_meteor_without_wordnet_says_what_to_do(nltk_data: Path) -> None:
    with pytest.raises(MetricUnavailableError) as refused:
        meteor(HYPOTHESES, REFERENCES)
    for part in ("python -m nltk.downloader wordnet", "wordnet.zip", "NLTK_DATA"):
        assert part in str(refused.value)


def test_meteor_with_half_a_wordnet_is_unavailable(nltk_data: Path) -> None:
    (nltk_data / "corpora" / "wordnet").mkdir(parents=True)
    with pytest.raises(MetricUnavailableError, match="WordNet"):
        meteor(HYPOTHESES, REFERENCES)


def test_meteor_with_wordnet_3_is_that_of_the_example_of_nltk() -> None:
    hypothesis = "It is a guide to action which ensures that the military always obeys the"
    reference = "It is a guide to action that ensures that the military will forever heed"
    try:
        found = meteor([f"{hypothesis} commands of the party"], [f"{reference} Party commands"])
    except MetricUnavailableError:
        pytest.skip("WordNet is not on this machine")
    assert round(found.value, 2) == 69.44
