"""Papers of methods and benchmarks, as their files name them."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import plugins
from harness.plugins.references import HARNESS, reference
from results.reports.bibtex import bibtex

ROOT = Path(__file__).parents[3]

WITHOUT = {"base", "full", "icliniq"}
"""The bare backbone and full fine-tuning are no paper's, and one set has none of its own."""

KNOWN = {
    # As their pages on arXiv and in the ACL anthology have them.
    ("methods", "lora"): ("LoRA: Low-Rank Adaptation of Large Language Models", "Hu", "2021"),
    ("methods", "bone"): ("Bone: Block-Affine Adaptation of Large Language Models", "Kang", "2024"),
    ("methods", "oft"): (
        "Controlling Text-to-Image Diffusion by Orthogonal Finetuning",
        "Qiu",
        "2023",
    ),
    ("tasks", "multiarith"): ("Solving General Arithmetic Word Problems", "Roy", "2015"),
    ("tasks", "svamp"): (
        "Are NLP Models really able to Solve Simple Math Word Problems?",
        "Patel",
        "2021",
    ),
    ("tasks", "hellaswag"): (
        "HellaSwag: Can a Machine Really Finish Your Sentence?",
        "Zellers",
        "2019",
    ),
}

OWN = {"cascade": "submitted to IJCAI 2026", "dypam": "KDD 2026", "rosa": "AAAI 2026"}


@pytest.mark.parametrize(("kind", "name"), KNOWN)
def test_a_paper_has_title_author_and_year(kind: plugins.Kind, name: str) -> None:
    found = reference(kind, name)
    assert (found.title, found.authors[0], found.year) == KNOWN[kind, name]


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind in ("methods", "tasks") for name in plugins.names(kind)],
)
def test_every_file_names_its_paper(kind: plugins.Kind, name: str) -> None:
    found = reference(kind, name)
    text = " ".join(plugins.docstring(kind, name).split())
    assert bool(found.title) == (name not in WITHOUT)
    # A title that went on too far would hold the end of a sentence.
    assert not re.search(r"[a-z]{3}\. [A-Z]|section|arXiv", found.title)
    assert found.title in text
    assert found.year in text


@pytest.mark.parametrize("name", OWN)
def test_a_paper_without_named_authors_has_no_author(name: str) -> None:
    found = reference("methods", name)
    assert found.authors == ()
    assert found.note == OWN[name]


def test_the_harness_is_cited_as_its_citation_file_says() -> None:
    cited = (ROOT / "CITATION.cff").read_text()
    assert f"title: {HARNESS.title}\n" in cited
    assert f"name: {HARNESS.authors[0]}\n" in cited
    assert f"version: {HARNESS.version}\n" in cited
    assert f'date-released: "{HARNESS.year}-' in cited


def test_every_entry_has_a_key_of_its_own_and_one_paper_one_entry() -> None:
    names = [(kind, name) for kind in ("methods", "tasks") for name in plugins.names(kind)]
    text = bibtex(reference(kind, name) for kind, name in names)
    keys = re.findall(r"^@misc\{(.*),$", text, re.MULTILINE)
    assert len(set(keys)) == len(keys) == len(names) - len(WITHOUT) - 1
    assert "% arc_challenge, arc_easy\n@misc{clark2018think," in text


def test_a_file_that_cannot_be_read_has_no_paper(
    tmp_path: Path, install: Callable[..., Path]
) -> None:
    own = tmp_path / "damaged.py"
    own.write_text("def (")
    plugins.add("methods", own)
    install("[harness.methods]\nbroken = gone_package.module:method\n")
    assert reference("methods", "damaged").title == reference("methods", "broken").title == ""
