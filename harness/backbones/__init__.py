"""Finding language models: the embedded `tiny`, a local folder, or a repository of the hub.

Only safetensors are loaded and no code of a repository is run.
"""

import logging
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from harness.backbones.content import blob_hash, content_hash, named_by_content
from harness.errors import UserError
from harness.spec.planned import Located
from harness.spec.spec import Backbone
from results.analysis.runs import backbones as naming
from results.analysis.runs.backbones import Named

TINY = Path(__file__).parent / "tiny" / "model"
FILES = ("*.safetensors", "*.json", "*.model", "*.txt", "*.jinja")
"""Files of a repository that are fetched and hashed: weights, configuration, tokenizer."""
INSTALL_BITSANDBYTES = "pip install 'peft-proving-ground[quantize]'"
# On a CPU it warns of kernels that it lacks when it is imported, and of a cast in each pass.
logging.getLogger("bitsandbytes").setLevel(logging.ERROR)


def locate(name: str) -> Located:
    """Find `tiny`, a local folder, or a hub repository `owner/name` with an optional `@revision`.

    `NAME=` before any of these says what tables call it.

    Raises:
        UserError: There is no such thing, or it has no safetensors or no tokenizer.
    """
    called, equals, place = name.partition("=")
    if equals and "/" not in called and not Path(name).expanduser().is_dir():
        if not called.strip():
            raise UserError(f"{name!r}: no name before the equals sign. Write NAME=PATH.")
        return locate(place).model_copy(update={"name": called.strip()})
    folder = TINY if name == "tiny" else Path(name).expanduser()
    if name and folder.is_dir():
        label = name if name in ("tiny", "./tiny") else folder.resolve().name
        backbone = Backbone(name=label, revision=_content(folder))
        return Located(backbone=backbone, place=str(folder.resolve()))
    repository, _, revision = name.partition("@")
    if repository.count("/") != 1 or name.startswith((".", "/", "~")):
        raise UserError(
            f"{name!r} is not a backbone: no such folder, and not a hub repository.\n"
            "  Give `tiny`, a folder with config.json, safetensors and a tokenizer, or owner/name."
        )
    return Located(backbone=_on_the_hub(repository, revision or "main"), place=repository)


def told_apart(places: Sequence[Located]) -> list[Located]:
    """Name the backbones of one request, each by as much of its path as tells it from the others.

    Raises:
        UserError: Two different ones were given the same name.
    """
    given = [one for one in places if one.name]
    for first, second in combinations(given, 2):
        if first.name == second.name and first.backbone != second.backbone:
            raise UserError(
                f"--backbones: {first.name!r} names both {first.place} and {second.place}."
            )
    known = {one.backbone: Named(one.shown, one.place, one.backbone.revision) for one in places}
    names = naming.told_apart(known)
    return [
        one
        if names[one.backbone] == one.shown
        else one.model_copy(update={"name": names[one.backbone]})
        for one in places
    ]


def fetch(located: Located) -> Path:
    """Return the folder of a backbone, downloading a hub repository where it is not cached.

    Raises:
        UserError: Its files are not what they were when the run was planned.
    """
    folder = Path(located.place)
    if folder.is_dir():
        _require_planned(folder, located.backbone.revision)
        return folder
    if folder.is_absolute():
        raise UserError(f"{folder}: the backbone's folder is gone; it was there when planning.")
    from huggingface_hub import snapshot_download  # noqa: PLC0415 (start-up time)

    revision = located.backbone.revision
    snapshot = Path(
        snapshot_download(
            located.place,
            revision=revision,
            allow_patterns=list(FILES),
            ignore_patterns=["*/*"],
        )
    )
    _require_whole(snapshot)
    return snapshot


def _require_planned(folder: Path, planned: str) -> None:
    """Refuse a folder whose content is not that of the plan."""
    found = _content(folder)
    if found != planned:
        raise UserError(
            f"{folder}: the backbone is not what it was when the run was planned: its hash is "
            f"{found}, that of the run is {planned}. Put its files back, or rerun the command to "
            "plan with it as it is."
        )


def _require_whole(snapshot: Path) -> None:
    """Refuse a snapshot of the hub with a file that is not the one that was downloaded.

    A cache without links, as on file systems that have none, does not say what a file was.
    """
    for path in _files(snapshot):
        named = path.resolve().name
        if named_by_content(path) and (found := blob_hash(path)) != named:
            raise UserError(
                f"{path}: not what was downloaded: its hash is {found}, the hub's is {named}. "
                "Remove it and run the command again, which downloads it."
            )


def _content(folder: Path) -> str:
    _require({path.name for path in folder.iterdir() if path.is_file()}, str(folder))
    return content_hash(folder, _files(folder))


def _files(folder: Path) -> list[Path]:
    found = {path for files in FILES for path in folder.glob(files) if path.is_file()}
    return sorted(found)


def _on_the_hub(repository: str, revision: str) -> Backbone:
    """Resolve a revision to a commit: by the hub, or by the local cache where it is not reached."""
    from huggingface_hub import HfApi, snapshot_download  # noqa: PLC0415 (start-up time)
    from huggingface_hub.errors import (  # noqa: PLC0415
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
    )

    try:
        info = HfApi().model_info(repository, revision=revision)
        files = {sibling.rfilename for sibling in info.siblings or []}
        commit = str(info.sha)
    except HfHubHTTPError as error:
        raise UserError(
            f"{repository!r} at {revision!r}: {error.server_message or error}\n"
            "  Is the name right? A gated or private model needs `hf auth login`."
        ) from error
    except HFValidationError as error:
        raise UserError(f"{repository!r} is not a backbone: {error}") from error
    except Exception as error:  # the library's network errors differ between its versions
        try:
            folder = Path(snapshot_download(repository, revision=revision, local_files_only=True))
        except LocalEntryNotFoundError:
            raise UserError(
                f"{repository!r}: no such folder, not in the local cache, and the hub was not "
                f"reached ({type(error).__name__}).\n"
                "  Offline, download it elsewhere and give its folder."
            ) from error
        files, commit = {path.name for path in folder.iterdir()}, folder.name
    _require(files, repository)
    return Backbone(name=repository, revision=commit)


def _require(files: set[str], place: str) -> None:
    missing = []
    if "config.json" not in files:
        missing.append("config.json")
    if not any(name.endswith(".safetensors") for name in files):
        missing.append("*.safetensors (no other weights are loaded)")
    if not files & {"tokenizer.json", "tokenizer.model"}:
        missing.append("a tokenizer (tokenizer.json or tokenizer.model)")
    if missing:
        raise UserError(f"{place}: not a usable backbone. It lacks {', '.join(missing)}.")
