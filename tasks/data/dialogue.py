"""How a dialogue is put to a model: the persona, what was said, and the request to reply."""

from collections.abc import Sequence


def prompt(persona: Sequence[str], history: Sequence[str]) -> str:
    """Write the text that asks for the next reply of the one who has the persona.

    Args:
        persona: What the one who replies says of himself, a sentence each.
        history: What was said, in turns; the other one spoke last. Empty where nobody has spoken.

    >>> print(prompt(["i bake bread.", "i have a dog."], ["hello !", "hi .", "any pets ?"]))
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
