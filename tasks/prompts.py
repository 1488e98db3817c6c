"""Prompts that this project words itself, for published rows and for samples alike."""

from collections.abc import Sequence


def dialogue(persona: Sequence[str], history: Sequence[str]) -> str:
    """Ask for the next reply in a dialogue, by the speaker who has the persona.

    Args:
        persona: What this speaker says about themselves, a sentence each.
        history: What both said so far, in turns; the other speaker spoke last. Empty where nobody
            has spoken.

    >>> print(dialogue(["i bake bread.", "i have a dog."], ["hello !", "hi .", "any pets ?"]))
    Your persona:
    - i bake bread.
    - i have a dog.
    <BLANKLINE>
    The conversation so far:
    They: hello !
    You: hi .
    They: any pets ?
    <BLANKLINE>
    Reply as You.
    """
    speakers = ("They" if left % 2 else "You" for left in range(len(history), 0, -1))
    said = [f"{speaker}: {text}" for speaker, text in zip(speakers, history, strict=True)]
    facts = [f"- {fact}" for fact in persona]
    opening = ["The conversation so far:", *said] if said else ["Nobody has spoken yet."]
    return "\n".join(["Your persona:", *facts, "", *opening, "", "Reply as You."])
