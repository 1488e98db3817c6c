"""What a launcher of the shell left in the environment, which must not reach a run.

A run is one process, also in a job of Slurm, torchrun or mpirun. Libraries that find the variables
of these would wait for peers, share a port, or change precision and engine.
"""

import os

NAMES = {
    *("RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK", "ROLE_NAME", "NODE_RANK"),
    *("WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_WORLD_SIZE", "ROLE_WORLD_SIZE", "LOCAL_SIZE"),
    *("MASTER_ADDR", "MASTER_PORT"),
}
FAMILIES = ("ACCELERATE_", "TORCHELASTIC_", "SLURM_", "OMPI_", "PMI_", "PMIX_", "MPI_", "MV2_")


def forget() -> None:
    """Take the variables of launchers out of the environment of this process."""
    for name in [one for one in os.environ if one in NAMES or one.startswith(FAMILIES)]:
        del os.environ[name]
