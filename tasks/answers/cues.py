"""What marks a statement, a correction, a conclusion: the expressions behind `statements.py`.

None takes longer than in proportion to the text: what repeats is bounded or begins with a literal.
"""

import re

RUNAWAY = re.compile(
    r"###? ?(?:Instruction|Input|Response|Question|Problem)\b"
    r"|\n[ ]?(?:Q|Question|Problem|Exercise|Human|User|Instruction)(?:[ ]?\d{1,4})?[ ]?:"
)
"""Where a problem begins that the model made up."""
CORRECTION = re.compile(
    r"(?<![^.!?\n:;,-])[ ]{0,2}(?:but[ ]|oh,?[ ]|no,?[ ])?"
    r"(?:wait|actually|correction|oops|sorry|hold on|scratch that|on second thoughts?|hmm+"
    r"|let me (?:re|correct|fix)[- \w]{0,20})\b",
    re.IGNORECASE,
)
"""Where a text corrects itself."""
UNKNOWN = re.compile(
    r"\b(?:can(?:not|'t| not) (?:be )?(?:tell|say|know|determine|answer|solve|find|calculate)"
    r"|not? (?:enough|sufficient) information|insufficient|impossible to"
    r"|(?:do not|don't) know|no (?:real )?(?:solution|way to)|none of th"
    r"|(?:is|are) (?:wrong|incorrect|un(?:known|clear|determined))|(?:n't|not) (?:right|correct))",
    re.IGNORECASE,
)
"""What says that there is no answer, or that the one before is wrong."""

NOT = r"(?:partly|partially|half|not|neither|nor|rather than|instead of|no longer)"
DENIED = re.compile(
    rf"(?:\b{NOT}|n't)\s{{1,3}}\S{{1,30}}"
    r"|\S{1,30}\s(?:is|are)(?:\snot|n't)?\s(?:(?<=not\s|n't\s)(?:correct|right)|incorrect|wrong)\b",
    re.IGNORECASE,
)
"""What is denied, up to the next word: "not 5", "5 is not correct"."""

_BE = r"(?:is|was|are|equals|becomes|(?:must|would|should|will|could|can|might|may)[ ]be)\b"
_ASIDE = r"(?:\s?\([^()\n]{1,60}\))?(?:,[^,.\n]{1,30},)?"
_OF = (
    r"(?:[ ](?:to|of|for|in|from|on|that|which|I|we|you|here|then|now|therefore)\b"
    r"(?:[^.:=\n]|\.(?=\d)){0,80}?)?"
)
_NO_STATEMENT = r"(?![ ]?(?:\d|choices|options|format|key))"
CUE = re.compile(
    rf"""(?: (?<!to[ ])(?<!can[ ])(?<!['"]s[ ]) \b (?: answers?{_NO_STATEMENT} | ans\b\.? )
             (?:[ ](?:choice|option|letter|value))? {_ASIDE}{_OF}{_ASIDE}
             (?: \s{{1,3}}{_BE} | [\s"'*_)]{{0,3}}(?:[:=]|-(?=[ ])) )
             (?![ ](?:found|obtained|given|calculated|determined|reached|computed|based)\b)
           | \b(?:correct|right|best)[ ](?!answers?\b)[a-z]{{1,20}}\b {_ASIDE}{_OF}
             (?: [ ]{_BE} | [ ]?[:=] )
           | \bvalue[ ]of[ ][^.:=\n]{{1,60}}?[ ]is\b
           | \b(?:correct|final|right)[ ]answer[ ]?(?=\(?[A-E]\b)
           | (?<!\#)\#{{4}} (?=[ ]{{0,9}}\S{{1,200}}[ ]{{0,9}}(?:\n|\Z)) | <answer>
           | \b(?:Antwort|Respuesta|R\u00e9ponse|Risposta)[ ]?: | \u7b54\u6848(?:\u662f|:)
           | \\f?boxed(?=\{{[^{{}}]{{0,200}}\}})
         ) [\s:=]{{0,9}}""",
    re.IGNORECASE | re.VERBOSE,
)
"""What stands before a statement: "the answer is", "Answer:", "####", a box."""
BEHIND = re.compile(
    r"[ ](?:is|are|was|would[ ]be|must[ ]be|seems|looks)[ ](?:thus[ ]|therefore[ ]|also[ ])?"
    r"(?:(?:the|our|my)[ ])?(?:(?:final|right|correct|best|only)[ ]){0,2}"
    r"(?:answer|choice|option|correct|right|better|best)\b(?!\s?\d)",
    re.IGNORECASE,
)
"""What stands behind a statement: "is the correct answer"."""
RESULT = re.compile(
    r"=|:(?=\s)|\|?\s?\btotal\s?\|"
    r"|\b(?:so|thus|therefore|hence|then|consequently|only|making|giving|leaving"
    r"|(?:this|that|which)\s(?:gives|makes|leaves|means)|(?:that|which)\sis"
    r"|get|equals?|returns|prints|round(?:s|ed)|needs?|costs?)\b",
    re.IGNORECASE,
)
"""What leads to the result of a sentence."""
CONCLUDING = re.compile(
    r"\b(?:total|altogether|in all|left|remain(?:s|ing)?|is|are|overall|combined)\b", re.IGNORECASE
)
"""What marks a sentence with one answer as a conclusion."""
SUBORDINATE = re.compile(r",?\s(?:after|because|since|when|before|while)\s", re.IGNORECASE)
"""What begins a clause beside the main one."""
AFTERWORD = re.compile(
    r"\b(?:to (?:verify|check|confirm)\b|(?:double.?)?check(?:ing)?:|verification\b"
    r"|I hope (?:this|that|it) |let me know\b|feel free\b|if you(?:'d| would| have| need)\b)",
    re.IGNORECASE,
)
"""What follows an answer and is none."""
HEDGE = re.compile(
    r"\b(?:or (?:maybe|perhaps|possibly|even)|(?:may|might|could)(?: also)? be|either)\b",
    re.IGNORECASE,
)
"""What leaves several answers open."""
UNFINISHED = re.compile(
    r"(?:[-=+*/(,]|[-=+*/]\s?\$"
    r"|\b(?:which|that|the|an?|and|so|is|are|of|to|by|for|has|have))\s{0,3}\Z",
    re.IGNORECASE,
)
"""The end of a text that was cut off."""
UNCLOSED = re.compile(r"\\boxed\{[^{}]{0,200}\Z|<think>")
"""A box or a thought that was cut off."""
BARE = re.compile(r"\W{0,5}\S{1,40}(?:\s\S{1,20})?\W{0,5}")
"""A sentence or line that is nothing but an answer."""
SENTENCE_END = re.compile(
    r"""\n|(?<!\bi\.e)(?<!\be\.g)(?<!\bRs)[.!?]["')\]]{0,2}(?:\s+(?=["'(\[]?[A-Z\d])|(?=[A-Z][a-z]))"""
)
