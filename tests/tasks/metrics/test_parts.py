"""Metrics of texts from summed parts are those of the metrics themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.metrics import overlap
from tasks.metrics.parts import PARTS, SCORES

WORDS = st.lists(st.sampled_from(["a", "cat", "sat", "on", "the", "mat", "."]), max_size=9)
TEXTS = st.lists(st.tuples(WORDS.map(" ".join), WORDS.map(" ".join)), min_size=1, max_size=6)


@given(TEXTS)
def test_bleu_of_summed_counts_is_the_corpus_bleu_of_sacrebleu(
    pairs: list[tuple[str, str]],
) -> None:
    texts, references = zip(*pairs, strict=True)
    expected = overlap.bleu(texts, references).value
    assert SCORES["bleu"](PARTS["bleu"](texts, references).sum(axis=0)) == pytest.approx(expected)


def test_a_mean_over_texts_is_that_of_the_metric() -> None:
    texts, references = ["the cat sat", "on a mat"], ["the cat sat down", "a mat"]
    parts = PARTS["rouge-l"](texts, references)
    assert SCORES["rouge-l"](parts.sum(axis=0)) == pytest.approx(
        overlap.rouge_l(texts, references).value
    )


def test_a_perplexity_is_scored_by_the_mean_loss_of_a_token() -> None:
    # Losses 2 of 4 tokens and 10 of 6: 12 / 10; a text without a token changes nothing.
    sums = np.array([[2.0, 4.0], [10.0, 6.0], [0.0, 0.0]]).sum(axis=0)
    assert SCORES["perplexity"](sums) == pytest.approx(1.2)
