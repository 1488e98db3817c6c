"""`generate.merge=true`: which methods take it, and that it makes other runs."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.errors import UserError
from harness.planning.plan import plan
from harness.planning.request import Request
from harness.spec.recipe import BatchPlan
from harness.spec.spec import Spec

MERGED = Request(methods="base,lora", tasks="gsm8k", settings=["generate.merge=true"])


def test_a_method_that_cannot_be_merged_is_refused_with_those_that_can() -> None:
    with pytest.raises(UserError) as error:
        plan(replace(MERGED, methods="lora,dypam"))
    first, second = str(error.value).splitlines()
    assert first == "dypam cannot be merged, so it does not take generate.merge=true."
    known = second.removeprefix("  Methods that can: ").split(", ")
    assert {"dora", "full", "lora", "vera"} <= set(known)
    assert not {"base", "dypam", "rosa"} & set(known)


def test_nothing_is_merged_into_quantized_weights() -> None:
    with pytest.raises(UserError, match=r"merges into no weights of --quantize nf4"):
        plan(replace(MERGED, quantize="nf4"))


def test_a_bare_backbone_has_nothing_to_merge_and_shares_the_table() -> None:
    base, trained = plan(MERGED)
    assert base.spec.setting == trained.spec.setting
    assert base.spec.conditions == {"batches": {"merge": True}}


def test_only_a_run_that_merges_is_another_run(spec: Callable[..., Spec]) -> None:
    plain, merged = (spec(generate=BatchPlan(merge=merge)) for merge in (False, True))
    assert "merge" not in plain.model_dump(mode="json")["generate"]
    assert plain.run_id != merged.run_id
    assert len({one.setting for one in (plain, merged)}) == 2
