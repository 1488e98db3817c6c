"""The meter against the allocations that torch's profiler saw."""

from typing import Any

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

from harness.planning.footprint.meter import Meter


def work(model: nn.Module) -> None:
    inputs = torch.ones(64, 128)
    for _ in range(2):
        model(inputs).sum().backward()


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 512), nn.Linear(512, 1))


def test_the_peak_is_that_of_the_allocator() -> None:
    measured = model()
    with Meter(measured.parameters()) as meter:
        work(measured)
    profiled = model()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        work(profiled)
    results: Any = recorded.profiler
    now = peak = 0
    for event in results.kineto_results.events():
        if event.name() == "[memory]":
            now += event.nbytes()
            peak = max(peak, now)
    assert 0.95 * peak <= meter.peak <= peak


def test_what_is_dropped_is_counted_no_more() -> None:
    with Meter([]) as meter:
        for _ in range(3):
            torch.ones(1000)
    assert (meter.now, meter.peak) == (0, 4000)
