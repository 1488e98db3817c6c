import weakref
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from peft import PromptTuningConfig, get_peft_model
from transformers import GenerationConfig

from harness import plugins
from harness.worker.decoding import slots
from harness.worker.decoding.conformance import cut, slots_change_no_token
from harness.worker.decoding.decode import Answer
from harness.worker.decoding.reading import Read
from methods.conformance.models import ARCHITECTURES, BUILDS, VOCABULARY, build
from methods.conformance.probes import train

PAD, LONGEST = 0, 72
NAMES = plugins.names("methods")
KINDS = [f"{one.__name__}-{('gqa', 'mha')[place % 2]}" for place, one in enumerate(ARCHITECTURES)]
ONCE = [(name, KINDS[place % len(KINDS)]) for place, name in enumerate(NAMES)]
"""Every method on one architecture, and every architecture."""


@pytest.mark.parametrize(("name", "model"), ONCE)
def test_slots_change_no_token_of_any_method(name: str, model: str) -> None:
    assert slots.refusal(train(plugins.method(name), BUILDS[model])) is None
    slots_change_no_token(plugins.method(name), BUILDS[model])  # asserts


@pytest.mark.parts
@pytest.mark.parametrize(
    ("name", "model"), [(n, m) for n in NAMES for m in BUILDS if (n, m) not in ONCE]
)
def test_slots_change_no_token_of_any_method_on_any_model(name: str, model: str) -> None:
    slots_change_no_token(plugins.method(name), BUILDS[model])  # asserts


@pytest.fixture(scope="module")
def model() -> Any:
    """Give a model some of whose layers see a window of 8 tokens, and some all of them."""
    return build("gemma3-gqa")


def alone(model: Any, prompt: list[int]) -> list[int]:
    """Decode one prompt by transformers alone, past any end."""
    ids, never = torch.tensor([prompt]), VOCABULARY
    config = GenerationConfig(
        max_new_tokens=LONGEST, do_sample=False, eos_token_id=never, pad_token_id=PAD
    )
    with torch.inference_mode():
        output = model.generate(
            input_ids=ids, attention_mask=torch.ones_like(ids), generation_config=config
        )
    found: list[int] = output[0, len(prompt) :].tolist()
    return found


@pytest.fixture(scope="module")
def known(model: Any) -> list[tuple[list[int], list[int]]]:
    """Give prompts of 1 to 40 tokens, some with a common start, with their endless answers."""
    generator = torch.Generator().manual_seed(3)
    drawn = torch.randint(3, VOCABULARY, (6, 40), generator=generator).tolist()
    prompts = [one[: 1 + 7 * place] for place, one in enumerate(drawn)]
    prompts += [[*drawn[0][:9], *one[:place]] for place, one in enumerate(drawn)]
    return [(prompt, alone(model, prompt)) for prompt in prompts]


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_any_mix_of_prompts_limits_and_ends_gives_what_one_by_one_gives(
    model: Any, known: list[tuple[list[int], list[int]]], data: st.DataObject
) -> None:
    # More tokens than a cache has room for, so that its rows move; more prompts than are read
    # together; lists of one and of many; one slot and more slots than prompts.
    place = st.integers(0, len(known) - 1)
    limit = st.one_of(st.integers(1, 6), st.integers(1, LONGEST))
    lists = data.draw(
        st.lists(st.lists(st.tuples(place, limit), min_size=1, max_size=14), min_size=1, max_size=3)
    )
    end, size = data.draw(st.integers(3, VOCABULARY - 1)), data.draw(st.integers(1, 9))
    model.generation_config.eos_token_id = end
    answers = [[Answer(known[place][0], limit) for place, limit in one] for one in lists]
    done = list(slots.decode(model, answers, size, PAD))
    assert sorted(map(id, done)) == sorted(id(answer) for one in answers for answer in one)
    for one, found in zip(lists, answers, strict=True):
        expected = [cut(known[place][1][:limit], end) for place, limit in one]
        assert [answer.tokens for answer in found] == expected
        assert [answer.ended for answer in found] == [tokens[-1] == end for tokens in expected]


def test_the_sums_of_a_method_that_pools_over_prefixes_go_with_its_rows() -> None:
    cascade = plugins.method("cascade")
    fields = {**cascade.variants["small"], **cascade.variants["prefix-pooling"]}
    pooling = replace(cascade, variants={"small": fields})
    slots_change_no_token(pooling, BUILDS["llama-gqa"])  # asserts


def test_a_method_that_computes_with_all_tokens_of_a_pass_is_refused() -> None:
    cascade = plugins.method("cascade")
    fields = {**cascade.variants["small"], **cascade.variants["sequence-pooling"]}
    adapted = cascade.adapt(build("llama-gqa"), cascade.configure(**fields))
    assert "all tokens of a pass" in (slots.refusal(adapted) or "")


def test_what_was_read_is_given_with_its_logits_and_is_left_for_the_answers(model: Any) -> None:
    prompts = [[5, 6, 7, 8], [5, 6, 9], [5, 6, 11, 12, 13]]
    seen: list[Read] = []
    answers = [Answer(prompt, 4) for prompt in prompts]
    list(slots.decode(model, [answers], 3, PAD, seen.append))
    (read,) = seen
    assert [answer.prompt for answer in read.answers] == sorted(prompts, key=len, reverse=True)
    assert read.lengths == [5, 4, 3]
    for row, answer in enumerate(read.answers):
        with torch.inference_mode():
            whole = model(input_ids=torch.tensor([answer.prompt]))
        torch.testing.assert_close(read.logits[row], whole.logits[0, -1], rtol=1e-4, atol=1e-4)
        kept, expected = read.cache.layers[1].keys, whole.past_key_values.layers[1].keys
        torch.testing.assert_close(kept[row, :, : len(answer.prompt)], expected[0])


@pytest.mark.parametrize(("size", "together"), [(1, 1), (3, 3), (40, 10)])
def test_no_more_prompts_are_read_together_than_there_are_slots_and_one_pass_of_them_is_kept(
    model: Any, size: int, together: int
) -> None:
    counts, before, caches = set[int](), [0], list[Any]()

    def look(read: Read) -> None:
        counts.add(len(read.answers))
        before.append(sum(cache() is not None for cache in caches))
        caches.append(weakref.ref(read.cache))

    model.generation_config.eos_token_id = VOCABULARY
    answers = [Answer([5, 6, 3 + place], 2) for place in range(40)]
    list(slots.decode(model, [answers], size, PAD, look))
    assert max(counts) == together
    assert max(before) == 1


@pytest.mark.parametrize(
    ("set_on", "name", "value", "said"),
    [
        ("generation_config", "repetition_penalty", 1.5, "sets repetition_penalty"),
        ("config", "_attn_implementation", "flash_attention_2", "flash_attention_2, takes no mask"),
        ("config", "attention_chunk_size", 8, "something else than the keys and values"),
        ("config", "rope_parameters", {"rope_type": "longrope"}, "how long the other rows are"),
        (
            "config",
            "rope_parameters",
            {"full_attention": {"rope_type": "dynamic"}, "sliding_attention": {}},
            "how long the other rows are",
        ),
    ],
)
def test_a_model_that_slots_cannot_take_is_refused_with_a_reason(
    set_on: str, name: str, value: Any, said: str
) -> None:
    model = build("llama-gqa")
    setattr(getattr(model, set_on), name, value)
    assert said in (slots.refusal(model) or "")


def test_an_adapter_that_writes_tokens_before_the_prompt_is_refused() -> None:
    config = PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=2)
    adapted = get_peft_model(build("llama-gqa"), config)
    assert "before the prompt" in (slots.refusal(adapted) or "")
