"""What is wrong, or worth a second look, in entities, chains, senses and typography of a sentence."""

from collections.abc import Mapping

from .counts import word_count
from .relation_checks import Say
from .tag_rules import TITLES
from .texts import ReaderSentence


def check_entities(sentence: ReaderSentence, mistake: Say, doubt: Say) -> None:
    before = ""
    for word, token in enumerate(sentence.tokens):
        if token.entity == "+" and not before:
            mistake(word, f"ent=+ on {token.form!r} continues nothing")
        if token.upos == "PROPN" and not token.entity and token.form.lower() not in TITLES:
            doubt(word, f"the name {token.form!r} is in no entity")
        if token.entity == "PER" and token.form.lower() in TITLES:
            doubt(word, f"the title {token.form!r} stays outside the entity")
        if token.entity and token.upos in ("PUNCT", "DET", "VERB", "AUX"):
            doubt(word, f"{token.form!r} ({token.upos}) is in an entity")
        if (
            token.form[0].isupper()
            and word
            and token.upos not in ("PROPN", "PRON", "ADJ", "INTJ")
            and sentence.tokens[word - 1].form != '"'
            and not token.entity
            and token.relation != "nmod:desc"
        ):
            doubt(word, f"{token.form!r} has a capital letter inside the sentence, but is {token.upos}")
        if token.upos == "PROPN" and not token.form[0].isupper():
            doubt(word, f"the name {token.form!r} has no capital letter")
        if token.coref and token.relation in ("case", "det", "aux", "cop", "mark", "cc", "punct", "expl", "flat"):
            mistake(word, f"coref= stands on {token.form!r} ({token.relation}), which is no head of a mention")
        before = token.entity


def sense_word(form: str, senses: Mapping[str, Mapping[str, str]]) -> str:
    """The one of the thirty words this form belongs to, or nothing."""
    form = form.lower()
    irregular = {
        "flew": "fly",
        "flown": "fly",
        "flies": "fly",
        "rang": "ring",
        "rung": "ring",
        "lit": "light",
        "sprang": "spring",
        "sprung": "spring",
        "tying": "tie",
        "kinder": "kind",
        "kindest": "kind",
        "fairer": "fair",
        "fairest": "fair",
    }
    if form in irregular:
        return irregular[form]
    for word in senses:
        endings = {"", "s", "es", "ed", "ing", word[-1] + "ed", word[-1] + "ing", "er", "est"}
        if form == word or (form.startswith(word) and form[len(word) :] in endings - {"er"}):
            if word in ("left", "mine", "right", "kind", "fair") and form not in (word, word + "s"):
                continue
            return word
        if word.endswith("e") and form in (word + "d", word[:-1] + "ing") and word not in ("mine", "date"):
            return word
    return ""


def check_senses(sentence: ReaderSentence, senses: Mapping[str, Mapping[str, str]], mistake: Say, doubt: Say) -> None:
    for word, token in enumerate(sentence.tokens):
        own = sense_word(token.form, senses)
        if token.sense:
            name, _, sense = token.sense.partition(".")
            if sense not in senses.get(name, {}):
                mistake(word, f"{token.sense!r} is no sense on the list")
            elif own != name and token.form.lower() not in ("lighter", "lightest"):
                doubt(word, f"{token.form!r} does not look like a form of {name!r}")
        elif own and token.upos != "PROPN":
            doubt(word, f"{token.form!r} is one of the thirty words and has no sense")


def check_typography(sentence: ReaderSentence, mistake: Say, doubt: Say) -> None:
    forms = sentence.forms
    if forms.count('"') % 2:
        mistake(None, "quotation marks open and close within a sentence, but their number is odd")
    for word, form in enumerate(forms):
        if any(letter in form for letter in "“”‘’"):
            mistake(word, f"{form!r} has a curly quotation mark; straight ones are used")
        if form.lower() in ("cannot", "gonna", "wanna") or (
            len(form) > 3 and form.lower().endswith(("n't", "'s", "'ll", "'ve", "'re", "'d", "'m"))
        ):
            mistake(word, f"{form!r} is two tokens")
    if forms[-1] not in (".", "?", "!", '"', "...", ":", ",", ")"):
        mistake(len(forms) - 1, f"the sentence ends with {forms[-1]!r} instead of a mark")
    first = next((form for form in forms if form not in ('"', "(", "–")), "")
    if first[:1].islower():
        mistake(0, f"the sentence begins with the small letter of {first!r}")
    if not 2 <= word_count(sentence) <= 24:
        doubt(None, f"the sentence has {word_count(sentence)} words; 4 to 22 are wanted")
