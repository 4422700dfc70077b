"""Annotation is read as the file has it, words keep their wordpieces, and a line that makes no sense is named."""

import numpy as np
import pytest

from model import InputError
from probes.probing import treebank
from probes.probing.alignment import align
from probes.probing.treebank import ROOT, Sentence

DOGS = """# text = The dogs didn't bark.
1\tThe\tthe\tDET\tDT\tDefinite=Def\t2\tdet\t_\t_
2\tdogs\tdog\tNOUN\tNNS\tNumber=Plur\t5\tnsubj\t_\t_
3-4\tdidn't\t_\t_\t_\t_\t_\t_\t_\t_
3\tdid\tdo\tAUX\tVBD\tTense=Past|VerbForm=Fin\t5\taux\t_\t_
4\tn't\tnot\tPART\tRB\t_\t5\tadvmod:neg\t_\t_
4.1\tgone\t_\t_\t_\t_\t_\t_\t_\t_
5\tbark\tbark\tVERB\tVB\tVerbForm=Inf\t0\troot\t_\t_
6\t.\t.\tPUNCT\t.\t_\t5\tpunct\t_\t_
"""


def test_a_tree_is_read_without_contractions_empty_words_and_subtypes():
    (dogs,) = treebank.parse(DOGS, "dogs.conllu").sentences
    assert dogs.words == ("The", "dogs", "did", "n't", "bark", ".")
    assert dogs.heads == (1, 4, 4, 4, ROOT, 4)
    assert dogs.relations == ("det", "nsubj", "aux", "advmod", "root", "punct")
    assert dogs.feats[2] == {"Tense": "Past", "VerbForm": "Fin"}
    assert dogs.root == 4


def test_depths_and_distances_count_the_edges():
    (dogs,) = treebank.parse(DOGS, "dogs.conllu").sentences
    assert dogs.depths() == [2, 1, 1, 1, 0, 1]
    distances = dogs.distances()
    assert np.array_equal(distances, distances.T)
    assert not distances.diagonal().any()
    assert distances[0].tolist() == [0, 1, 3, 3, 2, 3]


@pytest.mark.parametrize(
    ("change", "number"),
    [
        (("DET\tDT\t", "DET "), 2),
        (("2\tdogs", "7\tdogs"), 3),
        (("5\tbark", "five\tbark"), 8),
        (("\t0\troot", "\tx\troot"), 8),
    ],
)
def test_a_malformed_line_is_named_by_its_number(change, number):
    with pytest.raises(InputError, match=f"Line {number} of dogs.conllu"):
        treebank.parse(DOGS.replace(*change), "dogs.conllu")


def test_words_that_lead_in_a_circle_are_no_tree():
    with pytest.raises(InputError, match="no tree"):
        treebank.parse(DOGS.replace("2\tdet", "6\tdet").replace("5\tpunct", "1\tpunct"), "dogs.conllu")


def test_senteval_lines_bring_their_split_and_label():
    bank = treebank.parse("tr\tPAST\tHe ran .\nva\tPRES\tHe runs .\nte\tPAST\tWe sat .\n", "tense.txt")
    assert [(s.split, s.label, s.text) for s in bank.sentences] == [
        ("train", "PAST", "He ran ."),
        ("dev", "PRES", "He runs ."),
        ("test", "PAST", "We sat ."),
    ]
    with pytest.raises(InputError, match=r"Line 2 of tense\.txt"):
        treebank.parse("tr\tPAST\tHe ran .\nva\tHe runs .\n", "tense.txt")


def test_a_table_of_texts_and_a_table_of_tokens_are_told_apart():
    texts = treebank.parse('text,label\n"Good, isn\'t it?",yes\nBad.,no\n', "a.csv").sentences
    assert [(s.text, s.label) for s in texts] == [("Good, isn't it?", "yes"), ("Bad.", "no")]
    tokens = treebank.parse('token\tlabel\nAnn\tPER\n"\tO\n\nin\tO\nRome\tLOC\n', "b.tsv").sentences
    assert [(s.words, s.tags) for s in tokens] == [(("Ann", '"'), ("PER", "O")), (("in", "Rome"), ("O", "LOC"))]


def test_a_quoted_text_may_run_over_several_lines():
    for end in ("\n", "\r\n"):
        text = end.join(["text,label", '"nice', "", 'food, ""truly""",good', "bad,bad", ""])
        bank = treebank.parse(text, "a.csv")
        assert [(s.words, s.label) for s in bank.sentences] == [(("nice", "food,", '"truly"'), "good"), (("bad",), "bad")]
    with pytest.raises(InputError, match=r"Line 4 of a\.csv"):
        treebank.parse('text,label\n"nice\nfood",good\n"no\nlabel",\n', "a.csv")


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c"])
def test_only_a_line_feed_ends_a_line(sign):
    (dogs,) = treebank.parse(DOGS.replace("\tdogs\t", f"\tdo{sign}gs\t"), "dogs.conllu").sentences
    assert dogs.words[1] == f"do{sign}gs" and len(dogs) == 6
    (text,) = treebank.parse(f"text,label\nnice{sign}food,good\n", "a.csv").sentences
    assert (text.words, text.label) == (("nice", "food"), "good")
    (tokens,) = treebank.parse(f"token\tlabel\nA{sign}nn\tPER\nran\tO\n", "b.tsv").sentences
    assert tokens.words == (f"A{sign}nn", "ran")
    (labelled,) = treebank.parse(f"tr\tPAST\tHe{sign}ran .\n", "tense.txt").sentences
    assert labelled.words == ("He", "ran", ".")


def test_a_table_that_is_no_csv_is_refused_in_a_sentence():
    with pytest.raises(InputError, match=r"Line 1 of a\.csv"):
        treebank.parse("text,label\rnice,good\rbad,bad\n", "a.csv")
    with pytest.raises(InputError, match=r"Line 2 of a\.csv"):
        treebank.parse('text,label\n"' + "never closed " * 20_000, "a.csv")


def test_documents_of_a_treebank_are_told_apart():
    text = DOGS + "\n# newdoc id = letters\n" + DOGS + "\n" + DOGS + "\n# newdoc\n" + DOGS
    first, second, third, fourth = (s.document for s in treebank.parse(text, "dogs.conllu").sentences)
    assert first == "" and second == third and second and fourth not in ("", second)


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "empty"), ("text,label\na,b,c\n", "Line 2"), ("word,label\na,b\n\n,x\n", "Line 4"), ("a,b\nc,d\n", "text,label")],
)
def test_a_table_that_cannot_be_used_says_why(text, message):
    with pytest.raises(InputError, match=message):
        treebank.parse(text, "a.csv")


def test_files_of_a_folder_bring_their_split(tmp_path):
    for split in ("train", "dev", "test"):
        (tmp_path / f"dogs-{split}.conllu").write_text(DOGS)
    bank = treebank.read(tmp_path)
    assert sorted(s.split for s in bank.sentences) == ["dev", "test", "train"]


def test_a_file_for_each_split_is_read_as_that_split(tmp_path):
    banks = {split: treebank.parse(DOGS + more, f"{split}.conllu") for split, more in (("train", "\n"), ("test", ""))}
    bank = treebank.join("mine", banks.items())
    assert [s.split for s in bank.sentences] == ["train", "test"]
    swapped = treebank.join("mine", [("train", banks["test"]), ("test", banks["train"])])
    assert bank.digest != swapped.digest


def test_the_same_content_has_the_same_digest():
    assert treebank.parse(DOGS, "a.conllu").digest == treebank.parse(DOGS, "b.conllu").digest
    assert treebank.parse(DOGS, "a.conllu").digest != treebank.parse(DOGS + "\n", "a.conllu").digest


def test_every_word_is_found_again_in_its_pieces(tiny_bert):
    (dogs,) = treebank.parse(DOGS, "dogs.conllu").sentences
    alignment = align(tiny_bert, [dogs])
    assert alignment.skipped == 0
    (aligned,) = alignment.sentences
    tokens = aligned.encoding.tokens
    words = ["".join(tokens[piece].text.removeprefix("##") for piece in range(*span)) for span in aligned.spans]
    assert words == ["the", "dogs", "did", "n[UNK]t", "bark", "."]


def test_a_word_that_leaves_no_piece_has_an_empty_span(tiny_bert):
    (aligned,) = align(tiny_bert, [Sentence(("cat", "\u200b", "sat"))]).sentences
    assert (aligned.spans[:, 1] - aligned.spans[:, 0]).tolist() == [1, 0, 1]
    assert not aligned.is_complete
    assert align(tiny_bert, [Sentence(("cat", "sat"))]).sentences[0].is_complete


def test_only_a_parsed_sentence_has_a_tree(tiny_bert):
    (dogs,) = treebank.parse(DOGS, "dogs.conllu").sentences
    parsed, plain = align(tiny_bert, [dogs, Sentence(("cat", "sat"))]).sentences
    assert parsed.has_tree
    assert not plain.has_tree


def test_sentences_longer_than_the_model_are_left_out_and_counted(tiny_bert):
    alignment = align(tiny_bert, [Sentence(("cat",) * length) for length in (3, 62, 63)])
    assert [len(aligned.sentence) for aligned in alignment.sentences] == [3, 62]
    assert alignment.skipped == 1


def test_a_real_treebank_is_read_whole(corpora):
    bank = treebank.read(corpora / "treebank")
    assert len(bank) > 16_000
    assert all(len(s.words) == len(s.heads) == len(s.relations) == len(s.upos) for s in bank.sentences)


def test_a_table_of_pairs_keeps_both_sentences_and_names_the_line_that_lacks_one(english):
    bank = treebank.parse("text,second,label,split\nIt rains .,It is wet .,yes,test\n", "mine.csv")
    assert bank.sentences == (Sentence(("It", "rains", "."), label="yes", split="test", second=("It", "is", "wet", ".")),)
    alignment = align(english, bank.sentences)
    assert alignment.skipped == 0
    (aligned,) = alignment.sentences
    assert len(aligned.spans) == 3
    assert [token.segment for token in aligned.encoding.tokens] == [0] * 5 + [1] * 5
    with pytest.raises(InputError, match=r"Line 2 of mine\.csv lacks its second sentence"):
        treebank.parse("text,second,label\nIt rains .,,yes\n", "mine.csv")
