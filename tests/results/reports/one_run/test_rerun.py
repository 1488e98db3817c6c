"""A stored run beside another run of its spec, as text."""

from results.analysis.items import Agreement, Rerun, ScorePair
from results.reports.one_run.rerun import markdown


def make(*agreements: Agreement) -> Rerun:
    scores = (ScorePair("gsm8k", "accuracy", 0.5, None),)
    environment = {"packages.torch": ("2.12", "2.13")}
    return Rerun("01ab", "lora on tiny", agreements, scores, environment, False, "")


def test_it_counts_how_alike_the_answers_are_and_names_the_other_ones() -> None:
    found = make(Agreement("gsm8k", 5, 2, tuple(range(12))), Agreement("aqua", 1, 0, ()))
    text = markdown(found)
    assert not found.same
    assert "12 of 20 answers differ; 6 of 20 items are equal to the last bit." in text
    assert "Adapter weights: different." in text
    assert "| equal to the last bit | only the answer equal | different |" in text
    assert (
        "| gsm8k     |    19 |                     5 |                     2 |        12 |" in text
    )
    assert "gsm8k: other answers to the items 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more." in text
    assert "| gsm8k     | accuracy | 50.00 % |     - |" in text
    assert "    packages.torch: 2.12 -> 2.13" in text


def test_without_another_answer_all_are_the_same() -> None:
    found = make(Agreement("gsm8k", 5, 2, ()))
    assert found.same
    assert "All answers are the same; 5 of 7 items are equal to the last bit." in markdown(found)
