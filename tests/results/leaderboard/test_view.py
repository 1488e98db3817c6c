"""A view and its address say the same."""

from urllib.parse import parse_qsl, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.errors import ResultsError
from results.leaderboard.view import View, from_query, spelled

texts = st.text(st.characters(exclude_categories=["Cs"]))
named = st.lists(texts.filter(bool), unique=True).map(tuple)
views = st.builds(
    View,
    group=texts,
    backbones=named,
    methods=named,
    columns=named,
    protocol=texts,
    recipes=st.sampled_from(["shared", "own", "validation"]),
    era=texts,
    published=texts,
    sort=texts,
    reverse=st.booleans(),
    search=texts,
)


@given(views)
def test_a_view_comes_back_from_its_address(view: View) -> None:
    assert from_query(parse_qsl(view.to_query())) == view


@given(texts)
def test_a_form_gives_back_a_name_whose_characters_html_lacks(name: str) -> None:
    assert spelled(name).isprintable()
    assert unquote(spelled(name)) == name


def test_the_default_view_has_no_query() -> None:
    assert View().to_query() == ""


def test_an_unknown_policy_of_recipes_names_the_nearest() -> None:
    with pytest.raises(ResultsError, match="Did you mean 'shared'"):
        from_query([("recipes", "share")])
