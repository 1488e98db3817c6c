"""What tables call benchmarks, backbones and methods."""

import re

SPELLINGS = {
    "arcc": "arc_challenge",
    "arce": "arc_easy",
    "openbookqa": "obqa",
    "socialiqa": "siqa",
    "dolly20": "dolly",
    "fullfinetune": "full",
    "fullfinetuning": "full",
}
"""Names that differ in more than signs and capitals from those of this project."""
SUFFIXES = ("hf", "pt", "base")
"""What publishers write behind the name of a bare backbone."""


def bare(name: str) -> str:
    """Leave letters and digits, in lower case.

    >>> bare("LN-Tuning"), bare("ARC-C")
    ('lntuning', 'arcc')
    """
    return re.sub(r"[^a-z0-9]", "", name.lower())


def benchmark(title: str) -> str:
    """Give the letters of the project's name for a benchmark.

    >>> benchmark("ARC-C"), benchmark("arc_challenge"), benchmark("GSM8K")
    ('arcchallenge', 'arcchallenge', 'gsm8k')
    """
    return bare(SPELLINGS.get(bare(title), title))


def method(title: str) -> str:
    """Give the letters of a method's name, without what a paper says of it in brackets.

    >>> method("DyPAM (ours)"), method("IA$^3$"), method("LN Tuning")
    ('dypam', 'ia3', 'lntuning')
    """
    found = bare(without_brackets(title))
    return SPELLINGS.get(found, found)


def without_brackets(title: str) -> str:
    """Leave out what a paper says of a method in brackets.

    >>> without_brackets("DyPAM (ours)")
    'DyPAM'
    """
    return re.sub(r"\s*\([^)]*\)", "", title)


def backbone(name: str) -> str:
    """Give the letters of a backbone's name, without owner and maker's words.

    >>> backbone("meta-llama/Llama-3.2-3B"), backbone("LLaMA 3.2 3B"), backbone("gemma-3-4b-pt")
    ('llama323b', 'llama323b', 'gemma34b')
    """
    found = bare(re.sub(r"(?i)^meta[-_ ](?=llama)", "", name.rstrip("/").rpartition("/")[2]))
    return next((found.removesuffix(end) for end in SUFFIXES if found.endswith(end)), found)
