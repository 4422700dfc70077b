"""The reader is what its files hold, its validator detects every planted mistake, and the texts that ship have none."""

import re

import pytest

from model import InputError
from probes import reader
from probes.probing.treebank import ROOT, conllu
from probes.reader import check, counts, questions
from probes.reader.__main__ import main
from probes.reader.features import degree

KEY = """# title: The lost key
# topic: home

= negative past sing
1 Maria PROPN 2 nsubj ent=PER coref=1
2 lost VERB 0 root
3 her PRON 4 nmod:poss coref=1
4 key NOUN 2 obj coref=2
5 . PUNCT 2 punct

= neutral past sing
1 " PUNCT 5 punct
2 Did AUX 5 aux
3 n't PART 5 advmod
4 you PRON 5 nsubj
5 see VERB 9 ccomp
6 it PRON 5 obj coref=2
7 ? PUNCT 5 punct
8 " PUNCT 5 punct
9 asked VERB 0 root
10 Grandpa NOUN 11 nmod:desc
11 Otto PROPN 9 nsubj ent=PER
12 . PUNCT 9 punct
"""


def sentence_of(lines: str, header: str = "neutral past sing") -> reader.ReaderSentence:
    """One sentence from lines without their indices."""
    tokens = "\n".join(f"{index} {line.strip()}" for index, line in enumerate(lines.strip().splitlines(), 1))
    return reader.parse(f"# title: T\n# topic: home\n\n= {header}\n{tokens}\n", "001-t.txt").sentences[0]


def feats(lines: str, header: str = "neutral past sing") -> dict[str, str]:
    sentence = sentence_of(lines, header)
    return {
        token.form: "|".join(f"{name}={value}" for name, value in feats.items())
        for token, feats in zip(sentence.tokens, sentence.feats, strict=True)
    }


def findings(source: str, name: str = "001-key.txt") -> str:
    return "\n".join(map(str, check.check([reader.parse(source, name)])))


def mistakes(lines: str, header: str = "neutral past sing") -> str:
    """The findings of the validator in one sentence of lines without indices."""
    sentence = sentence_of(lines, header)
    return "\n".join(map(str, check._sentence(sentence, "001-t.txt", reader.plan()["senses"])))


CLEAN = """Maria PROPN 3 nsubj ent=PER
has AUX 3 aux
given VERB 0 root
the DET 5 det
dog NOUN 3 iobj
a DET 8 det
big ADJ 8 amod
bone NOUN 3 obj
of ADP 10 case
plastic NOUN 8 nmod
. PUNCT 3 punct"""


def test_a_file_is_read_with_words_trees_and_marks():
    text = reader.parse(KEY, "001-lost-key.txt")
    first, second = text.sentences
    assert (text.number, text.title, text.topic, text.split) == (1, "The lost key", "home", "train")
    assert first.forms == ("Maria", "lost", "her", "key", ".")
    assert [token.head for token in first.tokens] == [1, -1, 3, 1, 1]
    assert [token.coref for token in first.tokens] == [1, 0, 1, 2, 0]
    assert second.text == '"Didn\'t you see it?" asked Grandpa Otto.'
    assert first.entities() == [(0, 0, "PER")]


def test_conllu_is_read_back_as_the_same_sentences():
    text = reader.parse(KEY, "001-lost-key.txt")
    first, second = conllu(reader.text_conllu(text).splitlines())
    assert first.words == text.sentences[0].forms and second.words == text.sentences[1].forms
    assert first.heads == (1, ROOT, 3, 1, 1)
    assert second.relations == tuple(token.relation.split(":")[0] for token in text.sentences[1].tokens)
    assert list(first.feats) == text.sentences[0].feats


def test_conllu_carries_entities_chains_senses_spaces_and_comments():
    source = KEY.replace("4 key NOUN 2 obj coref=2", "4 watch NOUN 2 obj coref=2 sense=watch.clock").replace(
        "Otto PROPN 9 nsubj", "Otto PROPN 9 nsubj group=2"
    )
    lines = reader.text_conllu(reader.parse(source, "004-lost-key.txt")).splitlines()
    assert lines[:4] == [
        "# newdoc id = 004-lost-key",
        "# title = The lost key",
        "# split = test",
        "# sent_id = 004-lost-key-1",
    ]
    assert {
        "# text = Maria lost her watch.",
        "# topic = home",
        "# sentiment = negative",
        "# tense = past",
        "# subject_number = sing",
    } <= set(lines)
    assert "1\tMaria\t_\tPROPN\t_\tNumber=Sing\t2\tnsubj\t_\tEntity=B-PER|Coref=1" in lines
    assert "4\twatch\t_\tNOUN\t_\tNumber=Sing\t2\tobj\t_\tCoref=2|Sense=watch.clock|SpaceAfter=No" in lines
    assert any(line.endswith("Entity=B-PER|CorefGroup=2|SpaceAfter=No") for line in lines)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("4 key", "5 key"), "line 8: word 'key' has index 5 where 4"),
        (("key NOUN", "key NOMEN"), "line 8: 'NOMEN' is no part of speech"),
        (("2 obj", "2 objekt"), "line 8: 'objekt' is no relation"),
        (("NOUN 2 obj", "NOUN x obj"), "line 8: the head of 'key' must be a word number"),
        (("key NOUN 2 obj", "key NOUN 9 obj"), "line 4: word 'key' has head 9, but the sentence has 5"),
        (("4 key NOUN 2 obj coref=2", "4 key NOUN 2"), "line 8: a token line is"),
        (("ent=PER coref=1", "ent=MAN coref=1"), "line 5: 'ent=MAN' is no mark"),
        (("= negative past sing", "= negative sing past"), "line 4: the header must be"),
        (("= negative past sing", "= negative past sing funny"), "line 4: 'funny' is no flag"),
        (("# topic: home", "# topic: cooking"), "'cooking' is none of home"),
        (("# title: The lost key\n", ""), "lacks its '# title"),
        (("1 Maria", "Maria"), "line 5: expected a token line"),
    ],
)
def test_a_malformed_line_is_named_by_file_and_number(change: tuple[str, str], words: str):
    with pytest.raises(InputError, match=r"001-key\.txt.*" + re.escape(words.removeprefix("001-key.txt "))):
        reader.parse(KEY.replace(change[0], change[1], 1), "001-key.txt")


def test_a_file_must_have_a_number_and_a_slug():
    with pytest.raises(InputError, match="not named like"):
        reader.parse(KEY, "key.txt")


def test_punctuation_clitics_quotes_and_money_find_their_blanks():
    sentence = sentence_of("""" PUNCT 6 punct
        I PRON 6 nsubj
        ca AUX 6 aux
        n't PART 6 advmod
        just ADV 6 advmod
        pay VERB 17 ccomp
        $ SYM 6 obj
        5 NUM 7 nummod
        ( PUNCT 10 punct
        cash NOUN 7 appos
        ) PUNCT 10 punct
        , PUNCT 14 punct
        the DET 14 det
        girls NOUN 6 obl:unmarked
        , PUNCT 6 punct
        " PUNCT 6 punct
        said VERB 0 root
        Ann PROPN 20 nmod:poss
        's PART 18 case
        aunt NOUN 17 nsubj
        – PUNCT 17 punct
        not PART 17 advmod -space
        . PUNCT 17 punct""")
    assert sentence.text == "\"I can't just pay $5 (cash), the girls,\" said Ann's aunt –not."


# the constructions of FORMAT.md as it decides them: header | tokens
GUIDE = """
neutral pres sing | Who PRON 0 root / is AUX 1 cop / she PRON 1 nsubj / ? PUNCT 1 punct
neutral pres sing | Where ADV 0 root / is AUX 1 cop / it PRON 1 nsubj / ? PUNCT 1 punct
neutral past plur | The DET 2 det / keys NOUN 6 nsubj / were AUX 6 cop / in ADP 6 case / the DET 6 det / drawer NOUN 0
    root / . PUNCT 6 punct
neutral none none | Let VERB 0 root / 's PRON 1 obj / go VERB 1 xcomp / . PUNCT 1 punct
neutral past sing | It PRON 3 expl / was AUX 3 cop / Ben PROPN 0 root ent=PER / who PRON 5 nsubj / called VERB 3
    advcl:relcl / . PUNCT 3 punct
neutral pres sing | His PRON 2 nmod:poss / job NOUN 5 nsubj:outer / is AUX 5 cop / to PART 5 mark / count VERB 0 root
    / birds NOUN 5 obj / . PUNCT 5 punct
negative past sing | What PRON 4 nsubj / he PRON 3 nsubj / said VERB 1 acl:relcl / hurt VERB 0 root / her PRON 4 obj /
    . PUNCT 4 punct
neutral pres sing | She PRON 2 nsubj / knows VERB 0 root / how ADV 5 advmod / to PART 5 mark / swim VERB 2 ccomp / .
    PUNCT 2 punct
neutral past sing | The DET 2 det / room NOUN 6 nsubj / she PRON 4 nsubj / slept VERB 2 acl:relcl / in ADP 4 obl /
    smelled VERB 0 root / bad ADJ 6 xcomp / . PUNCT 6 punct
neutral past sing | Ben PROPN 2 nsubj ent=PER / had VERB 0 root / tea NOUN 2 obj / and CCONJ 5 cc / Nora PROPN 2 conj
    ent=PER / coffee NOUN 5 orphan / . PUNCT 2 punct
neutral past plur | They PRON 2 nsubj / helped VERB 0 root / each DET 2 obj / other ADJ 3 fixed / . PUNCT 2 punct
neutral past sing | She PRON 2 nsubj / left VERB 0 root sense=left.went / ten NUM 4 nummod / years NOUN 5 obl:unmarked
    / ago ADV 2 advmod / . PUNCT 2 punct
neutral pres sing | He PRON 5 nsubj / is AUX 5 cop / ten NUM 4 nummod / years NOUN 5 obl:unmarked / old ADJ 0 root / .
    PUNCT 5 punct
neutral pres sing | He PRON 2 nsubj / eats VERB 0 root / twice ADV 2 advmod / a DET 5 det / day NOUN 3 obl:unmarked /
    . PUNCT 2 punct
neutral pres sing | He PRON 2 nsubj / eats VERB 0 root / three NUM 4 nummod / times NOUN 2 obl:unmarked / a DET 6 det
    / day NOUN 4 nmod:unmarked / . PUNCT 2 punct
neutral past sing | It PRON 2 nsubj / opened VERB 0 root / on ADP 4 case / 3 NUM 2 obl ent=DATE / May PROPN 4
    nmod:unmarked ent=+ / 1921 NUM 4 nmod:unmarked ent=+ / . PUNCT 2 punct
neutral past sing | It PRON 2 nsubj / opened VERB 0 root / in ADP 4 case / May PROPN 2 obl ent=DATE / 1921 NUM 4
    nmod:unmarked ent=+ / . PUNCT 2 punct
neutral past plur | Three NUM 2 compound / hundred NUM 3 nummod / eggs NOUN 4 nsubj / broke VERB 0 root / . PUNCT 4
    punct
neutral past sing | It PRON 2 nsubj / cost VERB 0 root / more ADJ 5 advmod / than ADP 3 fixed / $ SYM 2 obj / 30 NUM 5
    nummod / . PUNCT 2 punct
neutral past sing | He PRON 2 nsubj / ran VERB 0 root / as SCONJ 6 mark / if SCONJ 6 mark / he PRON 6 nsubj / knew
    VERB 2 advcl / . PUNCT 2 punct
neutral past sing | He PRON 2 nsubj / ran VERB 0 root / in ADP 6 mark / order NOUN 3 fixed / to PART 6 mark / win VERB
    2 advcl / . PUNCT 2 punct
neutral none none | What DET 3 det:predet / a DET 3 det / day NOUN 0 root / ! PUNCT 3 punct
neutral past plur | We PRON 2 nsubj / met VERB 0 root / at ADP 4 case / half NOUN 2 obl / past ADP 6 case / six NUM 4
    nmod / . PUNCT 2 punct
neutral none sing | Ben PROPN 2 nsubj ent=PER / can AUX 0 root ok / . PUNCT 2 punct
neutral pres plur | We PRON 3 nsubj / all DET 3 advmod / agree VERB 0 root / . PUNCT 3 punct
neutral past sing | She PRON 2 nsubj / took VERB 0 root / both CCONJ 4 cc:preconj / bread NOUN 2 obj / and CCONJ 6 cc
    / milk NOUN 4 conj / . PUNCT 2 punct
neutral pres plur | Those DET 2 det / two NUM 6 dislocated / , PUNCT 2 punct / they PRON 6 nsubj / never ADV 6 advmod
    / rest VERB 0 root / . PUNCT 6 punct
neutral pres sing | It PRON 4 nsubj / is AUX 4 cop / well ADV 4 advmod / worth ADJ 0 root / a DET 6 det / try NOUN 4
    obj / . PUNCT 4 punct
neutral pres sing | It PRON 3 nsubj / is AUX 3 cop / worth ADJ 0 root / seeing VERB 3 advcl / . PUNCT 3 punct
neutral pres sing | This PRON 3 nsubj / is AUX 3 cop / where ADV 0 root / I PRON 5 nsubj / live VERB 3 advcl:relcl / .
    PUNCT 3 punct
neutral pres sing | She PRON 3 nsubj / is AUX 3 cop / old ADJ 0 root / enough ADV 3 advmod / to PART 6 mark / vote
    VERB 3 advcl / . PUNCT 3 punct
negative past sing | The DET 2 det / boy NOUN 4 nsubj:pass / got AUX 4 aux:pass / stung VERB 0 root / by ADP 7 case /
    a DET 7 det / wasp NOUN 4 obl:agent / . PUNCT 4 punct
neutral past sing | Instead ADV 3 mark / of SCONJ 1 fixed / waiting VERB 6 advcl / , PUNCT 3 punct / she PRON 6 nsubj
    / left VERB 0 root sense=left.went / . PUNCT 6 punct
neutral past sing | He PRON 2 nsubj / told VERB 0 root / Ben PROPN 2 iobj ent=PER / to PART 5 mark / wait VERB 2 xcomp
    / . PUNCT 2 punct
neutral pres sing | The DET 2 det / book NOUN 4 nsubj / is AUX 4 cop / easy ADJ 0 root / to PART 6 mark / read VERB 4
    ccomp / . PUNCT 4 punct
neutral past sing | She PRON 2 nsubj / wrote VERB 0 root / more ADV 4 advmod / slowly ADV 2 advmod / than SCONJ 7 mark
    / he PRON 7 nsubj / did AUX 4 advcl ok / . PUNCT 2 punct
neutral past sing nonprojective | She PRON 2 nsubj / ate VERB 0 root / more ADJ 4 amod / apples NOUN 2 obj / than ADP
    6 case / Ben PROPN 3 obl ent=PER / . PUNCT 2 punct
neutral past sing | It PRON 2 expl / surprised VERB 0 root / her PRON 2 obj / that SCONJ 6 mark / he PRON 6 nsubj /
    sang VERB 2 csubj / . PUNCT 2 punct
neutral none none | Dear ADJ 2 amod / Nora PROPN 0 root ent=PER / , PUNCT 2 punct
neutral past sing | " PUNCT 2 punct / Ouch INTJ 5 ccomp / ! PUNCT 2 punct / " PUNCT 2 punct / cried VERB 0 root / Ben
    PROPN 5 nsubj ent=PER / . PUNCT 5 punct
neutral past sing | He PRON 2 nsubj / saw VERB 0 root / her PRON 2 obj / leave VERB 2 xcomp / . PUNCT 2 punct
neutral past sing | He PRON 2 nsubj / painted VERB 0 root / it PRON 2 obj / blue ADJ 2 xcomp / . PUNCT 2 punct
neutral pres sing | He PRON 2 nsubj / keeps VERB 0 root / a DET 4 det / cat NOUN 2 obj / called VERB 4 acl / Otto
    PROPN 5 xcomp ent=PER / . PUNCT 2 punct
neutral pres plur | Most ADJ 4 nsubj / of ADP 3 case / us PRON 1 nmod / swim VERB 0 root / . PUNCT 4 punct
neutral pres none | You PRON 2 nsubj / know VERB 0 root / whatever PRON 2 obj / you PRON 5 nsubj / need VERB 3
    acl:relcl / . PUNCT 2 punct
neutral past sing | She PRON 2 nsubj / waited VERB 0 root / for SCONJ 6 mark / him PRON 6 nsubj / to PART 6 mark /
    come VERB 2 advcl / . PUNCT 2 punct
neutral pres sing | There PRON 2 expl / 's VERB 0 root / no DET 4 det / reason NOUN 2 nsubj / to PART 6 mark / cry
    VERB 4 acl / . PUNCT 2 punct
neutral past sing | The DET 2 det / train NOUN 3 nsubj / stopped VERB 0 root / , PUNCT 5 punct / leaving VERB 3 advcl
    / us PRON 5 obj / in ADP 9 case / the DET 9 det / rain NOUN 5 obl / . PUNCT 3 punct
neutral none none | Stir VERB 0 root / until SCONJ 5 mark / everything PRON 5 nsubj:pass / is AUX 5 aux:pass / melted
    VERB 1 advcl / . PUNCT 1 punct
neutral none plur | Bees NOUN 5 nsubj:pass / can AUX 5 aux / not PART 5 advmod -space / be AUX 5 aux:pass / seen VERB 0
    root / . PUNCT 5 punct
"""


@pytest.mark.parametrize("row", GUIDE.replace("\n    ", " ").strip().splitlines())
def test_every_construction_of_the_guide_passes(row):
    header, tokens = row.split(" | ")
    assert mistakes(tokens.replace(" / ", "\n"), header) == ""


def test_a_clean_sentence_raises_nothing():
    assert mistakes(CLEAN, "neutral pres sing") == ""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ((".", ". PUNCT 0 root\n. "), "2 roots"),
        (("dog NOUN 3 iobj", "dog NOUN 4 iobj"), "in a circle"),
        (("plastic NOUN 8 nmod", "plastic NOUN 5 nmod"), "crosses another"),
        (("the DET 5 det", "the DET 5 punct"), "punct takes PUNCT"),
        ((". PUNCT 3 punct", ". PUNCT 3 advmod"), "'.' is PUNCT"),
        (("the DET 5 det", "the DET 5 amod"), "amod takes ADJ, VERB"),
        (("big ADJ 8 amod", "big ADJ 8 det"), "det takes DET"),
        (("has AUX 3 aux", "has AUX 3 cop"), "only forms of 'be' are"),
        (("has AUX 3 aux", "has VERB 3 aux"), "aux takes AUX"),
        (("big ADJ 8 amod", "big ADJ 8 nummod"), "nummod takes NUM"),
        (("of ADP 10 case", "of ADP 10 cc"), "cc takes ADV, CCONJ"),
        (("of ADP 10 case", "of ADP 10 mark"), "'of' is ADP and mark"),
        (("of ADP 10 case", "of NOUN 10 case"), "case takes"),
        (("plastic NOUN 8 nmod", "plastic NOUN 3 nmod"), "nmod of 'given', which is VERB"),
        (("of ADP 10 case\n", "old ADJ 10 amod\n"), "nmod without a preposition"),
        (("of ADP 10 case", "of ADP 3 case"), "before a clause it is SCONJ with mark"),
        (("plastic NOUN 8 nmod", "plastic NOUN 8 nmod:unmarked"), "has the preposition 'of'"),
        (("plastic NOUN 8 nmod", "plastic NOUN 8 nmod:poss"), "without 's"),
        (("plastic NOUN 8 nmod", "plastic NOUN 8 obl"), "which is no predicate; nmod?"),
        (("plastic NOUN 8 nmod", "plastic NOUN 3 obl:agent"), "obl:agent without 'by'"),
        (("dog NOUN 3 iobj", "dog NOUN 3 obj"), "2 dependents obj"),
        (("bone NOUN 3 obj", "bone NOUN 3 nsubj"), "2 dependents nsubj"),
        (("a DET 8 det", "a DET 2 det"), "hangs on 'has', which is aux"),
        (("a DET 8 det", "a DET 3 det"), "det of 'given', which is VERB"),
        (("big ADJ 8 amod", "big ADJ 3 amod"), "amod of 'given', which is VERB"),
        (("bone NOUN 3 obj", "bone NOUN 3 fixed"), "list of fixed expressions"),
        (("big ADJ 8 amod", "big ADJ 8 conj"), "conj hangs on a word to its left"),
        (("big ADJ 8 amod", "big ADJ 8 acl:relcl"), "acl:relcl hangs on a word to its left"),
        (("big ADJ 8 amod", "big ADJ 3 advmod"), "an advmod is ADV"),
        (("has AUX 3 aux", "been AUX 3 aux:pass"), "write nsubj:pass"),
        (("Maria PROPN 3 nsubj", "Maria PROPN 3 nsubj:pass"), "has no aux:pass"),
        (("Maria PROPN 3 nsubj", "Maria PROPN 3 expl"), "expl takes PRON"),
        (("Maria PROPN 3 nsubj", "Maria PROPN 3 nsubj:outer"), "has no copula"),
        (("ent=PER", ""), "'Maria' is in no entity"),
        (("dog NOUN 3 iobj", "dog NOUN 3 iobj ent=+"), "ent=+ on 'dog' continues nothing"),
        (("the DET 5 det", "the DET 5 det coref=1"), "no head of a mention"),
        (("dog NOUN 3 iobj", "dog NOUN 3 iobj group=1"), "has group=, but no conjunct"),
        (("dog NOUN 3 iobj", "bat NOUN 3 iobj"), "one of the thirty words and has no sense"),
        (("dog NOUN 3 iobj", "bat NOUN 3 iobj sense=bat.vampire"), "no sense on the list"),
        (("dog NOUN 3 iobj", "dog NOUN 3 iobj sense=bat.animal"), "does not look like a form of 'bat'"),
        (("the DET 5 det", "my DET 5 det"), "'my' is DET; this word is PRON"),
        (("big ADJ 8 amod", "run VERB 8 amod feat=VerbForm=Inf,Tense="), "no participle"),
        (("Maria PROPN", "maria PROPN"), "small letter"),
        ((". PUNCT 3 punct", "now ADV 3 advmod"), "instead of a mark"),
        (("big ADJ", "“big” ADJ"), "curly quotation mark"),
        (("big ADJ 8 amod", '" PUNCT 8 punct'), "their number is odd"),
        (("given VERB", "given't VERB"), "two tokens"),
        (("plastic NOUN 8 nmod\n. PUNCT 3", "plastic NOUN 8 nmod\n. PUNCT 8"), "instead of the root"),
    ],
)
def test_the_validator_finds_each_planted_mistake(change, words):
    assert change[0] in CLEAN
    assert words in mistakes(CLEAN.replace(*change), "neutral pres sing")


@pytest.mark.parametrize(
    ("lines", "header", "words"),
    [
        (
            "She PRON 2 nsubj\nwants VERB 0 root\nhe PRON 5 nsubj\nto PART 5 mark\ngo VERB 2 xcomp\n. PUNCT 2 punct",
            "neutral pres sing",
            "a subject of its own; ccomp",
        ),
        (
            "She PRON 2 nsubj\nwent VERB 0 root\nto PART 4 mark\ntown NOUN 2 obl\n. PUNCT 2 punct",
            "neutral past sing",
            "to + noun is ADP",
        ),
        ("She PRON 3 nsubj\nis AUX 3 cop\nsinging VERB 0 root\n. PUNCT 3 punct", "neutral pres sing", "aux or aux:pass"),
        ("She PRON 2 nsubj\nis VERB 0 root\nhere ADV 2 advmod\n. PUNCT 2 punct", "neutral pres sing", "only in existential"),
        ("It PRON 2 expl\nrained VERB 0 root\n. PUNCT 2 punct", "neutral past sing", "no clause it stands for"),
        (
            "Nora PROPN 2 nsubj ent=PER\nslept VERB 0 root\n, PUNCT 5 punct\nwhich PRON 5 nsubj\n"
            "helped VERB 2 acl:relcl\n. PUNCT 2 punct",
            "positive past sing",
            "advcl",
        ),
        (
            "She PRON 2 nsubj\ntold VERB 0 root\nhim PRON 2 obj\nthat SCONJ 6 mark\nhe PRON 6 nsubj\n"
            "won VERB 2 ccomp\n. PUNCT 2 punct",
            "neutral past sing",
            "the person told is iobj",
        ),
        (
            "She PRON 2 nsubj\nleft VERB 0 root sense=left.went\nwithout ADP 4 mark\nlooking VERB 2 advcl\n. PUNCT 2 punct",
            "neutral past sing",
            "SCONJ",
        ),
        (
            "We PRON 2 nsubj\nsaw VERB 0 root\nwho PRON 4 nsubj\ncut VERB 2 ccomp\nit PRON 4 obj\n"
            "when ADV 8 advmod\nthey PRON 8 nsubj\ncut VERB 2 advcl\nit PRON 8 obj\n. PUNCT 2 punct",
            "neutral past plur",
            "word 8 'cut' can be past or present here; write feat=Tense=Past",
        ),
        (
            "Dogs NOUN 2 nsubj\nbark VERB 0 root sense=bark.dog\n. PUNCT 2 punct",
            "neutral past plur",
            "header says the main verb is past, the tree says pres",
        ),
        (
            "Dogs NOUN 2 nsubj\nbark VERB 0 root sense=bark.dog\n. PUNCT 2 punct",
            "neutral pres sing",
            "header says the subject is sing, the tree says plur",
        ),
        (
            "Dogs NOUN 2 nsubj\nbark VERB 0 root sense=bark.dog\n. PUNCT 2 punct",
            "neutral pres plur nonprojective",
            "no arcs cross",
        ),
    ],
)
def test_the_validator_knows_clauses(lines, header, words):
    assert words in mistakes(lines, header)


def test_a_doubt_is_put_to_rest_by_a_mark_and_a_mistake_is_not():
    odd = CLEAN.replace("ent=PER", "")
    assert "doubt" in mistakes(odd, "neutral pres sing")
    assert mistakes(odd.replace("Maria PROPN 3 nsubj", "Maria PROPN 3 nsubj ok"), "neutral pres sing") == ""
    assert "which is VERB" in mistakes(CLEAN.replace("big ADJ 8 amod", "big ADJ 3 amod ok"), "neutral pres sing")


def test_crossing_arcs_may_be_meant():
    looking = "What PRON 4 obl\nare AUX 4 aux\nyou PRON 4 nsubj\nlooking VERB 0 root\nat ADP 1 case\n? PUNCT 4 punct"
    assert "crosses another" in mistakes(looking, "neutral pres none")
    assert mistakes(looking, "neutral pres none nonprojective") == ""


def test_a_text_is_judged_as_a_whole():
    report = findings(KEY)
    assert "has 2 sentences; 8 are wanted" in report
    assert "words on average; 11 are wanted" in report
    plain = KEY.replace("Maria PROPN", "She PRON").replace("ent=PER coref=1", "coref=1").replace("4 key", "4 book")
    assert "running words are outside the commonest thousand" in findings(plain)
    assert "chain 1 has one mention only" in findings(KEY.replace("nmod:poss coref=1", "nmod:poss"))
    assert "numbered up to 7, but there are 2" in findings(KEY.replace("coref=2", "coref=7"))
    assert "the plan says home" in findings(KEY.replace("topic: home", "topic: work"))
    assert "not one of 001 to 150" in findings(KEY, "151-key.txt")


def test_two_sentences_alike_are_found_whatever_their_case():
    first, second = reader.parse(KEY, "001-key.txt"), reader.parse(KEY.replace("1 Maria", "1 MARIA"), "002-key.txt")
    report = "\n".join(map(str, check.check([first, second])))
    assert "002-key.txt line 4: the same sentence stands at 001-key.txt line 4" in report
    assert "the number 001 is taken by 001-key.txt" in "\n".join(
        map(str, check.check([first, reader.parse(KEY, "001-other.txt")]))
    )


FINITE = "Mood=Ind|Number=Sing|Person=3|Tense={}|VerbForm=Fin"


@pytest.mark.parametrize(
    ("lines", "header", "expected"),
    [
        (
            "She PRON 2 nsubj\nput VERB 0 root\nit PRON 2 obj",
            "neutral past sing",
            {
                "She": "Case=Nom|Gender=Fem|Number=Sing|Person=3|PronType=Prs",
                "put": FINITE.format("Past"),
                "it": "Case=Acc|Gender=Neut|Number=Sing|Person=3|PronType=Prs",
            },
        ),
        (
            "They PRON 2 nsubj\nput VERB 0 root\nit PRON 2 obj",
            "neutral pres plur",
            {"put": "Mood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin"},
        ),
        (
            "Tom PROPN 4 nsubj:pass\nhas AUX 4 aux\nbeen AUX 4 aux:pass\nstung VERB 0 root",
            "negative pres sing",
            {
                "has": FINITE.format("Pres"),
                "been": "Tense=Past|VerbForm=Part",
                "stung": "Tense=Past|VerbForm=Part|Voice=Pass",
            },
        ),
        ("I PRON 3 nsubj\n'd AUX 3 aux\ngo VERB 0 root", "neutral none sing", {"'d": "VerbForm=Fin", "go": "VerbForm=Inf"}),
        (
            "I PRON 3 nsubj\n'd AUX 3 aux\ngone VERB 0 root",
            "neutral past sing",
            {"'d": "Mood=Ind|Number=Sing|Person=1|Tense=Past|VerbForm=Fin", "gone": "Tense=Past|VerbForm=Part"},
        ),
        (
            "Wash VERB 0 root\nand CCONJ 3 cc\ndry VERB 1 conj\nthem PRON 3 obj",
            "neutral none none",
            {"Wash": "Mood=Imp|VerbForm=Fin", "dry": "Mood=Imp|VerbForm=Fin"},
        ),
        (
            "He PRON 3 nsubj\nhad AUX 3 aux\nwashed VERB 0 root\nand CCONJ 5 cc\ndried VERB 3 conj\nit PRON 5 obj",
            "neutral past sing",
            {"dried": "Tense=Past|VerbForm=Part"},
        ),
        (
            "Boys NOUN 4 nsubj\nwho PRON 3 nsubj\nsing VERB 1 acl:relcl\nsmile VERB 0 root",
            "neutral pres plur",
            {"who": "PronType=Rel", "sing": "Mood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin"},
        ),
        (
            "The DET 2 det\ntrouble NOUN 6 nsubj:outer\nis AUX 6 cop\nthat SCONJ 6 mark\nit PRON 6 nsubj\n"
            "leaked VERB 0 root",
            "negative pres sing",
            {"is": FINITE.format("Pres"), "leaked": FINITE.format("Past")},
        ),
        (
            "Whose PRON 2 nmod:poss\nchildren NOUN 4 nsubj\nenjoy AUX 4 aux\nbaking VERB 0 root",
            "neutral pres plur",
            {"Whose": "Poss=Yes|PronType=Int", "children": "Number=Plur"},
        ),
        (
            "Baking VERB 2 csubj\ntakes VERB 0 root\ntwo NUM 4 nummod\nhours NOUN 2 obj",
            "neutral pres sing",
            {"Baking": "VerbForm=Ger", "two": "NumForm=Word|NumType=Card", "hours": "Number=Plur"},
        ),
        (
            "The DET 3 det\nfirst ADJ 3 amod\nnews NOUN 0 root\nof ADP 8 case\nher PRON 8 nmod:poss\n"
            "older ADJ 8 amod\nfriend NOUN 8 compound\nfeet NOUN 3 nmod",
            "neutral none none",
            {
                "The": "Definite=Def|PronType=Art",
                "first": "Degree=Pos|NumForm=Word|NumType=Ord",
                "news": "Number=Sing",
                "older": "Degree=Cmp",
                "feet": "Number=Plur",
                "her": "Case=Gen|Gender=Fem|Number=Sing|Person=3|Poss=Yes|PronType=Prs",
            },
        ),
        (
            "She PRON 2 nsubj\nsaw VERB 0 root\na DET 5 det\nbroken VERB 5 amod\nsheep NOUN 2 obj feat=Number=Plur",
            "neutral past sing",
            {"a": "Definite=Ind|PronType=Art", "broken": "Tense=Past|VerbForm=Part|Voice=Pass", "sheep": "Number=Plur"},
        ),
    ],
)
def test_features_follow_from_form_tag_and_tree(lines, header, expected):
    features = feats(lines, header)
    assert {form: features[form] for form in expected} == expected


def test_degrees_are_told_from_words_that_only_end_like_them():
    assert [degree(word) for word in ("bigger", "clever", "best", "honest", "worse", "other", "darkest", "warm")] == [
        "Cmp",
        "Pos",
        "Sup",
        "Pos",
        "Cmp",
        "Pos",
        "Sup",
        "Pos",
    ]


@pytest.mark.parametrize(
    ("lines", "tense", "number"),
    [
        ("We PRON 3 nsubj\nare AUX 3 aux\ngoing VERB 0 root\nto PART 5 mark\nsing VERB 3 xcomp", "fut", "plur"),
        ("Tom PROPN 5 nsubj\nand CCONJ 3 cc\nAnn PROPN 1 conj\nwill AUX 5 aux\nsing VERB 0 root", "fut", "plur"),
        ("You PRON 3 nsubj\ncould AUX 3 aux\nsing VERB 0 root", "none", "none"),
        ("There PRON 2 expl\nwere VERB 0 root\ntwo NUM 4 nummod\nmice NOUN 2 nsubj", "past", "plur"),
        ("It PRON 3 expl\nis AUX 3 cop\nhard ADJ 0 root\nto PART 5 mark\nsing VERB 3 csubj", "pres", "sing"),
        ("Sing VERB 0 root\n! PUNCT 1 punct", "none", "none"),
        (
            "The DET 2 det\nkeys NOUN 6 nsubj\nwere AUX 6 cop\nin ADP 6 case\nthe DET 6 det\ndrawer NOUN 0 root",
            "past",
            "plur",
        ),
    ],
)
def test_tense_and_number_of_the_main_clause_are_worked_out(lines, tense, number):
    assert "the header says" not in mistakes(lines, f"neutral {tense} {number}")
    wrong = mistakes(lines, f"neutral {'pres' if tense == 'past' else 'past'} {'sing' if number == 'plur' else 'plur'}")
    assert wrong.count("the header says") == 2


def test_the_split_keeps_texts_whole_and_is_seventy_ten_twenty():
    splits = [reader.split(number) for number in range(1, 151)]
    assert [splits.count(name) for name in ("train", "dev", "test")] == [105, 15, 30]
    topics = reader.plan()["topics"]
    for topic in reader.TOPICS:
        held_out = [reader.split(int(number)) for number, name in topics.items() if name == topic]
        assert held_out.count("dev") in (1, 2) and held_out.count("test") in (2, 3)
    bank = reader.read().treebank()
    lengths = iter(bank.sentences)
    for text in reader.read().texts:
        assert {next(lengths).split for _ in text.sentences} == {text.split}


def test_the_plan_names_thirty_words_and_every_sense_six_times():
    plan = reader.plan()
    assert len(plan["senses"]) == 30 and all(2 <= len(senses) <= 3 for senses in plan["senses"].values())
    assert all(sum(word in words for words in plan["words"].values()) == 6 for word in plan["senses"])
    assert sorted(plan["topics"]) == [f"{number:03}" for number in range(1, 151)]


def test_the_common_words_are_a_thousand():
    common = reader.common_words()
    assert len(common) == 1000 and {"the", "n't", "house", "because"} <= common


def test_the_texts_that_ship_have_no_mistakes_and_no_open_doubts():
    assert [str(finding) for finding in check.check(reader.read().texts)] == []


def test_the_texts_that_ship_become_a_treebank_with_the_same_words():
    texts = reader.read().texts
    bank = reader.read().treebank()
    assert [sentence.words for sentence in bank.sentences] == [
        sentence.forms for text in texts for sentence in text.sentences
    ]
    assert all(sentence.heads and len(sentence.feats) == len(sentence) for sentence in bank.sentences)


def test_the_counts_name_what_a_range_still_owes():
    owed = counts.counts(reader.Reader((reader.parse(KEY, "001-key.txt"),)))
    assert "1 texts, 2 sentences, 17 tokens" in owed
    assert re.search(r"Range 001 \(1 of 15 texts\) owes senses: bank\.money, .*questions 1 of 10", owed)


def test_the_commands_print_and_report_by_their_exit_status(tmp_path, capsys):
    path = tmp_path / "001-key.txt"
    path.write_text(KEY)
    assert main(["check", str(path)]) == 1
    assert "2 sentences; 8 are wanted" in capsys.readouterr().out
    assert main(["check", "001"]) == 0
    assert "0 mistakes, 0 doubts" in capsys.readouterr().out
    assert main(["conllu", str(path)]) == 0
    assert capsys.readouterr().out == reader.text_conllu(reader.parse(KEY, path.name))
    assert main(["show", str(path)]) == 0
    assert "Maria lost her key." in capsys.readouterr().out
    path.write_text(KEY.replace("4 key", "9 key"))
    assert main(["conllu", str(path)]) == 2 and main(["check", str(path)]) == 1
    assert main(["show", "999"]) == 2


def test_every_text_has_one_question_whose_answer_stands_once_in_its_passage_on_whole_words():
    asked = questions.read()
    assert len(asked) == 150
    for one in asked:
        assert one.question.endswith("?")
        assert one.passage.count(one.answer) == 1, one
        around = one.passage[max(0, one.start - 1) : one.start] + one.passage[one.end : one.end + 1]
        assert not any(sign.isalnum() for sign in around), one
