"""English words whose features their form does not show: irregular verbs and plurals, pronouns, determiners, degrees."""

# base past participle
IRREGULAR = """
arise arose arisen|awake awoke awoken|bear bore borne|beat beat beaten|become became become|begin began begun
bend bent bent|bet bet bet|bind bound bound|bite bit bitten|bleed bled bled|blow blew blown|break broke broken
breed bred bred|bring brought brought|build built built|burn burnt burnt|burst burst burst|buy bought bought
cast cast cast|catch caught caught|choose chose chosen|cling clung clung|come came come|cost cost cost|creep crept crept
cut cut cut|deal dealt dealt|dig dug dug|do did done|draw drew drawn|dream dreamt dreamt|drink drank drunk
drive drove driven|eat ate eaten|fall fell fallen|feed fed fed|feel felt felt|fight fought fought|find found found
flee fled fled|fling flung flung|fly flew flown|forbid forbade forbidden|forget forgot forgotten
forgive forgave forgiven|freeze froze frozen|get got got|give gave given|go went gone|grind ground ground
grow grew grown|hang hung hung|have had had|hear heard heard|hide hid hidden|hit hit hit|hold held held|hurt hurt hurt
keep kept kept|kneel knelt knelt|know knew known|lay laid laid|lead led led|lean leant leant|leap leapt leapt
learn learnt learnt|leave left left|lend lent lent|let let let|lie lay lain|light lit lit|lose lost lost|make made made
mean meant meant|meet met met|mow mowed mown|pay paid paid|put put put|quit quit quit|read read read|rid rid rid
ride rode ridden|ring rang rung|rise rose risen|run ran run|saw sawed sawn|say said said|see saw seen|seek sought sought
sell sold sold|send sent sent|set set set|sew sewed sewn|shake shook shaken|shed shed shed|shine shone shone
shoot shot shot|show showed shown|shrink shrank shrunk|shut shut shut|sing sang sung|sink sank sunk|sit sat sat
sleep slept slept|slide slid slid|smell smelt smelt|sow sowed sown|speak spoke spoken|speed sped sped|spell spelt spelt
spend spent spent|spill spilt spilt|spin spun spun|spit spat spat|split split split|spoil spoilt spoilt
spread spread spread|spring sprang sprung|stand stood stood|steal stole stolen|stick stuck stuck|sting stung stung
stink stank stunk|stride strode stridden|strike struck struck|string strung strung|strive strove striven
swear swore sworn|sweep swept swept|swell swelled swollen|swim swam swum|swing swung swung|take took taken
teach taught taught|tear tore torn|tell told told|think thought thought|throw threw thrown|thrust thrust thrust
tread trod trodden|understand understood understood|undo undid undone|upset upset upset|wake woke woken|wear wore worn
weave wove woven|weep wept wept|win won won|wind wound wound|withdraw withdrew withdrawn|wring wrung wrung
write wrote written|rewrite rewrote rewritten|rebuild rebuilt rebuilt|overhear overheard overheard
oversleep overslept overslept|overtake overtook overtaken|outgrow outgrew outgrown|mislay mislaid mislaid
misread misread misread|mistake mistook mistaken|foresee foresaw foreseen|forecast forecast forecast
broadcast broadcast broadcast|repay repaid repaid|retell retold retold|unwind unwound unwound|uphold upheld upheld
bid bid bid|knit knit knit|wed wed wed|fit fit fit|sling slung slung|slit slit slit|bestride bestrode bestridden
prove proved proven|undergo underwent undergone|undertake undertook undertaken|withstand withstood withstood
outrun outran outrun|overcome overcame overcome|reset reset reset
"""
_ROWS = [row.split() for row in IRREGULAR.replace("\n", "|").split("|") if row.strip()]
BASES = {row[0] for row in _ROWS}
PASTS = {row[1] for row in _ROWS}
PARTICIPLES = {row[2] for row in _ROWS}
BARE_IN_ED = set("need feed speed seed bleed breed weed heed proceed succeed exceed shed wed embed shred sled".split())
BARE_IN_S = set(
    """
    pass miss guess dress kiss press discuss cross toss focus express fuss boss process access confess possess
    address bless chess stress impress undress discus
""".split()
)
BARE_IN_ING = set("bring sing ring swing cling sting fling spring string wring sling ping ding king".split())

BE_PRESENT = {"am", "is", "are", "'m", "'s", "'re", "ai"}
BE_PAST = {"was", "were"}
BE = BE_PRESENT | BE_PAST | {"be", "been", "being"}
HAVE = {"have", "has", "had", "having", "'ve", "'s", "'d"}
DO = {"do", "does", "did"}
GET = {"get", "gets", "got", "getting", "gotten"}
WILL = {"will", "'ll", "wo", "shall", "sha"}
MODALS = WILL | {"can", "ca", "could", "would", "'d", "should", "may", "might", "must", "ought", "need", "dare"}

PLURALS = set(
    """
    men women children people feet teeth mice geese oxen lice dice police cattle fishermen firemen policemen
    policewomen postmen salesmen sportsmen businessmen gentlemen snowmen craftsmen grandchildren schoolchildren
    wolves data media bacteria criteria phenomena fungi larvae cacti alumni townspeople folk
""".split()
)
SINGULAR_IN_S = set(
    """
    news physics mathematics maths economics politics gymnastics athletics bus gas lens series species means iris
    canvas atlas chaos cosmos virus circus campus cactus genius focus bonus chorus octopus walrus citrus census
    sinus status radius tennis basis crisis oasis thesis analysis diagnosis christmas measles mumps alas yes plus
    minus biceps billiards pancreas asparagus hippopotamus platypus crocus hibiscus fungus nucleus surplus trellis
    pelvis arthritis bias ibis tetanus homesickness thanks
""".split()
)
PAIRS_ONLY = set(
    """
    scissors trousers jeans pants shorts pyjamas pajamas tights leggings tweezers pliers binoculars goggles
    sunglasses overalls tongs shears
""".split()
)
PLURAL_NAMES = set(
    """
    alps andes netherlands himalayas pyrenees philippines lions tigers rovers wanderers kellers olympics
""".split()
)

NOT_COMPARATIVE = set(
    """
    other another former latter inner outer upper under over clever tender slender sober bitter eager proper super
    utter silver copper leather paper rubber amber ginger premier sinister improper minor junior senior together
    either neither however never ever forever after whenever wherever rather hereafter thereafter whatever moreover
    altogether nether linear popular familiar similar regular sheer queer mere near clear austere sincere severe
""".split()
)
NOT_SUPERLATIVE = set(
    """
    honest modest earnest west northwest southwest manifest dishonest immodest overwest east northeast southeast
    rest test
""".split()
)
COMPARATIVES = {"more", "less", "better", "worse", "further", "farther", "elder", "older", "fewer"}
SUPERLATIVES = {"most", "least", "best", "worst", "furthest", "farthest", "eldest"}
DEGREE_ADVERBS = set(
    """
    well far fast hard early late long soon much little often high low close near loud quick slow deep
""".split()
)

ORDINALS = set(
    """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
    fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth fortieth fiftieth sixtieth seventieth
    eightieth ninetieth hundredth thousandth
""".split()
)


def _table(text: str) -> dict[str, str]:
    return {
        word: feats
        for line in text.split("\n")
        if line.strip()
        for words, feats in [line.rsplit(" ", 1)]
        for word in words.split()
    }


PRONOUNS = _table("""
i Case=Nom|Number=Sing|Person=1|PronType=Prs
me Case=Acc|Number=Sing|Person=1|PronType=Prs
my Case=Gen|Number=Sing|Person=1|Poss=Yes|PronType=Prs
mine Number=Sing|Person=1|Poss=Yes|PronType=Prs
myself Case=Acc|Number=Sing|Person=1|PronType=Prs|Reflex=Yes
we Case=Nom|Number=Plur|Person=1|PronType=Prs
us 's Case=Acc|Number=Plur|Person=1|PronType=Prs
our Case=Gen|Number=Plur|Person=1|Poss=Yes|PronType=Prs
ours Number=Plur|Person=1|Poss=Yes|PronType=Prs
ourselves Case=Acc|Number=Plur|Person=1|PronType=Prs|Reflex=Yes
your Case=Gen|Person=2|Poss=Yes|PronType=Prs
yours Person=2|Poss=Yes|PronType=Prs
yourself Case=Acc|Number=Sing|Person=2|PronType=Prs|Reflex=Yes
yourselves Case=Acc|Number=Plur|Person=2|PronType=Prs|Reflex=Yes
he Case=Nom|Gender=Masc|Number=Sing|Person=3|PronType=Prs
him Case=Acc|Gender=Masc|Number=Sing|Person=3|PronType=Prs
himself Case=Acc|Gender=Masc|Number=Sing|Person=3|PronType=Prs|Reflex=Yes
she Case=Nom|Gender=Fem|Number=Sing|Person=3|PronType=Prs
hers Gender=Fem|Number=Sing|Person=3|Poss=Yes|PronType=Prs
herself Case=Acc|Gender=Fem|Number=Sing|Person=3|PronType=Prs|Reflex=Yes
its Case=Gen|Gender=Neut|Number=Sing|Person=3|Poss=Yes|PronType=Prs
itself Case=Acc|Gender=Neut|Number=Sing|Person=3|PronType=Prs|Reflex=Yes
they Case=Nom|Number=Plur|Person=3|PronType=Prs
them Case=Acc|Number=Plur|Person=3|PronType=Prs
their Case=Gen|Number=Plur|Person=3|Poss=Yes|PronType=Prs
theirs Number=Plur|Person=3|Poss=Yes|PronType=Prs
themselves Case=Acc|Number=Plur|Person=3|PronType=Prs|Reflex=Yes
one Number=Sing|Person=3|PronType=Prs
this that Number=Sing|PronType=Dem
these those Number=Plur|PronType=Dem
someone somebody something anyone anybody anything Number=Sing|PronType=Ind
everyone everybody everything Number=Sing|PronType=Tot
nobody nothing no-one Number=Sing|PronType=Neg
none PronType=Neg
""")
DETERMINERS = _table("""
the Definite=Def|PronType=Art
a an Definite=Ind|PronType=Art
this that Number=Sing|PronType=Dem
these those Number=Plur|PronType=Dem
some any another either such quite PronType=Ind
every each all both PronType=Tot
no neither PronType=Neg
which what whichever whatever PronType=Int
half NumForm=Word|NumType=Frac|PronType=Ind
""")
ADVERBS = _table("""
here there then now thus hence PronType=Dem
when where why how whenever wherever PronType=Int
always everywhere PronType=Tot
never nowhere PronType=Neg
ever somewhere anywhere somehow either PronType=Ind
once twice thrice NumForm=Word|NumType=Mult
""")
RELATIVE = {"who", "whom", "that", "which", "whose", "where", "when", "why"}
INTERROGATIVE = {"who", "whom", "what", "which", "whose", "whoever", "whatever"}
ENDING_SUBJECT = ("nsubj", "nsubj:pass", "nsubj:outer")
