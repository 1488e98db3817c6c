"""Notes the commit in what is built of a checkout, so that an installation knows it."""

import json
import runpy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NOTE = "commit.json"
"""In the root of an sdist; among the extra metadata of a wheel."""


class NoteCommit(BuildHookInterface[Any]):
    """Writes the note into sdists and wheels; a wheel of an sdist takes over that of the sdist."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the note to the files of the build."""
        root = Path(self.root)
        note = root / NOTE
        if (root / ".git").exists():
            self.folder = TemporaryDirectory()  # stays until the build is done
            note = Path(self.folder.name, NOTE)
            known = runpy.run_path(str(root / "harness" / "worker" / "machine" / "version.py"))
            note.write_text(json.dumps(known["commit"]()))
        if note.exists():
            kind = "extra_metadata" if self.target_name == "wheel" else "force_include"
            build_data[kind][str(note)] = NOTE
