"""The check of branches, and the configurations that say they depend on other tokens."""

from dataclasses import replace

import pytest

from harness import plugins
from methods.conformance.branches import branches_do_not_mix
from methods.conformance.models import BUILDS
from methods.contract import Method

BUILD = BUILDS["llama-gqa"]

DEPENDING = [("cascade", "prefix-pooling"), ("cascade", "sequence-pooling"), ("hycam", "code")]


def configured(name: str, variant: str) -> Method:
    """Make a method of a variant, of a rank that fits the small models."""
    method = plugins.method(name)
    fields = {**method.variants.get("small", {}), **method.variants[variant]}
    if "r" in fields:
        fields["r"] = 8
    return replace(method, variants={"small": fields})


@pytest.mark.parametrize(("name", "variant"), DEPENDING)
def test_what_says_that_it_depends_on_other_tokens_does(name: str, variant: str) -> None:
    method = configured(name, variant)
    assert not method.by_token(method.configure(**method.variants["small"]))
    branches_do_not_mix(method, BUILD)  # promises nothing
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        branches_do_not_mix(replace(method, by_token=lambda config: True), BUILD)


@pytest.mark.parametrize("name", plugins.names("methods"))
def test_all_other_variants_conform(name: str) -> None:
    for variant in plugins.method(name).variants:
        if (name, variant) not in DEPENDING:
            method = configured(name, variant)
            assert method.by_token(method.configure(**method.variants["small"]))
            branches_do_not_mix(method, BUILD)


def test_a_tuner_of_peft_that_no_check_has_seen_promises_nothing() -> None:
    method = plugins.method("peft:WAVEFT")
    assert not method.by_token(method.configure())
