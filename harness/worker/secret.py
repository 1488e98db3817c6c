"""What a run must not tell: the values of variables of the environment that are secrets."""

import os
import re

NAMED = re.compile("KEY|TOKEN|SECRET|PASS|CRED|AUTH|UR[IL]|DSN", re.IGNORECASE)
"""Part of the names of such variables; an address may hold a password."""

SHORTEST = 6
"""Characters of the shortest value that is taken for a secret: `false` and `4096` are none."""


def hidden(text: str) -> str:
    """Write a text with the names of variables in the place of their values that are secrets."""
    secrets = {
        value: name
        for name, value in os.environ.items()
        if NAMED.search(name) and len(value) >= SHORTEST
    }
    # The longest first: another may be its beginning.
    for value in sorted(secrets, key=len, reverse=True):
        text = text.replace(value, f"${secrets[value]}")
    return text
