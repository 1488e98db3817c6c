"""`harness card` and `harness push`: an adapter for others to use."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.commands.one_run import named
from harness.errors import UserError
from harness.spec.spec import Spec
from harness.worker.card import CARD, CONFIG, WEIGHTS, card_of, config_of
from results.runfolder.folder import RunFolder

LOGIN = "Log in with `hf auth login`, or set HF_TOKEN to a token that may write."


def card(store_place: str, name: str) -> str:
    """Write the model card of a run's adapter from what is stored now.

    Raises:
        UserError: The run has no adapter.
    """
    run = named.record(store_place, name)
    folder = RunFolder(Path(run.folder))
    return card_of(run, folder, folder.adapter.name)


def push(store_place: str, name: str, repository: str, *, public: bool) -> str:
    """Upload adapter and card to a new repository of the hub; return its address.

    Nothing that lies there is replaced. An empty repository, such as an upload that broke off
    leaves, is filled.

    Raises:
        UserError: There is no adapter, no token, no network, or something lies there already.
    """
    run = named.record(store_place, name)
    folder = RunFolder(Path(run.folder))
    files: dict[str, bytes | Path] = {
        CARD: card_of(run, folder, repository).encode(),
        CONFIG: json.dumps(config_of(Spec(**run.spec), folder), indent=2).encode(),
        WEIGHTS: folder.adapter / WEIGHTS,
    }
    return _upload(files, repository, f"{run.method}, run {run.run_id}", public=public)


def _upload(files: dict[str, bytes | Path], repository: str, message: str, *, public: bool) -> str:
    """Put files into a repository that is made for them; return its address."""
    from huggingface_hub import CommitOperationAdd, HfApi, get_token  # noqa: PLC0415 (start-up time)

    with _told(repository):
        if get_token() is None:
            raise UserError(f"{repository}: no token for the hub.\n  {LOGIN}")
        api = HfApi()
        address = api.create_repo(repository, private=not public, exist_ok=True)
        found = api.model_info(repository)
        _require_free(repository, {one.rfilename for one in found.siblings or []})
        if found.private is False and not public:
            raise UserError(f"{repository} is there already and public. Add --public, or rename.")
        operations = [CommitOperationAdd(*file) for file in files.items()]
        api.create_commit(repository, operations, commit_message=message)
    return str(address)


def _require_free(repository: str, files: set[str]) -> None:
    if more := sorted(files - {".gitattributes"}):
        raise UserError(
            f"{repository} is taken: {more[0]} is there already.\n"
            "  Choose another name, or delete the repository on the hub."
        )


@contextmanager
def _told(repository: str) -> Iterator[None]:
    """Turn an error of the hub, or of the way to it, into one message."""
    from httpx2 import HTTPError  # noqa: PLC0415 (start-up time)
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError  # noqa: PLC0415

    try:
        yield
    except HFValidationError as error:
        raise UserError(f"{repository!r} is not a name for the hub: {error}") from error
    except HfHubHTTPError as error:
        raise UserError(f"{repository}: {error.server_message or error}\n  {LOGIN}") from error
    except (OSError, HTTPError) as error:
        raise UserError(
            f"{repository}: the hub was not reached ({type(error).__name__}).\n"
            "  The same command tries again."
        ) from error
