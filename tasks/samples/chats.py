"""Dialogues in the spelling of ConvAI2; each reply tells a fact from the speaker's persona.

>>> chat = Chat().draw("test", random.Random(1))
>>> print(chat.question)
Your persona:
- i work as a nurse.
- i have two cats.
- i live next to a park.
- i love to drink hot cocoa.
<BLANKLINE>
The conversation so far:
They: hello ! what do you do for a living ?
<BLANKLINE>
Reply as You.
>>> chat.worked
'i am a nurse . and what do you do ?'
"""

import random
from dataclasses import dataclass
from typing import NamedTuple

from tasks import prompts
from tasks.form import Problem, Split, draw_pair
from tasks.samples.facts import JOBS, PLACES


class Topic(NamedTuple):
    """A fact of a persona, the question that asks for it and the reply; `{}` is what differs."""

    fact: str
    question: str
    reply: str


JOB = Topic("i work as {}.", "what do you do for a living ?", "i am {} . and what do you do ?")
PLACE = Topic("i live {}.", "where do you live ?", "my home is {} . where is yours ?")
OTHERS = {
    Topic("i have {}.", "do you have any pets ?", "yes , i have {} ."): (
        "two cats", "a big dog", "a grey parrot", "three rabbits", "a lazy hamster",
    ),
    Topic("i love to drink {}.", "what do you like to drink ?", "i like {} best ."): (
        "green tea", "black coffee", "cold milk", "hot cocoa", "fresh lemonade",
    ),
    Topic("my hobby is {}.", "what do you do for fun ?", "in my free time i enjoy {} ."): (
        "painting", "chess", "hiking", "dancing", "fishing",
    ),
    Topic("my favorite color is {}.", "which color do you like ?", "{} , i love that color ."): (
        "red", "blue", "green", "yellow", "purple",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Chat:
    """ConvAI2: a persona of four facts, a conversation of one to three questions, and a reply."""

    def draw(self, split: Split, rng: random.Random) -> Problem:
        """Draw a dialogue; no pair of job and place, and so no persona, is in both splits."""
        job, place = draw_pair(JOBS, PLACES, split, rng)
        persona = [(JOB, job), (PLACE, place)]
        persona += [(topic, rng.choice(OTHERS[topic])) for topic in rng.sample(list(OTHERS), 2)]
        rng.shuffle(persona)
        history: list[str] = []
        for topic, value in rng.sample(persona, rng.randint(1, 3)):
            history += [topic.question, topic.reply.format(value)]
        *history, reply = history
        history[0] = f"{rng.choice(['hi', 'hello', 'hey'])} ! {history[0]}"
        facts = [topic.fact.format(value) for topic, value in persona]
        return Problem(prompts.dialogue(facts, history), reply, reply)
