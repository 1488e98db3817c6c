"""The texts of the sample word problems, by the arithmetic that solves them.

Every text of a kind is solved by the kind's steps. In a step, `a`, `b` and `c` are the numbers of
the text, in any order of mention, and `r` is the result of the step before. `{n}` and `{m}` are
two people, `{t}` is a thing in the plural. The last sentence of a text is its question.
"""

NAMES = ("Tom", "Mia", "Sam", "Lily", "Jack", "Nora", "Paul", "Rosa", "Max", "Ida", "Finn", "Vera")
THINGS = (
    "apples", "books", "cards", "coins", "cups", "eggs", "flowers", "marbles", "nuts", "pencils",
    "plums", "shells", "stamps", "stickers", "stones", "toys",
)  # fmt: skip

ONE_STEP = {
    "a + b": (
        "{n} has {a} {t}. {n} finds {b} more {t}. How many {t} does {n} have now?",
        "{n} picked {a} {t} and {m} picked {b} {t}. How many {t} did they pick in all?",
        "There are {a} {t} on the table. {n} puts {b} more {t} there. "
        "How many {t} are on the table now?",
        "{n} bought {a} {t} on Monday and {b} {t} on Friday. How many {t} did {n} buy in total?",
    ),
    "a - b": (
        "{n} had {a} {t}. {n} gave {b} {t} to {m}. How many {t} does {n} have left?",
        "There were {a} {t} in the box. {n} took {b} {t} out. How many {t} are in the box now?",
        "{n} has {a} {t} and {m} has {b} {t}. How many more {t} does {n} have than {m}?",
        "{n} lost {b} of {a} {t}. How many {t} are left?",
    ),
    "a * b": (
        "{n} has {a} boxes. Each box holds {b} {t}. How many {t} does {n} have?",
        "There are {a} rows of {t} with {b} {t} in each row. How many {t} are there?",
        "{n} buys {b} {t} every day. How many {t} does {n} buy in {a} days?",
        "Each of {a} friends brings {b} {t}. How many {t} do they bring together?",
    ),
    "a / b": (
        "{n} shares {a} {t} equally among {b} friends. How many {t} does each friend get?",
        "{n} puts {a} {t} into bags of {b}. How many bags does {n} fill?",
        "There are {a} {t} in {b} equal rows. How many {t} are in each row?",
        "{n} paid {a} dollars for {b} {t}. How many dollars did each one cost?",
    ),
}

ADD_SUB = {expression: ONE_STEP[expression] for expression in ("a + b", "a - b")}

# A third number that the question does not need.
DISTRACTED = {
    "a + b": (
        "{n} has {a} {t} and {c} boxes. {m} has {b} {t}. How many {t} do they have in all?",
        "{n} picked {a} {t} in {c} days. Then {n} picked {b} more {t}. "
        "How many {t} did {n} pick in total?",
    ),
    "a - b": (
        "{n} had {a} {t} and {c} bags. {n} gave {b} {t} to {m}. How many {t} does {n} have left?",
        "There were {a} {t} and {c} cats in the room. {n} took {b} {t} out. "
        "How many {t} are in the room now?",
    ),
    "a * b": (
        "{n} is {c} years old and has {a} boxes. Each box holds {b} {t}. "
        "How many {t} does {n} have?",
        "There are {a} rows of {t} with {b} {t} in each row and {c} dogs near them. "
        "How many {t} are there?",
    ),
    "a / b": (
        "{n} has {c} cats. {n} shares {a} {t} equally among {b} friends. "
        "How many {t} does each friend get?",
        "There are {a} {t} and {c} dogs in the room. The {t} are in {b} equal rows. "
        "How many {t} are in each row?",
    ),
}

TWO_STEPS = {
    "a + b; r - c": (
        "{n} has {a} {t}. {n} finds {b} more {t} and gives {c} {t} to {m}. "
        "How many {t} does {n} have left?",
        "{n} picked {a} {t} and {m} picked {b} {t}. They lost {c} of the {t}. "
        "How many {t} are left?",
    ),
    "a - b; r + c": (
        "There were {a} {t} in the box. {n} took {b} {t} out and put {c} other {t} in. "
        "How many {t} are in the box now?",
        "{n} had {a} {t}. {n} lost {b} {t} and then bought {c} {t}. "
        "How many {t} does {n} have now?",
    ),
    "a * b; r + c": (
        "{n} has {a} boxes with {b} {t} in each and {c} more {t} on the table. "
        "How many {t} does {n} have in total?",
        "{n} buys {b} {t} a day for {a} days. {m} gives {c} more {t} to {n}. "
        "How many {t} does {n} have now?",
    ),
    "a * b; r - c": (
        "{n} has {a} boxes with {b} {t} in each. {n} gives {c} {t} to {m}. "
        "How many {t} does {n} have left?",
        "There are {a} rows of {t} with {b} {t} in each row. {n} takes {c} {t} away. "
        "How many {t} are left?",
    ),
    "a + b; r / c": (
        "{n} has {a} {t} and {m} has {b} {t}. They put all the {t} into bags of {c}. "
        "How many bags do they fill?",
        "{n} picked {a} {t} on Monday and {b} {t} on Friday and shares them equally "
        "among {c} friends. How many {t} does each friend get?",
    ),
    "a - b; r / c": (
        "{n} had {a} {t}. {n} lost {b} {t} and puts the other {t} into bags of {c}. "
        "How many bags does {n} fill?",
        "There were {a} {t} in the box. {n} took {b} {t} out and shares the other {t} equally "
        "among {c} friends. How many {t} does each friend get?",
    ),
}

THREE_STEPS = {
    "a * 2; r + a; r - b": (
        "{n} has {a} {t}. {m} has twice as many {t} as {n}. They put all the {t} together and "
        "give {b} {t} away. How many {t} do they have left?",
    ),
    "a * b; r + c; r / 2": (
        "{n} buys {b} {t} a day for {a} days. {m} gives {c} more {t} to {n}. Then {n} loses half "
        "of the {t}. How many {t} does {n} have left?",
    ),
    "a + b; r * 2; r - c": (
        "{n} picked {a} {t} on Monday and {b} {t} on Friday. {m} picked twice as many {t} as {n} "
        "and lost {c} of them. How many {t} does {m} have left?",
    ),
    "a - b; r * 2; r + c": (
        "{n} had {a} {t} and gave {b} {t} away. {m} has twice as many {t} as {n} has left. "
        "Then {m} buys {c} more {t}. How many {t} does {m} have now?",
    ),
}

BELOW_ZERO = {
    "a - b": (
        "In the morning it was {a} degrees. Then it got {b} degrees colder. "
        "How many degrees was it in the evening?",
        "{n} has {a} dollars and spends {b} dollars with a card. "
        "How many dollars does {n} have in the end?",
    ),
}
