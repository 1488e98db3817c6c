"""The layouts of data files: the same rows, whatever names their fields have.

The examples are made up; the numbers of rows of the published files are in the notes that came with
them (ConvAI2: 7,801 lines with a tab).
"""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.contract import Row
from tasks.data.files import TRAIN_FIELDS, read_any

Item = dict[str, object]

ALPACA = "Below is an instruction that describes a task. Write a response to it.\n\n"


def rows(folder: Path, *items: Item) -> list[Row]:
    path = folder / "any.jsonl"
    path.write_text("".join(f"{json.dumps(item)}\n" for item in items), "utf-8")
    return list(read_any(path, TRAIN_FIELDS)[0])


def dialogue(folder: Path, text: str) -> list[Row]:
    path = folder / "any.txt"
    path.write_bytes(text.encode())
    return list(read_any(path, TRAIN_FIELDS)[0])


@pytest.mark.parametrize(
    ("item", "row"),
    [
        pytest.param(
            {"instruction": "Name it.", "input": "a cat", "output": "Tom", "answer": "Tom"},
            Row(0, "Name it.", "Tom", "Tom", "a cat"),
            id="rows",
        ),
        pytest.param(
            {"instruction": "Name it.", "input": None, "output": "Tom", "category": "names"},
            Row(0, "Name it.", "Tom", ""),
            id="rows with null and more",
        ),
        pytest.param(
            {
                "question": "3 bags of 400 nuts and 7 nuts are?",
                "answer": "3*400=<<3*400=1200>>1200.\n1200+7=<<1200+7=1207>>1207\n#### 1,207",
            },
            Row(
                0,
                "3 bags of 400 nuts and 7 nuts are?",
                "3*400=1200.\n1200+7=1207\nThe answer is: 1,207",
                "1207",
            ),
            id="GSM8K",
        ),
        pytest.param(
            {"question": "Who?", "answer": "Tom, with 3 < 4 cats."},
            Row(0, "Who?", "Tom, with 3 < 4 cats.", ""),
            id="question and answer",
        ),
        pytest.param(
            {"type": "GSM_Rephrased", "query": "1 + 1?", "response": "The answer is: 2"},
            Row(0, "1 + 1?", "The answer is: 2", ""),
            id="MetaMathQA",
        ),
        pytest.param(
            {"instruction": "Who is it?", "context": "Tom sat.", "response": "Tom"},
            Row(0, "Who is it?", "Tom", "", "Tom sat."),
            id="Dolly",
        ),
        pytest.param(
            {"prompt": "Say hello.", "response": "hello"},
            Row(0, "Say hello.", "hello", ""),
            id="prompt",
        ),
        pytest.param(
            {
                "prompt": f"{ALPACA}### Instruction:\nSay hello.\n\nTwice.\n\n### Response:\n",
                "response": "hello hello",
            },
            Row(0, "Say hello.\n\nTwice.", "hello hello", ""),
            id="prompt in Alpaca's words",
        ),
        pytest.param(
            {
                "prompt": f"{ALPACA}### Instruction:\nAdd.\n\n### Input:\n1, 2\n\n### Response:\n",
                "response": "3",
            },
            Row(0, "Add.", "3", "", "1, 2"),
            id="prompt in Alpaca's words with input",
        ),
        pytest.param(
            {
                "url": "",
                "question": "Is tea bad?",
                "question_text": "\r\n\t Hi,\n I drink  tea. ",
                "answer": "no, tea is fine.",
                "tags": [],
            },
            Row(0, "Is tea bad?", "no, tea is fine.", "", "Hi, I drink tea."),
            id="iCliniq",
        ),
        pytest.param(
            {"id": 1, "original_text": "Tom has 3 . Half is ?", "equation": "x=3/2", "ans": 1.5},
            Row(0, "Tom has 3 . Half is ?", "The answer is 1.5", "1.5"),
            id="MAWPS",
        ),
        pytest.param(
            {"original_text": "Tom has 3 . All is ?", "equation": "x=3", "ans": "3"},
            Row(0, "Tom has 3 . All is ?", "The answer is 3", "3"),
            id="MAWPS with a text",
        ),
    ],
)
def test_a_row_is_known_by_its_fields(tmp_path: Path, item: Item, row: Row) -> None:
    assert rows(tmp_path, item) == [row]


def test_a_dialogue_is_a_row_for_each_reply_with_all_that_was_said_before(tmp_path: Path) -> None:
    text = (
        "1 your persona: i bake bread.\n2 your persona: i have a dog.\n"
        "3 hello !\thi there .\n4 any pets ?\ta dog .\n"
        "1 your persona: i sing.\n2 you sing ?\tall day .\n"
    )
    first, second, third = dialogue(tmp_path, text)
    assert [row.output for row in (first, second, third)] == ["hi there .", "a dog .", "all day ."]
    assert second.instruction == (
        "Your persona:\n- i bake bread.\n- i have a dog.\n\n"
        "The conversation so far:\nThey: hello !\nYou: hi there .\nThey: any pets ?\n\n"
        "Reply as You."
    )
    assert "bread" not in third.instruction
    assert [row.id for row in (first, second, third)] == [0, 1, 2]


def test_both_layouts_of_dialogues_hold_the_same_rows(tmp_path: Path) -> None:
    text = "1 your persona: i sing.\n2 hi .\thello .\n3 sing !\tla la .\n"
    item: Item = {"persona": ["i sing."], "dialogue": [["hi .", "hello ."], ["sing !", "la la ."]]}
    assert dialogue(tmp_path, text) == rows(tmp_path, item)


def test_who_begins_a_dialogue_has_heard_nothing(tmp_path: Path) -> None:
    turns = [["__SILENCE__", "hello ."], ["hi .", "how are you ?"]]
    first, second = rows(tmp_path, {"persona": ["i sing."], "dialogue": turns})
    assert (
        first.instruction == "Your persona:\n- i sing.\n\nNobody has spoken yet.\n\nReply as You."
    )
    assert "You: hello .\nThey: hi .\n" in second.instruction


def test_a_persona_is_of_its_own_dialogue_also_where_nobody_spoke(tmp_path: Path) -> None:
    text = "1 your persona: i bake.\n1 your persona: i sing.\n2 hi .\thello .\n"
    (row,) = dialogue(tmp_path, text)
    assert "sing" in row.instruction
    assert "bake" not in row.instruction


@pytest.mark.parametrize("candidates", ["", "\tyes .|no .", "\t\tyes .|no ."])
def test_candidates_behind_a_reply_are_no_part_of_it(tmp_path: Path, candidates: str) -> None:
    text = f"1 your persona: i sing.\n2 hi .\thello .{candidates}\n"
    assert [row.output for row in dialogue(tmp_path, text)] == ["hello ."]


def test_line_ends_of_windows_are_no_part_of_what_is_said(tmp_path: Path) -> None:
    text = "1 your persona: i sing.\n2 hi .\thello .\n3 sing !\tla la .\n"
    assert dialogue(tmp_path, text.replace("\n", "\r\n")) == dialogue(tmp_path, text)


# What a line of the layout can hold: no tab, no line end, and something to see.
SAID = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=12)
SEEN = SAID.filter(str.strip)
DIALOGUES = st.lists(
    st.tuples(
        st.lists(SEEN, min_size=1, max_size=3),
        st.lists(st.tuples(SEEN, SEEN), min_size=1, max_size=4),
    ),
    min_size=1,
    max_size=4,
)
Dialogues = list[tuple[list[str], list[tuple[str, str]]]]


def put_down(dialogues: Dialogues) -> str:
    texts = []
    for persona, turns in dialogues:
        entries = [f"your persona: {fact}" for fact in persona] + ["\t".join(t) for t in turns]
        texts += [f"{number} {entry}\n" for number, entry in enumerate(entries, 1)]
    return "".join(texts)


@settings(max_examples=60)
@given(DIALOGUES)
def test_dialogues_that_were_put_down_come_back(
    tmp_path_factory: pytest.TempPathFactory, dialogues: Dialogues
) -> None:
    found = dialogue(tmp_path_factory.mktemp("dialogues"), put_down(dialogues))
    assert [row.output for row in found] == [reply for _, turns in dialogues for _, reply in turns]
    heard = []
    for persona, turns in dialogues:
        facts = "".join(f"- {fact}\n" for fact in persona)
        so_far = ""
        for utterance, reply in turns:
            so_far += f"They: {utterance}\n"
            heard.append(f"Your persona:\n{facts}\nThe conversation so far:\n{so_far}\n")
            so_far += f"You: {reply}\n"
    assert [row.instruction.removesuffix("Reply as You.") for row in found] == heard


@pytest.mark.parametrize(
    ("place", "number"),
    [
        ("dialogue/convai2/valid_self_original_no_cands.txt", 7801),
        ("dialogue/convai2/xpersona_en_valid.json", 7316),
        ("multitask/icliniq/icliniq_qas.json", 465),
        ("multitask/dolly/dolly_open_qa.json", 3742),
        ("multitask/dolly/dolly_hhrlhf_train_small.jsonl", 1000),
        ("multitask/codealpaca/new_codealpaca.json.gz", 4535),
        ("multitask/auto_cot/auto_cot.json.gz", 5816),
        ("original/gsm8k/train.jsonl.gz", 7473),
        ("original/gsm8k/test.jsonl", 1319),
        ("original/mawps/trainset.json", 1898),
        ("finetune/math_substitute.json.gz", 8412),
        ("finetune/commonsense_substitute.json.gz", 13119),
    ],
)
def test_a_published_file_has_as_many_rows_as_its_notes_say(
    data: Path, place: str, number: int
) -> None:
    found, _ = read_any(data / place, TRAIN_FIELDS)
    assert [row.id for row in found] == list(range(number))


def test_a_thousand_personas_are_in_the_dialogues_of_convai2(data: Path) -> None:
    path = data / "dialogue/convai2/valid_self_original_no_cands.txt"
    found, _ = read_any(path, TRAIN_FIELDS)
    # The first reply of a dialogue has heard one utterance.
    firsts = [row for row in found if "You: " not in row.instruction]
    assert len(firsts) == 1000
    assert all(row.instruction.count("They: ") == 1 for row in firsts)


def test_gsm8k_read_from_its_authors_has_the_answers_of_llm_adapters(data: Path) -> None:
    theirs, _ = read_any(data / "original/gsm8k/test.jsonl", TRAIN_FIELDS)
    ours, _ = read_any(data / "qa/gsm8k/test.json", ("instruction", "answer"))
    gold = {" ".join(row.instruction.split()): float(row.answer) for row in ours}
    same = [gold.get(" ".join(row.instruction.split())) == float(row.answer) for row in theirs]
    assert sum(same) >= 1300  # a few questions are spelled differently
    assert not any("<<" in row.output or "####" in row.output for row in theirs)
