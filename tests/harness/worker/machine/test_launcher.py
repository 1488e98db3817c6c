"""What a launcher of the shell says does not reach a run."""

import os

import pytest

from harness.worker.machine import launcher

HOSTILE = {
    "RANK": "3",
    "LOCAL_RANK": "3",
    "WORLD_SIZE": "8",
    "LOCAL_WORLD_SIZE": "8",
    "MASTER_ADDR": "192.0.2.1",
    "MASTER_PORT": "1",
    "GROUP_RANK": "1",
    "ROLE_RANK": "3",
    "TORCHELASTIC_RUN_ID": "none",
    "TORCHELASTIC_RESTART_COUNT": "0",
    "SLURM_PROCID": "3",
    "SLURM_LOCALID": "3",
    "SLURM_NTASKS": "8",
    "OMPI_COMM_WORLD_SIZE": "8",
    "PMI_SIZE": "8",
    "MV2_COMM_WORLD_RANK": "3",
    "ACCELERATE_USE_FSDP": "true",
    "ACCELERATE_MIXED_PRECISION": "fp16",
}


def test_every_variable_of_a_launcher_is_forgotten_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = {"CUDA_VISIBLE_DEVICES": "1", "OMP_NUM_THREADS": "1", "HARNESS_DATA": "/data"}
    for name, value in {**HOSTILE, **kept}.items():
        monkeypatch.setenv(name, value)
    before = {*os.environ}
    launcher.forget()
    gone = before - {*os.environ}
    assert HOSTILE.keys() <= gone
    assert not gone & kept.keys()
