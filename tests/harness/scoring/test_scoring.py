"""From what a run kept to scores: run folders written by hand, scores worked out by hand."""

from collections.abc import Callable, Mapping, Sequence
from math import inf, log, nan
from pathlib import Path
from typing import Any

import pytest

from harness.protocols import llm_adapters, paper
from harness.scoring.score import Judgement, score
from harness.spec.planned import PlannedRun
from harness.spec.recipe import Recipe
from harness.spec.spec import Data, Spec
from results.record import POOLED, Score
from results.runfolder.folder import RunFolder
from results.runfolder.values import (
    Generation,
    OptionLikelihoods,
    ReferenceLikelihood,
    TrainRecord,
)

Scored = dict[tuple[str, str, str], Score]
Judge = Callable[..., tuple[Scored, tuple[str, ...]]]

RECORD = TrainRecord(
    rows=20,
    cut=0,
    dropped=0,
    steps=5,
    tokens=99,
    best_step=5,
    best_validation_loss=1.0,
    tokens_per_second=9.0,
)


@pytest.fixture
def folder(tmp_path: Path, planned: Callable[..., PlannedRun]) -> RunFolder:
    """Make a run folder with its first files; places that lead nowhere are none to score."""
    made, one = RunFolder(tmp_path / "run"), planned(backbone_place="nowhere")
    made.create(one.head, {}, {"data_folder": "nowhere"})
    made.write_train_record(RECORD)
    return made


@pytest.fixture
def judged(folder: RunFolder, spec: Callable[..., Spec]) -> Judge:
    """Score all that was generated; each score by its name."""

    def judge(batch_size: int = 2, **changes: Any) -> tuple[Scored, tuple[str, ...]]:
        names = sorted(path.name.partition(".")[0] for path in folder.path.glob("generations/*"))
        tests = {name: sized(len(folder.generations(name))) for name in names}
        one = spec(tests=tests, train=Recipe(batch_size=batch_size), **changes)
        found: Judgement = score(folder, one)
        by_name = {(one.benchmark, one.metric, one.extractor): one for one in found.scores}
        assert len(by_name) == len(found.scores), "two scores of one name"
        return by_name, found.flags

    return judge


def sized(rows: int) -> Data:
    return Data(title="sample", kind="sample", sha256="ab" * 32, verified=True, rows=rows)


def generated(folder: RunFolder, name: str, *texts: str, **more: Any) -> None:
    """Write the answers to a benchmark; a field that is a list has a value for each."""
    lines = [
        Generation(
            **{
                "id": number,
                "ended": True,
                "long": False,
                "text": text,
                **{
                    key: value[number] if isinstance(value, list | tuple) else value
                    for key, value in more.items()
                },
            }
        )
        for number, text in enumerate(texts)
    ]
    folder.write_generations(name, lines)


def likely(folder: RunFolder, name: str, *options: Mapping[str, float]) -> None:
    rows = [OptionLikelihoods(id=number, options=row) for number, row in enumerate(options)]
    folder.write_likelihoods(name, rows)


def referred(folder: RunFolder, name: str, *rows: Sequence[float], cut: bool = False) -> None:
    """Write likelihoods of references: that of the answer, its tokens, of the text, its tokens."""
    folder.write_likelihoods(
        name,
        [
            ReferenceLikelihood(
                id=number,
                cut=cut,
                answer=row[0],
                answer_tokens=int(row[1]),
                text=row[2],
                text_tokens=int(row[3]),
            )
            for number, row in enumerate(rows)
        ],
    )


SAID = (
    "2 + 5 = 7. The answer is 7.",  # 7 by both
    "The answer is 8. She has 3 hats left.",  # 3 by the last number, 8 as stated
    "2 boxes of 9",  # 9 by the last number, nothing stated
    "I do not know.",  # nothing by both
    "12:30",  # 30 by the last number, nothing stated
)
GOLD = ("7", "8", "9", "2", "4")


def test_each_extractor_has_its_accuracy_and_its_share_that_could_not_be_read(
    folder: RunFolder, judged: Judge
) -> None:
    generated(folder, "gsm8k", *SAID, answer=GOLD)
    scores, flags = judged()
    loose = scores["gsm8k", "accuracy", "llm-adapters"]
    strict = scores["gsm8k", "accuracy", "strict"]
    assert (loose.value, loose.n, loose.unparsed, loose.headline) == (2 / 5, 5, 1, True)
    assert (strict.value, strict.n, strict.unparsed, strict.headline) == (2 / 5, 5, 3, False)
    assert flags == ("gsm8k: no answer found in 20 %",)


def test_verdicts_say_row_by_row_what_was_extracted_and_whether_it_is_right(
    folder: RunFolder, judged: Judge
) -> None:
    generated(folder, "gsm8k", *SAID, answer=GOLD)
    judged()
    found = folder.verdicts("gsm8k")
    assert [verdict.id for verdict in found] == [0, 1, 2, 3, 4]
    loose = [verdict.correct["llm-adapters"] for verdict in found]
    assert loose == [True, False, True, False, False]
    strict = [verdict.correct["strict"] for verdict in found]
    assert strict == [True, True, False, False, False]
    assert found[3].extracted == {"llm-adapters": "", "strict": ""}


def test_the_protocol_says_which_extractor_gives_the_headline(
    folder: RunFolder, judged: Judge
) -> None:
    generated(folder, "gsm8k", *SAID, answer=GOLD)
    protocol = paper.protocol.model_copy(update={"extractor": "strict"})
    scores, _ = judged(protocol=protocol)
    found = {(one.metric, one.extractor) for one in scores.values() if one.headline}
    assert found == {("accuracy", "strict")}
    assert scores["gsm8k", "clean accuracy", "strict"].value == 2 / 5


def test_the_clean_accuracy_is_over_the_rows_that_are_not_in_the_training_set(
    folder: RunFolder, judged: Judge
) -> None:
    known = [True, False, False, True, False]
    generated(folder, "gsm8k", *SAID, answer=GOLD, in_training=known)
    scores, flags = judged()
    clean = scores["gsm8k", "clean accuracy", "llm-adapters"]
    assert (clean.value, clean.n, clean.headline) == (1 / 3, 3, False)
    assert scores["gsm8k", "accuracy", "llm-adapters"].n == 5
    assert "gsm8k: 2 of 5 test rows are in the training set" in flags


def test_where_every_row_was_trained_on_there_is_no_clean_accuracy(
    folder: RunFolder, judged: Judge
) -> None:
    generated(folder, "gsm8k", *SAID, answer=GOLD, in_training=True)
    scores, _ = judged()
    assert {metric for _, metric, _ in scores} == {"accuracy"}


def test_what_follows_the_protocols_stop_is_no_part_of_an_answer(
    folder: RunFolder, judged: Judge
) -> None:
    generated(folder, "gsm8k", "It is 7.\n\n### Response: 12", answer="7")
    by_name = {}
    for protocol in (paper.protocol, llm_adapters.protocol):
        scores, _ = judged(protocol=protocol)
        by_name[protocol.id] = scores["gsm8k", "accuracy", "llm-adapters"].value
    assert by_name == {"paper": 0, "llm-adapters": 1}


def test_the_option_of_the_highest_likelihood_is_an_answer_without_extraction(
    folder: RunFolder, judged: Judge
) -> None:
    generated(folder, "boolq", *4 * ["true"], answer=["true", "false", "false", "true"])
    likely(
        folder,
        "boolq",
        {"true": -3.0, "false": -3.5},  # true
        {"true": -9.0, "false": -0.5},  # false
        {"false": -2.0, "true": -1.0},  # true
        {"true": -1.0, "false": -1.0},  # equal: the first
    )
    scores, _ = judged()
    found = scores["boolq", "option likelihood", ""]
    assert (found.value, found.n, found.headline) == (3 / 4, 4, True)
    assert scores["boolq", "accuracy", "llm-adapters"].value == 2 / 4


@pytest.mark.parametrize("value", [nan, inf, -inf])
def test_a_likelihood_of_an_option_that_is_not_finite_is_named_and_gives_no_score(
    value: float, folder: RunFolder, judged: Judge
) -> None:
    generated(folder, "boolq", "true", "true", answer="true")
    likely(folder, "boolq", {"true": -3.0, "false": -3.5}, {"true": -3.0, "false": value})
    scores, flags = judged()
    assert {metric for _, metric, _ in scores} == {"accuracy", "clean accuracy"}
    assert flags == ("boolq: the likelihood of an option is not finite",)


# Six words of which five agree, in order: 5 of 6 words, 4 of 5 pairs, 3 of 4 triples, 2 of 3 fours.
NEARLY, NEARLY_SAID = "a b c d e f", "a b c d e g"
EXACT = "p q r s"


@pytest.fixture
def texts(folder: RunFolder) -> RunFolder:
    generated(folder, "dolly", NEARLY_SAID, reference=NEARLY)
    generated(folder, "webgpt", EXACT, reference=EXACT)
    # Per token of the answer 1/2 and 1/32; of the whole text 1/2 and 1/4.
    referred(folder, "dolly", (3 * log(2), 3, 4 * log(2), 4))
    referred(folder, "webgpt", (5 * log(2), 1, 4 * log(2), 2))
    return folder


@pytest.mark.usefixtures("texts")
def test_bleu_per_set_and_over_all_is_that_of_counting_by_hand(
    judged: Judge,
) -> None:
    scores, _ = judged()
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
    judged: Judge,
) -> None:
    # The longest common subsequence has 5 of 6 words on both sides.
    scores, _ = judged()
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
    batch_size: int, by_batches: float, judged: Judge
) -> None:
    scores, _ = judged(batch_size=batch_size)
    expected = {"dolly": (2, 3), "webgpt": (32, 1), POOLED: (2 ** (8 / 4), 4)}
    for name, (value, tokens) in expected.items():
        found = scores[name, "perplexity", ""]
        assert found.value == pytest.approx(value)
        assert (found.n, found.headline) == (tokens, True)
    found = scores[POOLED, "perplexity (hycam)", ""]
    assert found.value == pytest.approx(by_batches)
    assert (found.n, found.headline) == (6, False)


@pytest.mark.usefixtures("texts")
def test_texts_have_no_accuracy_and_no_verdicts(folder: RunFolder, judged: Judge) -> None:
    scores, flags = judged()
    shown = {one.metric for one in scores.values() if one.headline}
    assert shown == {"bleu", "rouge-l", "perplexity"}
    assert {one.metric for one in scores.values()} == shown | {
        "sentence bleu",
        "perplexity (hycam)",
    }
    assert not (folder.path / "verdicts").exists()
    assert flags == ()


@pytest.mark.parametrize(
    # A mean of 100 000 nats is beyond the largest float.
    ("answer", "shown"),
    [(1e5, "inf"), (inf, "inf"), (nan, "nan")],
)
def test_a_perplexity_that_is_not_finite_is_left_out_and_named_in_the_flags(
    answer: float, shown: str, texts: RunFolder, judged: Judge
) -> None:
    referred(texts, "dolly", (answer, 1, 4 * log(2), 4))
    scores, flags = judged()
    assert {name for name, metric, _ in scores if metric == "perplexity"} == {"webgpt"}
    assert {name for name, metric, _ in scores if metric == "perplexity (hycam)"} == (
        {"dolly", "webgpt", POOLED}
    )
    assert {name for name, metric, _ in scores if metric == "bleu"} == {"dolly", "webgpt", POOLED}
    assert flags == (
        f"dolly: perplexity is not measured: it is {shown}",
        f"{POOLED}: perplexity is not measured: it is {shown}",
    )


def test_references_that_were_cut_for_perplexity_are_counted_in_flags(
    texts: RunFolder, judged: Judge
) -> None:
    referred(texts, "dolly", (3 * log(2), 3, 4 * log(2), 4), cut=True)
    _, flags = judged()
    assert flags == ("dolly: 1 references longer than the model reads, cut for perplexity",)


# A prompt that fills the model's context leaves no token of the answer.
UNREADABLE = (0.0, 0, 9 * log(2), 3)


def test_a_set_none_of_whose_references_could_be_read_has_no_perplexity(
    texts: RunFolder, judged: Judge
) -> None:
    referred(texts, "dolly", UNREADABLE)
    scores, _ = judged()
    assert not {metric for name, metric, _ in scores if name == "dolly" and "perplex" in metric}
    assert scores["webgpt", "perplexity", ""].value == pytest.approx(32)
    assert scores[POOLED, "perplexity", ""].value == pytest.approx(32)


def test_a_reference_that_could_not_be_read_keeps_its_place_in_its_batch(
    folder: RunFolder, judged: Judge
) -> None:
    generated(folder, "dolly", *5 * [EXACT], reference=EXACT)
    one, three = (log(2), 1, log(2), 1), (3 * log(2), 1, 3 * log(2), 1)
    referred(folder, "dolly", one, UNREADABLE, three, three, UNREADABLE)
    scores, _ = judged(batch_size=2)
    # The batches are (one), (three, three) and one that is empty: means of 1 and 3 log 2.
    # Closed up they would be (one, three) and (three): means of 2 and 3 log 2.
    found = scores["dolly", "perplexity (hycam)", ""]
    assert found.value == pytest.approx(2**2)
    assert found.n == 3
    assert scores["dolly", "perplexity", ""].value == pytest.approx(2 ** (7 / 3))


def test_meteor_is_measured_or_said_to_be_missing_and_never_zero(
    folder: RunFolder, judged: Judge
) -> None:
    generated(folder, "convai2", "i like red hats .", reference="i like red hats .")
    referred(folder, "convai2", (log(2), 1, log(2), 1))
    scores, flags = judged()
    measured = [one.value for one in scores.values() if one.metric == "meteor"]
    missing = [flag for flag in flags if flag.startswith("meteor is not measured: ")]
    assert (len(measured), len(missing)) in {(2, 0), (0, 1)}
    assert all(value > 90 for value in measured)
    assert all("wordnet" in flag for flag in missing)


def test_degenerate_answers_are_flagged_by_benchmark(folder: RunFolder, judged: Judge) -> None:
    gold = [("true", "false")[number % 2] for number in range(20)]
    generated(folder, "boolq", *20 * ["the correct answer is true"], answer=gold)
    likely(folder, "boolq", *20 * [{"true": -1.0, "false": -2.0}])
    generated(folder, "gsm8k", *3 * [""], answer=["1", "2", "3"], ended=False)
    _, flags = judged()
    assert flags == (
        "boolq: always the same answer: true (100 %)",
        "gsm8k: empty: 100 %",
        "gsm8k: cut at the limit: 100 %",
        "gsm8k: no answer found in 100 %",
    )


def test_prompts_beyond_the_limit_and_rows_cut_or_dropped_are_counted_in_flags(
    folder: RunFolder, judged: Judge
) -> None:
    generated(folder, "gsm8k", "1", "2", answer=["1", "2"], long=True)
    folder.write_train_record(RECORD.model_copy(update={"dropped": 3, "cut": 4}))
    _, flags = judged()
    assert flags == (
        "gsm8k: 2 prompts longer than the limit, which were not cut",
        "3 training rows dropped: no answer within the limit of tokens",
        "4 training rows cut at the limit of tokens",
    )


def test_a_method_that_does_not_train_has_no_flags_of_training(
    tmp_path: Path, planned: Callable[..., PlannedRun], spec: Callable[..., Spec]
) -> None:
    folder = RunFolder(tmp_path)
    folder.create(planned().head, {}, {})
    generated(folder, "gsm8k", "1", "2", answer=["1", "2"])
    assert score(folder, spec(tests={"gsm8k": sized(2)})).flags == ()


@pytest.mark.parametrize("rows", [4, 6])
def test_as_many_answers_are_needed_as_rows_were_planned(
    rows: int, folder: RunFolder, spec: Callable[..., Spec]
) -> None:
    generated(folder, "gsm8k", *SAID, answer=GOLD)
    with pytest.raises(ValueError, match=f"gsm8k: 5 answers to {rows} rows"):
        score(folder, spec(tests={"gsm8k": sized(rows)}))
    with pytest.raises(ValueError, match=f"gsm8k: 5 answers to {rows} rows"):
        score(folder, spec(tests={"gsm8k": sized(60)}, limit=rows))
    assert not (folder.path / "verdicts").exists()


def test_of_a_fold_any_number_of_answers_is_scored(
    folder: RunFolder, spec: Callable[..., Spec]
) -> None:
    # The spec holds the rows of the whole sets only.
    generated(folder, "gsm8k", *SAID, answer=GOLD)
    found = score(folder, spec(tests={"gsm8k": sized(60)}, fold=0))
    assert {one.n for one in found.scores} == {5}
