"""From what a run kept to scores: run folders written by hand, scores worked out by hand."""

import json
from collections.abc import Callable, Sequence
from math import log
from pathlib import Path
from typing import Any

import pytest

from harness.protocols import llm_adapters, paper
from harness.scoring.score import score
from harness.spec.recipe import Recipe
from harness.spec.spec import Data, Spec
from harness.worker.rows import Rows
from results.record import POOLED, Score
from results.runfolder.folder import RunFolder
from tasks.contract import Row

Scored = dict[tuple[str, str, str], Score]
Line = dict[str, Any]


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    made = RunFolder(tmp_path)
    made.write("adapter/train.json", {"rows": 20, "dropped": 0, "cut": 0})
    return made


@pytest.fixture
def judged(folder: RunFolder, spec: Callable[..., Spec]) -> Callable[..., tuple[Scored, list[str]]]:
    """Score rows and completions by benchmark; each score as the record takes it."""

    def judge(
        rows: dict[str, Sequence[Row]],
        train: Sequence[Row] = (),
        batch_size: int = 2,
        **changes: Any,
    ) -> tuple[Scored, list[str]]:
        data = Data(title="sample", kind="sample", sha256="ab" * 32, verified=True, rows=9)
        one = spec(tests=dict.fromkeys(rows, data), train=Recipe(batch_size=batch_size), **changes)
        tests = {name: tuple(found) for name, found in rows.items()}
        found = score(folder, one, Rows(tuple(train), (), tests))
        assert json.loads(json.dumps(found)) == found
        scores = [Score(**fields) for fields in found["scores"]]
        by_name = {(one.benchmark, one.metric, one.extractor): one for one in scores}
        assert len(by_name) == len(scores), "two scores of one name"
        return by_name, found["flags"]

    return judge


def generated(folder: RunFolder, name: str, *texts: str, **more: Any) -> None:
    line = {"tokens": 9, "ended": True, "long": False, **more}
    lines = [{"id": number, **line, "text": text} for number, text in enumerate(texts)]
    folder.write_lines(f"generations/{name}.jsonl", lines)


def problems(*answers: str) -> list[Row]:
    return [Row(n, f"Problem {n}: how many?", "", answer) for n, answer in enumerate(answers)]


SAID = (
    "2 + 5 = 7. The answer is 7.",  # 7 by both
    "The answer is 8. She has 3 hats left.",  # 3 by the last number, 8 as stated
    "2 boxes of 9",  # 9 by the last number, nothing stated
    "I do not know.",  # nothing by both
    "12:30",  # 30 by the last number, nothing stated
)
GOLD = ("7", "8", "9", "2", "4")


def test_each_extractor_has_its_accuracy_and_its_share_that_could_not_be_read(
    folder: RunFolder, judged: Callable[..., tuple[Scored, list[str]]]
) -> None:
    generated(folder, "gsm8k", *SAID)
    scores, flags = judged({"gsm8k": problems(*GOLD)})
    loose = scores["gsm8k", "accuracy", "llm-adapters"]
    strict = scores["gsm8k", "accuracy", "strict"]
    assert (loose.value, loose.n, loose.unparsed, loose.headline) == (2 / 5, 5, 1, True)
    assert (strict.value, strict.n, strict.unparsed, strict.headline) == (2 / 5, 5, 3, False)
    assert flags == ["gsm8k: no answer found in 20 %"]


def test_verdicts_say_row_by_row_what_was_extracted_and_whether_it_is_right(
    folder: RunFolder, judged: Callable[..., tuple[Scored, list[str]]]
) -> None:
    generated(folder, "gsm8k", *SAID)
    judged({"gsm8k": problems(*GOLD)})
    lines = folder.read_lines("verdicts/gsm8k.jsonl")
    assert [line["id"] for line in lines] == [0, 1, 2, 3, 4]
    assert [line["correct"]["llm-adapters"] for line in lines] == [True, False, True, False, False]
    assert [line["correct"]["strict"] for line in lines] == [True, True, False, False, False]
    assert lines[3]["extracted"] == {"llm-adapters": "", "strict": ""}


def test_the_protocol_says_which_extractor_gives_the_headline(
    folder: RunFolder, judged: Callable[..., tuple[Scored, list[str]]]
) -> None:
    generated(folder, "gsm8k", *SAID)
    protocol = paper.protocol.model_copy(update={"extractor": "strict"})
    scores, _ = judged({"gsm8k": problems(*GOLD)}, protocol=protocol)
    found = {(one.metric, one.extractor) for one in scores.values() if one.headline}
    assert found == {("accuracy", "strict")}
    assert scores["gsm8k", "clean accuracy", "strict"].value == 2 / 5


def test_the_clean_accuracy_is_over_the_rows_that_are_not_in_the_training_set(
    folder: RunFolder, judged: Callable[..., tuple[Scored, list[str]]]
) -> None:
    generated(folder, "gsm8k", *SAID)
    seen = [Row(0, "problem 0 - HOW many", "7", ""), Row(1, "Problem 0: how few?", "7", "")]
    scores, _ = judged({"gsm8k": problems(*GOLD)}, train=seen)
    clean = scores["gsm8k", "clean accuracy", "llm-adapters"]
    assert (clean.value, clean.n, clean.headline) == (1 / 4, 4, False)
    assert scores["gsm8k", "accuracy", "llm-adapters"].n == 5


def test_where_every_row_was_trained_on_there_is_no_clean_accuracy(
    folder: RunFolder, judged: Callable[..., tuple[Scored, list[str]]]
) -> None:
    generated(folder, "gsm8k", *SAID)
    rows = problems(*GOLD)
    scores, _ = judged({"gsm8k": rows}, train=rows)
    assert {metric for _, metric, _ in scores} == {"accuracy"}


def test_what_follows_the_protocols_stop_is_no_part_of_an_answer(
    folder: RunFolder, judged: Callable[..., tuple[Scored, list[str]]]
) -> None:
    generated(folder, "gsm8k", "It is 7.\n\n### Response: 12")
    by_name = {}
    for protocol in (paper.protocol, llm_adapters.protocol):
        scores, _ = judged({"gsm8k": problems("7")}, protocol=protocol)
        by_name[protocol.id] = scores["gsm8k", "accuracy", "llm-adapters"].value
    assert by_name == {"paper": 0, "llm-adapters": 1}


QUESTION = "Is it?\n\nAnswer format: true/false"


def test_the_option_of_the_highest_likelihood_is_an_answer_without_extraction(
    folder: RunFolder, judged: Callable[..., tuple[Scored, list[str]]]
) -> None:
    generated(folder, "boolq", *4 * ["true"])
    options = [
        {"true": -3.0, "false": -3.5},  # true
        {"true": -9.0, "false": -0.5},  # false
        {"false": -2.0, "true": -1.0},  # true
        {"true": -1.0, "false": -1.0},  # equal: the first
    ]
    lines = [{"id": number, "options": one} for number, one in enumerate(options)]
    folder.write_lines("likelihoods/boolq.jsonl", lines)
    gold = ("true", "false", "false", "true")
    rows = [Row(n, QUESTION, "", answer) for n, answer in enumerate(gold)]
    scores, _ = judged({"boolq": rows})
    found = scores["boolq", "option likelihood", ""]
    assert (found.value, found.n, found.headline) == (3 / 4, 4, True)
    assert scores["boolq", "accuracy", "llm-adapters"].value == 2 / 4


# Six words of which five agree, in order: 5 of 6 words, 4 of 5 pairs, 3 of 4 triples, 2 of 3 fours.
NEARLY, NEARLY_SAID = "a b c d e f", "a b c d e g"
EXACT = "p q r s"
REFERENCES = {"dolly": [Row(0, "?", NEARLY, "")], "webgpt": [Row(0, "?", EXACT, "")]}


@pytest.fixture
def texts(folder: RunFolder) -> RunFolder:
    generated(folder, "dolly", NEARLY_SAID)
    generated(folder, "webgpt", EXACT)
    likelihood: dict[str, Line] = {
        # Per token of the answer 1/2 and 1/32; of the whole text 1/2 and 1/4.
        "dolly": {"answer": 3 * log(2), "answer_tokens": 3, "text": 4 * log(2), "text_tokens": 4},
        "webgpt": {"answer": 5 * log(2), "answer_tokens": 1, "text": 4 * log(2), "text_tokens": 2},
    }
    for name, line in likelihood.items():
        folder.write_lines(f"likelihoods/{name}.jsonl", [line])
    return folder


@pytest.mark.usefixtures("texts")
def test_bleu_per_set_and_over_all_is_that_of_counting_by_hand(
    judged: Callable[..., tuple[Scored, list[str]]],
) -> None:
    scores, _ = judged(REFERENCES)
    expected = {
        "dolly": 5 / 6 * 4 / 5 * 3 / 4 * 2 / 3,
        "webgpt": 1.0,
        # Counts are summed before they are divided: 9 of 10, 7 of 8, 5 of 6, 3 of 4.
        POOLED: 9 / 10 * 7 / 8 * 5 / 6 * 3 / 4,
    }
    for name, product in expected.items():
        found = scores[name, "bleu", ""]
        assert found.value == pytest.approx(100 * product**0.25), name
        assert "version:" in found.signature  # sacreBLEU's own
        assert found.headline
    mean = (scores["dolly", "bleu", ""].value + 100) / 2
    sentence = scores[POOLED, "sentence bleu", ""]
    assert sentence.value == pytest.approx(mean)
    assert not sentence.headline


@pytest.mark.usefixtures("texts")
def test_rouge_l_per_set_and_over_all_is_that_of_counting_by_hand(
    judged: Callable[..., tuple[Scored, list[str]]],
) -> None:
    # The longest common subsequence has 5 of 6 words on both sides.
    scores, _ = judged(REFERENCES)
    values = [scores[name, "rouge-l", ""].value for name in ("dolly", "webgpt", POOLED)]
    assert values == pytest.approx([100 * 5 / 6, 100, 100 * (5 / 6 + 1) / 2])
    assert [scores[name, "rouge-l", ""].n for name in ("dolly", POOLED)] == [1, 2]


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize(
    # In one batch 8 log 2 over 6 tokens; in two, the mean of log 2 and 2 log 2.
    ("batch_size", "by_batches"),
    [(2, 2 ** (8 / 6)), (1, 2**1.5)],
)
def test_perplexity_counts_tokens_and_hycams_counts_batches_under_another_name(
    batch_size: int, by_batches: float, judged: Callable[..., tuple[Scored, list[str]]]
) -> None:
    scores, _ = judged(REFERENCES, batch_size=batch_size)
    expected = {"dolly": (2, 3), "webgpt": (32, 1), POOLED: (2 ** (8 / 4), 4)}
    for name, (value, tokens) in expected.items():
        found = scores[name, "perplexity", ""]
        assert found.value == pytest.approx(value)
        assert (found.n, found.headline) == (tokens, True)
    found = scores[POOLED, "perplexity (hycam)", ""]
    assert found.value == pytest.approx(by_batches)
    assert (found.n, found.headline) == (6, False)


@pytest.mark.usefixtures("texts")
def test_texts_have_no_accuracy_and_no_verdicts(
    folder: RunFolder, judged: Callable[..., tuple[Scored, list[str]]]
) -> None:
    scores, flags = judged(REFERENCES)
    shown = {one.metric for one in scores.values() if one.headline}
    assert shown == {"bleu", "rouge-l", "perplexity"}
    assert {one.metric for one in scores.values()} == shown | {
        "sentence bleu",
        "perplexity (hycam)",
    }
    assert not folder.has("verdicts/dolly.jsonl")
    assert flags == []


def test_a_perplexity_beyond_the_largest_number_is_left_out(
    texts: RunFolder, judged: Callable[..., tuple[Scored, list[str]]]
) -> None:
    line = {"answer": 1e5, "answer_tokens": 1, "text": 4 * log(2), "text_tokens": 4}
    texts.write_lines("likelihoods/dolly.jsonl", [line])
    scores, _ = judged(REFERENCES)
    assert {name for name, metric, _ in scores if metric == "perplexity"} == {"webgpt"}
    assert {name for name, metric, _ in scores if metric == "bleu"} == {"dolly", "webgpt", POOLED}


def test_references_that_were_cut_for_perplexity_are_counted_in_flags(
    texts: RunFolder, judged: Callable[..., tuple[Scored, list[str]]]
) -> None:
    (line,) = texts.read_lines("likelihoods/dolly.jsonl")
    texts.write_lines("likelihoods/dolly.jsonl", [{**line, "cut": True}])
    _, flags = judged(REFERENCES)
    assert len(flags) == 1
    assert flags[0].startswith("dolly: 1 references")
    assert "cut for perplexity" in flags[0]


def test_a_set_none_of_whose_references_could_be_read_has_no_perplexity(
    texts: RunFolder, judged: Callable[..., tuple[Scored, list[str]]]
) -> None:
    # A prompt that fills the model's context leaves no token of the answer.
    line = {"answer": 0.0, "answer_tokens": 0, "text": 4 * log(2), "text_tokens": 4, "cut": True}
    texts.write_lines("likelihoods/dolly.jsonl", [line])
    scores, _ = judged(REFERENCES)
    assert ("dolly", "perplexity", "") not in scores
    assert scores["webgpt", "perplexity", ""].value == pytest.approx(32)


def test_meteor_is_measured_or_said_to_be_missing_and_never_zero(
    folder: RunFolder, judged: Callable[..., tuple[Scored, list[str]]]
) -> None:
    generated(folder, "convai2", "i like red hats .")
    line = {"answer": log(2), "answer_tokens": 1, "text": log(2), "text_tokens": 1}
    folder.write_lines("likelihoods/convai2.jsonl", [line])
    scores, flags = judged({"convai2": [Row(0, "?", "i like red hats .", "")]})
    measured = [one.value for one in scores.values() if one.metric == "meteor"]
    missing = [flag for flag in flags if flag.startswith("meteor is not measured: ")]
    assert (len(measured), len(missing)) in {(2, 0), (0, 1)}
    assert all(value > 90 for value in measured)
    assert all("wordnet" in flag for flag in missing)


def test_degenerate_answers_are_flagged_by_benchmark(
    folder: RunFolder, judged: Callable[..., tuple[Scored, list[str]]]
) -> None:
    generated(folder, "boolq", *20 * ["the correct answer is true"])
    lines = [{"id": n, "options": {"true": -1.0, "false": -2.0}} for n in range(20)]
    folder.write_lines("likelihoods/boolq.jsonl", lines)
    rows = [Row(n, QUESTION, "", ("true", "false")[n % 2]) for n in range(20)]
    generated(folder, "gsm8k", *3 * [""], ended=False)
    _, flags = judged({"boolq": rows, "gsm8k": problems("1", "2", "3")})
    assert flags == [
        "boolq: always the same answer: true (100 %)",
        "gsm8k: empty: 100 %",
        "gsm8k: cut at the limit: 100 %",
        "gsm8k: no answer found in 100 %",
    ]


def test_prompts_beyond_the_limit_and_rows_cut_or_dropped_are_counted_in_flags(
    folder: RunFolder, judged: Callable[..., tuple[Scored, list[str]]]
) -> None:
    generated(folder, "gsm8k", "1", "2", long=True)
    folder.write("adapter/train.json", {"rows": 20, "dropped": 3, "cut": 4})
    _, flags = judged({"gsm8k": problems("1", "2")})
    assert flags[0].startswith("gsm8k: 2 prompts longer than the limit")
    assert flags[1].startswith("3 training rows dropped")
    assert flags[2].startswith("4 training rows cut")
    assert len(flags) == 3
