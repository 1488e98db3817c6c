"""The words of the samples about everyday things, in tables that hold without exception.

No thing is listed under two headings of a table, so that what fits one heading fits no other.
"""

from typing import NamedTuple


class Order(NamedTuple):
    """Things in rising order, and the words that compare them."""

    things: tuple[str, ...]
    more: str
    most: str
    less: str
    least: str


class Twins(NamedTuple):
    """A sentence with a gap, and the words by which the gap is `{a}` or `{b}`."""

    text: str
    a: str
    b: str


ORDERS = (
    Order(
        ("a feather", "a coin", "an egg", "an apple", "a brick", "a sheep", "a piano", "a car",
         "an elephant", "a train"),
        "heavier", "heaviest", "lighter", "lightest",
    ),
    Order(
        ("an ant", "a bee", "a mouse", "a cat", "a sheep", "a horse", "an elephant", "a whale"),
        "bigger", "biggest", "smaller", "smallest",
    ),
    Order(
        ("a snail", "a tortoise", "a walker", "a cyclist", "an express train", "an airliner",
         "a rocket"),
        "faster", "fastest", "slower", "slowest",
    ),
    Order(
        ("a second", "a minute", "an hour", "a day", "a week", "a month", "a year", "a century"),
        "longer", "longest", "shorter", "shortest",
    ),
)  # fmt: skip

CLASSES = {
    "an animal": ("dog", "horse", "tiger", "rabbit", "goat", "bear"),
    "a fruit": ("apple", "pear", "plum", "cherry", "banana", "grape"),
    "a metal": ("iron", "gold", "silver", "copper", "tin", "zinc"),
    "a planet": ("Mars", "Venus", "Jupiter", "Saturn", "Neptune", "Uranus"),
    "a musical instrument": ("violin", "piano", "flute", "drum", "trumpet", "guitar"),
    "a vehicle": ("bus", "truck", "bicycle", "train", "car", "tram"),
    "a piece of furniture": ("chair", "table", "bed", "wardrobe", "sofa", "desk"),
    "a piece of clothing": ("shirt", "sock", "coat", "hat", "glove", "scarf"),
    "a part of the body": ("hand", "knee", "elbow", "nose", "ear", "foot"),
    "a drink": ("tea", "milk", "coffee", "lemonade", "cocoa", "juice"),
}

PROPERTIES = {
    "can fly": ("a sparrow", "an eagle", "a bee", "a butterfly", "an owl", "a swallow"),
    "lives in the sea": (
        "a shark", "a whale", "a crab", "an octopus", "a seal", "a lobster",
    ),
    "melts when it gets warm": (
        "ice", "butter", "chocolate", "snow", "an icicle", "ice cream",
    ),
    "gives light": (
        "a lamp", "a street light", "a floodlight", "a lighthouse", "a headlight", "a light bulb",
    ),
    "is made of paper": (
        "a newspaper", "a notebook", "an envelope", "a ticket", "a poster", "a map",
    ),
    "runs on wheels": (
        "a bicycle", "a cart", "a tractor", "a bus", "a skateboard", "a scooter",
    ),
    "keeps people warm": (
        "a blanket", "a scarf", "a mitten", "a sweater", "a quilt", "a woollen hat",
    ),
    "is used for cutting": (
        "a knife", "a saw", "an axe", "a razor", "a pair of scissors", "a scythe",
    ),
}  # fmt: skip

# What each tool serves to do.
TOOLS = {
    "a pair of scissors": "cut paper",
    "a hammer": "drive a nail into a board",
    "a spoon": "eat soup",
    "a broom": "sweep the floor",
    "a shovel": "dig a deep hole",
    "a pen": "write a letter",
    "a key": "unlock a door",
    "a towel": "dry wet hands",
    "a net": "catch a butterfly",
    "a lamp": "find the way in the dark",
    "a ruler": "measure the length of a table",
    "a needle": "sew a button onto a shirt",
    "a ladder": "climb onto a roof",
    "an umbrella": "stay dry in the rain",
    "a kettle": "boil water for tea",
    "a comb": "untangle hair",
}

FEELINGS = {
    "sad": (
        "lost a dear old toy", "said goodbye to a good friend", "heard that the dog was very ill",
        "had to leave the old home for ever",
    ),
    "proud": (
        "won the first prize", "solved the puzzle that nobody else could solve",
        "learned to swim at last", "was praised in front of the whole class",
    ),
    "scared": (
        "saw a snake on the path", "heard a strange noise in the dark", "met a growling dog",
        "was chased by an angry bull",
    ),
    "hungry": (
        "had nothing to eat all day", "missed both breakfast and lunch",
        "left the bread at home and could not eat", "forgot to bring any food for the trip",
    ),
    "thirsty": (
        "had nothing to drink all day", "ate a whole bag of salty nuts",
        "found the water bottle empty on a hot day", "could not drink a sip until the evening",
    ),
    "sleepy": (
        "stayed awake all night", "got up long before dawn", "was still up at midnight",
        "did not close an eye last night",
    ),
    "cold": (
        "sat in the snow without a coat", "slept without a blanket in winter",
        "stood in the icy wind with wet hair", "wore thin clothes on a frosty day",
    ),
}  # fmt: skip

# How each activity may begin, and how it may go on.
ACTIVITIES = {
    "Baking a cake": (
        ("breaks two eggs into a bowl of flour", "mixes flour, sugar and milk"),
        ("stirs the dough and puts it into the oven", "pours the dough into a cake tin"),
    ),
    "Washing a dog": (
        ("lifts the dog into a tub of water", "wets the fur of the dog"),
        ("rubs soap into the fur", "rinses the dog and dries its fur"),
    ),
    "Planting a tree": (
        ("digs a hole in the garden", "carries a young tree into the garden"),
        ("sets the roots into the ground and adds earth", "waters the young tree"),
    ),
    "Writing a letter": (
        ("takes a pen and a sheet of paper", "sits down at the desk with pen and paper"),
        ("folds the sheet and puts it into an envelope", "signs the sheet and seals the envelope"),
    ),
    "Painting a wall": (
        ("opens a can of white paint", "dips the brush into the paint"),
        ("spreads the paint over the wall", "covers the wall with a second coat"),
    ),
    "Riding a bicycle": (
        ("puts on a helmet and sits on the saddle", "pumps up both tyres"),
        ("pedals down the road", "pedals up the hill and brakes at the corner"),
    ),
    "Playing the piano": (
        ("opens the lid above the keys", "puts the sheet music on the stand"),
        ("presses the keys and plays a tune", "plays a slow song with both hands on the keys"),
    ),
    "Building a snowman": (
        ("rolls a big ball of snow", "puts one ball of snow on another"),
        ("adds a carrot as the nose", "presses two stones into the snow as eyes"),
    ),
    "Making tea": (
        ("boils water in the kettle", "puts a tea bag into a cup"),
        ("pours hot water over the tea bag", "waits until the tea is dark and drinks it"),
    ),
    "Catching fish": (
        ("ties a hook to the line", "throws the line into the lake"),
        ("waits for a bite and pulls out a trout", "feels a pull and winds in the line"),
    ),
    "Ironing a shirt": (
        ("lays the shirt on the board", "waits until the iron is hot"),
        ("moves the iron over the sleeves", "smooths the collar with the iron"),
    ),
    "Changing a light bulb": (
        ("switches the lamp off and climbs the ladder", "unscrews the broken bulb"),
        ("screws in the new bulb", "turns the new bulb until it is tight"),
    ),
}

PEOPLE_TWINS = (
    Twins("{a} gave a coat to {b} because _ was {why}.", "kind", "cold"),
    Twins("{a} asked {b} for help because _ {why} the answer.", "did not know", "knew"),
    Twins("{a} ran faster than {b}, so _ {why} the race.", "won", "lost"),
    Twins("{a} sold a bike to {b} because _ {why} one.", "no longer needed", "badly wanted"),
    Twins("{a} thanked {b} because _ had {why}.", "been helped", "been so helpful"),
    Twins("{a} woke {b} up because _ had {why}.", "risen early", "slept too long"),
)
THING_TWINS = (
    Twins("The {a} did not fit into the {b} because the _ was too {why}.", "big", "small"),
    Twins("The {a} went into the {b} with ease because the _ was so {why}.", "small", "big"),
)
CONTENTS = ("ball", "book", "vase", "lamp", "hat", "shoe", "drum", "kite", "clock", "doll")
CONTAINERS = ("box", "bag", "drawer", "case", "basket", "crate", "chest", "sack")

# What helps against each complaint.
COMPLAINTS = {
    "a sore throat": "Drink warm tea and speak little.",
    "a runny nose": "Drink a lot and rinse your nose with salt water.",
    "a stiff neck": "Keep your neck warm and move it gently.",
    "sore muscles": "Rest for a day and take a warm bath.",
    "dry skin": "Use a rich cream after every bath.",
    "tired eyes": "Look into the distance for a minute every hour.",
    "a blister on my heel": "Cover it with a plaster and wear wide shoes.",
    "an itchy insect bite": "Cool it and do not scratch.",
    "a mild sunburn": "Cool the skin and stay in the shade.",
    "a dull headache": "Drink water and rest in a dark room.",
    "a swollen ankle": "Rest the foot, raise it and cool it.",
    "chapped lips": "Use a lip balm and do not lick your lips.",
}

DEFINITIONS = {
    "a violin": "A violin is an instrument whose strings are played with a bow.",
    "a drum": "A drum is an instrument that is beaten with sticks or hands.",
    "a flute": "A flute is an instrument that sounds when air is blown across a hole.",
    "a whale": "A whale is a mammal that lives in the sea and breathes air.",
    "a shark": "A shark is a fish that breathes in water with gills.",
    "a bat": "A bat is a mammal that flies at night.",
    "an owl": "An owl is a bird that hunts at night.",
    "a river": "A river is water that flows over land to a lake or the sea.",
    "a lake": "A lake is still water with land all around it.",
    "a glacier": "A glacier is a mass of ice that moves slowly downhill.",
    "a planet": "A planet is a large body that moves around a star.",
    "a star": "A star is a ball of hot gas that makes its own light.",
    "a moon": "A moon is a body that moves around a planet.",
    "a microscope": "A microscope is a device that makes very small things visible.",
    "a telescope": "A telescope is a device that makes distant things visible.",
    "a thermometer": "A thermometer is a device that measures how warm something is.",
    "a compass": "A compass is a device that shows where north is.",
    "a tulip": "A tulip is a plant that grows from a bulb and dies back after the summer.",
    "an oak": "An oak is a tree that bears acorns and lives for centuries.",
    "a volcano": "A volcano is a mountain from which molten rock can come.",
}

JOBS = (
    "a baker", "a nurse", "a teacher", "a farmer", "a pilot", "a painter", "a dentist",
    "a gardener", "a cook", "a carpenter",
)  # fmt: skip
PLACES = (
    "in a small village", "by the sea", "in a big city", "on a farm", "near a forest",
    "in the mountains", "on an island", "next to a park", "in an old castle", "by a river",
)  # fmt: skip
