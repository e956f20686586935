"""Broad requests that name nothing: "tell me everything", "any advice?", "what should I know?"."""

from __future__ import annotations

import re
from typing import Final

_KNOW: Final = (
    r"(?:know|be (?:aware|told|informed)|watch out|look out|hear|learn|worry|understand|consider|pay attention|keep in mind|"
    r"look into|bear in mind)"
)
_VAGUE: Final = (
    r"(?:information|info|background|context|details?|insights?|advice|tips?|hints?|thoughts?|comments?|suggestions?|observations?|"
    r"remarks?|"
    r"pitfalls?|gotchas?|recommendations?|concerns?|wisdom|lessons(?: learned)?|pointers?|feedback|guidance|input|war stories|knowledge|"
    r"facts|"
    r"particulars|intel|lowdown|caveats?|surprises|risks?|issues|problems|traps|landmines|skeletons|red flags|rules?|requirements|"
    r"constraints|"
    r"assumptions|conventions|things|stuff|history|politics)"
)
_ALL: Final = (
    r"(?:everything|anything|whatever|all (?:that |of )?(?:you|there)\b|as much as|what you (?:know|have|can)|it all|"
    r"the (?:full|whole|complete|entire|big|real) (?:picture|story|thing|situation))"
)
_LEAD: Final = r"^\W*(?:(?:hi|hello|hey)[ ,]+)?(?:\w+[ ,]+)?"
"""A greeting and a name before a request that must be the whole sentence."""
_CATEGORIES: Final = (
    r"(?:questions?|assumptions?|requirements?|rules?|exceptions?|conventions?|limits?|policies|special cases?|edge "
    r"cases?|definitions?|constraints?|details?|topics?)"
)

_ALL_YOU_KNOW: Final = (
    rf"\b(?:tell|share|give|send|disclose|dump|show|brief|fill|teach|explain|describe|reveal|spill|talk|walk)\b[^.?!]{{0,40}}\b{_ALL}\b",
    r"\b(?:whatever|anything|everything)\b[^.?!]{0,20}\b(?:you (?:can|know|have|like|want|feel|think|consider|deem|wish)|comes to mind|"
    r"matters|counts|helps|at all|whatsoever)\b",
    r"\b(?:all|every(?:thing)?)\b(?: of)? (?:the |your |that is |that's |its )?(?:relevant |important |business |available |necessary |"
    r"applicable |key )?"
    r"(?:facts|info|information|knowledge|rules|details|requirements|policies|secrets|exceptions|conventions|limits)\b(?! (?:on|about|of|"
    r"in|for|regarding) (?!this|the project|here))",
    rf"\b(?:answer|cover|go over|list|explain|describe|give me|share|enumerate) (?:me )?(?:all|every|each|the full list "
    rf"of)\b[^.?!]{{0,20}}\b{_CATEGORIES}\b",
    r"\b(?:full|complete|general|quick|short|proper) (?:briefing|overview|rundown|introduction|download|handover|debrief|tour)\b",
    r"\b(?:what(?:'s| is)|give me|tell me)\b[^.?!]{0,12}\b(?:the )?(?:real story|full story|whole story|big picture|full picture|whole "
    r"picture|situation|lowdown|scoop|deal|catch)\b",
    r"\btell me (?:more|a bit|a little|something)?\s*about (?:yourself|your (?:work|role|job|area|department|team|world)|the (?:project|"
    r"company|business|situation|work)|what's going on|this (?:project|place|company))\b",
    r"\bhow (?:does (?:it|everything|all of (?:it|this)|this all)|things|everything) (?:all )?works?\b\s*(?:here|around here|so that|"
    r"[?!.]|$)",
    r"\b(?:end to end|(?:dump|empty|pour out) (?:me )?(?:your|all)|brain dump|get up to speed|bring me up to speed|lie of the land|lay "
    r"of the land|where the bodies are buried|don't hold back)\b",
)
_WHAT_TO_KNOW: Final = (
    r"\b(?:what|which things?)\b[^.?!]{0,30}\b(?:should|shall|must|do|would|ought|don't|can't|might|could)\b[^.?!]{0,30}\b(?:i|we|"
    r"you)\b[^.?!]{0,25}"
    rf"\b{_KNOW}\b\s*(?:[?!.,]|$|(?:about )?(?:here|before|first|this|that|in advance|going in|as|to get|when|going forward))",
    rf"{_LEAD}(?:what|which) (?:should|must|do|would) i (?:need to |have to |want to )?(?:know|be aware of|ask)\W*$",
    rf"\b(?:any|some|every)thing\b(?: else| more| special)?(?: that)? (?:i|we|one) (?:should|must|ought to|need to|needs to|have to|"
    rf"might want to|may want to|could)\b[^.?!]{{0,20}}\b{_KNOW}\b",
    r"\b(?:is there|are there|do you have|have you got|got)\b[^.?!]{0,20}\b(?:any(?:thing)?|some(?:thing)?|more)\b[^.?!]{0,50}"
    rf"\b(?:{_KNOW}|missing|overlook\w*|forgotten|forgot|share|add|say|ask)\b\s*(?:about|of|to|with|here|before|me|us|for|on|that|i|$|"
    rf"[?!.,])",
    r"\b(?:any(?:thing)?|everything|whatever)\b[^.?!]{0,30}\b(?:else|important|relevant|useful|helpful|interesting|noteworthy|worth|"
    r"special|unusual|strange|odd|weird|fishy|hidden|unwritten|unspoken)\b"
    r"[^.?!]{0,60}(?:[?!.]|$)",
    r"\b(?:what|which)\b[^.?!]{0,30}\b(?:am i|i'm|i am|are we|we're|have i|did i|i've|i might be|i may be|could i be|might i "
    r"be)\b[^.?!]{0,15}\b(?:missing|overlook\w*|forg\w+|not seeing|failed to)\b",
    r"\b(?:anything|something)\b[^.?!]{0,12}\b(?:i'm|i am|i'd|i might|i may|i have|i've|we're|that i)\b[^.?!]{0,20}\b(?:missing|"
    r"overlook\w*|forg\w+|missed|miss)\b",
    r"\b(?:nobody|no one|none|not) (?:ever )?(?:tells?|told|puts?|put|writes?|wrote|written|mentions?)\b[^.?!]{0,30}\b(?:you|me|brief|"
    r"down|paper|newcomers?|about)?\s*[?.!,]*$",
    r"\b(?:what don't i know|don't know what i don't know|unknown unknowns|know which questions|what am i not asking|(?:do|doing) the "
    r"thinking for me)\b",
    r"\bwhat else\b(?: (?:is there|should i|do i|can you|could you|would you|do you|have you|might)[^.?!]{0,40}(?:know|ask|tell|say|"
    r"share|add|mention|think of|aware of)?)?\s*[?.!]*$",
    r"\b(?:which|what) (?:topics|subjects|areas|questions|things) (?:can|could|do|should|would) (?:you|i)\b",
)
_ADVICE: Final = (
    rf"{_LEAD}(?:do you have |have you |got |you got |is there |are there |can i have |please |pls )?(?:any|some|all|more)\b"
    rf"(?: other| further| general| last| quick| good| final)* {_VAGUE}\b[^.?!]{{0,30}}[?!.]*$",
    rf"\b(?:any|all|some|every|further|general|more)\b(?: of)?(?: the| your)?(?: \w+){{0,2}} {_VAGUE}\b(?:(?:,| and| "
    rf"or)[^.?!]{{0,60}}\b{_VAGUE}\b)+",
    r"\b(?:share|welcome|appreciate|provide|give|offer|send|have|collect\w*|gather\w*)\b[^.?!]{0,30}\b(?:any|all|your|some|every|the "
    r"relevant)\b"
    rf"(?: (?:and all|relevant|other|further|useful|general|available|valuable|possible|key|expert|honest|first))* {_VAGUE}\b"
    r"(?!\s+(?:on|about|of|regarding|concerning|for)\s+(?!(?:this|the|your|my) (?:project|engagement|work|area|job|task|situation|place|"
    r"company)))",
    r"^\W*(?:(?:\w+[ ,]+){0,2})?(?:any )?(?:thoughts|advice|tips|comments|suggestions|concerns|ideas|insights|pointers|words of "
    r"wisdom)(?: for me)?\s*[?!.]*$",
    rf"\b(?:last|final|parting|few|further|other|general) (?:words?|thoughts?|{_VAGUE})(?: of \w+)?\b[^.?!]{{0,30}}\?",
    rf"\b(?:any|all|more) {_VAGUE}(?: that| which)? (?:you|i|we) (?:could|can|would|might|may|care|are|have|need|should)\b",
    rf"^\W*(?:other |further |general |more )?{_VAGUE}(?:[,;/] ?(?:and |or )?\w+){{0,3}}\s*\?+$",
    rf"\b(?:collect\w*|gather\w*|looking for|seeking|after) (?:any |all |some |your |general )*{_VAGUE}\b",
    r"\b(?:hidden|known|unwritten|unspoken|main|biggest|typical|usual|common) (?:problems?|issues?|pitfalls?|traps?|rules?|mistakes?|"
    r"gotchas?|risks?|agendas?)\b",
    r"\b(?:edge cases|most important (?:things?|points?)|mistakes? (?:do )?(?:people|everyone|newcomers)|pain points|general (?:thoughts|"
    r"advice|remarks|comments)|discovery interviews?)\b",
)
_YOUR_VIEW: Final = (
    r"\bwhat(?:'s| is)? (?:can|could|would|do|have) you (?:got |)?(?:tell|share|say|know|offer|for me|think|have for)\b(?: me| us| with "
    r"me)?[^.?!]{0,12}[?!.]*$",
    r"\bwhat would you (?:do|change|want me to know|worry|like me to know|do differently|look at|warn|advise|recommend|say|"
    r"tell)\b[^.?!]{0,40}"
    r"(?:\bin (?:charge|my (?:place|shoes|position))\b|\bknow\b|\bdifferently\b)",
    r"\bif (?:you were (?:me|in (?:my|charge))|i were you|you were i)\b",
    r"\b(?:your|the) take on (?:the whole|all|everything|this project|this thing|things|the situation|this)\b",
    r"\b(?:what (?:do )?you (?:think|believe|feel|reckon)|you (?:consider|believe|feel|deem|think)) (?:\w+ ){0,5}(?:important|relevant|"
    r"useful|of relevance|deserves attention|ought to hear|should (?:know|learn|hear)|could be)\b",
    r"\b(?:important|relevance|relevant|deserves? attention|of (?:note|interest|importance)|matters?|consequence)\b[^.?!]{0,12},? "
    r"(?:however|no matter how) (?:small|little|minor|trivial)\b",
    r"\b(?:been )?(?:wanting|waiting|hoping|wishing|dying)(?: for)? (?:somebody|someone|anybody|anyone|people|me) to ask\b|"
    r"\bwish(?:ed)? (?:someone|somebody|anyone|people|i|they) (?:had|would|would have|'d)\b[^.?!]{0,20}\b(?:told|known|asked|ask|tell)\b",
    r"\bget(?: something)? off your chest\b|\b(?:everyone|everybody|all)\b[^.?!]{0,20}\b(?:in|on) the (?:directory|list|team|company)\b",
    r"\bwhat'?s (?:going on|up|important|new|the story|cooking|happening)\b(?: (?:here|around here|there|lately))?\s*[?!.]*$",
)
_PATTERNS: Final = tuple(re.compile(pattern, re.I) for pattern in (*_ALL_YOU_KNOW, *_WHAT_TO_KNOW, *_ADVICE, *_YOUR_VIEW))


def is_broad(sentence: str) -> bool:
    """Whether `sentence` asks for something without saying for what."""
    return any(pattern.search(sentence) for pattern in _PATTERNS)
