"""A run that is planned and not yet done."""

from pydantic import BaseModel

from harness.backbones import Located
from harness.spec.spec import Spec


class PlannedRun(BaseModel):
    """A spec, where its parts lie on this machine, and what a reader must know of it.

    Attributes:
        notes: What PEFT adjusted to make the method fit the backbone.
    """

    spec: Spec
    backbone_place: str
    data_folder: str | None
    train_file: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name the run for a reader."""
        spec = self.spec
        fold = "" if spec.fold is None else f", fold {spec.fold}"
        label, backbone = spec.method.label, spec.backbone.name
        return f"{label} on {backbone}, {spec.group}, seed {spec.seeds.init}{fold}"

    @property
    def remarks(self) -> tuple[str, ...]:
        """What stands beside the numbers: marks of the data, notes on the method."""
        named = f"{self.spec.method.label} on {self.spec.backbone.name}"
        return (*self.spec.marks, *(f"{named}: {note.rstrip('.')}" for note in self.notes))

    @property
    def located(self) -> Located:
        """The backbone with its place."""
        return Located(self.spec.backbone, self.backbone_place)
