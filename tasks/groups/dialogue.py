"""Dialogue: replies in ConvAI2, trained on its training split.

The substitute holds 1,000 other dialogues of Persona-Chat.
"""

from tasks.contract import DataFile, Group

group = Group(
    title="Dialogue",
    benchmarks=("convai2",),
    train=(
        DataFile(
            title="ConvAI2 training split",
            places=(
                "dialogue/convai2/train_self_original_no_cands.txt",
                "ConvAI2/train_self_original_no_cands.txt",
            ),
            sha256=None,
            rows=131_438,
            source="ParlAI, task convai2, training split, self_original_no_cands",
            licence="Persona-Chat/ConvAI2 as distributed with ParlAI (MIT)",
        ),
        DataFile(
            title="substitute for ConvAI2's training split",
            places=("dialogue/convai2/xpersona_en_valid.json",),
            sha256="08ed3d41c5b0681c2d125a5312b43d926a8a5aa1d10a5df655d17f4c56dab635",
            rows=7316,
            source="HLTCHKUST/Xpersona, commit 1da049a",
            licence="Persona-Chat/ConvAI2 as distributed with ParlAI (MIT)",
            kind="substitute",
        ),
    ),
    sample_rows=400,
)
