"""A planned run: a spec, where its parts lie on this machine, and its memory and provenance."""

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.spec.spec import Backbone, Spec
from results.runfolder.folder import RunFolder
from results.runfolder.values import FORMAT, Head

CHECKPOINT_MINUTES = 10.0
"""Between two checkpoints of a training, if nobody says otherwise."""


Track = Literal["tensorboard", "wandb", "mlflow"]
"""Trackers by their names in Accelerate."""


class Located(BaseModel):
    """A backbone and where it is: a folder, or a hub repository at the backbone's revision.

    Attributes:
        name: What a reader sees where that is not the backbone's own name; empty if it is.
    """

    model_config = ConfigDict(frozen=True)

    backbone: Backbone
    place: str
    name: str = ""

    @property
    def shown(self) -> str:
        """What tables call it."""
        return self.name or self.backbone.name


class Memory(BaseModel):
    """What trades memory for time, and in float32 changes no digit: no part of the spec.

    Attributes:
        gradient_checkpointing: Whether activations are computed again in the backward pass; see
            `PlannedRun.checkpoints`.
        likelihood_tokens: Tokens of one forward pass over references, or over options as full
            texts, padding included.
        device_map: How transformers spreads the frozen weights over devices, such as "auto".
        halvings: How often the rows of a forward pass in training are halved. The step keeps its
            rows and so its gradient, but for the order of a sum.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    gradient_checkpointing: bool | Literal["auto"] = "auto"
    likelihood_tokens: int = Field(default=2048, ge=1)
    device_map: str | None = None
    halvings: int = Field(default=0, ge=0)


class Need(BaseModel):
    """Bytes on the device at the peak of each phase, weights and adapter included, as planned."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    training: int
    validation: int
    generation: int

    @property
    def peak(self) -> int:
        """The most of all phases."""
        return max(self.training, self.validation, self.generation)

    @property
    def phase(self) -> str:
        """Where the peak is."""
        phases = {"training": self.training, "validation": self.validation}
        return next((name for name, size in phases.items() if size == self.peak), "generation")


class Provenance(BaseModel):
    """How the recipe was chosen, and which command asked for the run; kept outside its id.

    Attributes:
        chosen: The defaults of the harness, fields set for all methods, or for this method.
        own: The fields that were set for this method.
        tries: How many recipes the choice is made from.
        command: The words of the command line that asked for the run; none in older folders.
        titles: What a paper calls the method and the benchmarks that the user gave by path, by
            name; none in older folders.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    chosen: Literal["default", "for all methods", "for this method"] = "default"
    own: dict[str, Any] = Field(default_factory=dict)
    tries: int = 1
    command: tuple[str, ...] = ()
    titles: dict[str, str] = Field(default_factory=dict)


class PluginFile(BaseModel):
    """A method or benchmark that the user gave by the path of its file.

    Attributes:
        kind: Which of the two.
        path: Where the file lies.
        texts: SHA-256 of it and of the files beside it that it imports, by path.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["methods", "tasks"]
    path: str
    texts: dict[str, str]

    @property
    def copies(self) -> dict[str, str]:
        """What the run folder calls its copy of each text, by path."""
        file = Path(self.path)
        place = Path(self.kind, file.stem)
        return {one: str(place / Path(one).relative_to(file.parent)) for one in self.texts}


def own_files(folder: RunFolder) -> tuple[PluginFile, ...]:
    """Read which files the run of a folder was given by path, whatever its spec holds."""
    return tuple(PluginFile(**one) for one in folder.places().get("files", ()))


class PlannedRun(BaseModel):
    """A spec with all that one machine needs to run it.

    Attributes:
        spec: Everything that can change a number.
        backbone_place: A folder, or a hub repository.
        backbone_name: What a reader sees where that is not the backbone's own name.
        data_folder: Of the real data; None for samples.
        train_file: A training file of the user's.
        adjustments: What PEFT adjusted to make the method fit the backbone.
        memory: What trades memory for time.
        checkpoint_minutes: From one checkpoint of the training to the next.
        track: The tracker that is told losses and scores; None for none.
        need: How much memory it is expected to take; None where that was not worked out.
        provenance: How the recipe was chosen, and the command line.
        files: The method and the benchmarks that the user gave by path.
        gpu: Whether it was planned for a GPU, and does not run without one.
        folds: How many folds its group has; None without cross-validation, and in older folders.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    spec: Spec
    backbone_place: str
    backbone_name: str = ""
    data_folder: str | None
    train_file: str | None = None
    adjustments: tuple[str, ...] = ()
    memory: Memory = Field(default_factory=Memory)
    checkpoint_minutes: float = CHECKPOINT_MINUTES
    track: Track | None = None
    need: Need | None = None
    provenance: Provenance = Field(default_factory=Provenance)
    files: tuple[PluginFile, ...] = ()
    gpu: bool = False
    folds: int | None = None

    @property
    def name(self) -> str:
        """What a reader calls the run."""
        spec = self.spec
        fold = "" if spec.fold is None else f", fold {spec.fold}"
        own = ",".join(f"train.{field}={value}" for field, value in self.provenance.own.items())
        label = f"{spec.method.label} [{own}]" if own else spec.method.label
        return f"{label} on {self.located.shown}, {spec.group}, seed {spec.seeds.init}{fold}"

    @property
    def marks(self) -> tuple[str, ...]:
        """What a reader must know before the numbers, about the data and about the method."""
        named = f"{self.spec.method.label} on {self.located.shown}"
        return (*self.spec.marks, *(f"{named}: {one.rstrip('.')}" for one in self.adjustments))

    @property
    def checkpoints(self) -> bool:
        """Whether activations are computed again in the backward pass.

        `auto` is off; a plan that fits runs to cards turns it on where it must.
        """
        return self.memory.gradient_checkpointing is True

    @property
    def located(self) -> Located:
        """The backbone with its place."""
        return Located(
            backbone=self.spec.backbone, place=self.backbone_place, name=self.backbone_name
        )

    @property
    def head(self) -> Head:
        """What names the run in its folder, so that a reader needs no spec."""
        spec = self.spec
        return Head(
            format=FORMAT,
            run_id=spec.run_id,
            group=spec.group,
            method=spec.method.label,
            backbone=self.located.shown,
            seed=spec.seeds.init,
            fold=spec.fold,
            marks=self.marks,
            setting=spec.setting,
            recipe=spec.recipe,
            series=spec.series,
            protocol=f"{spec.protocol.id}/{spec.protocol.version}",
            provenance=self.provenance.model_dump(mode="json"),
            conditions=spec.conditions,
            folds=self.folds,
        )

    @property
    def kept(self) -> tuple[Head, dict[str, Any], dict[str, Any]]:
        """What `RunFolder.create` takes: head, spec, and where its parts lie."""
        places = self.model_dump(mode="json", exclude={"spec"})
        return self.head, self.spec.model_dump(mode="json"), places

    @property
    def copies(self) -> dict[str, str]:
        """What the run folder calls its copies of the user's files, by path."""
        return {path: copy for file in self.files for path, copy in file.copies.items()}

    @classmethod
    def of(cls, folder: RunFolder) -> "PlannedRun":
        """Read the planned run of a folder."""
        return cls.model_validate({"spec": folder.spec(), **folder.places()})
