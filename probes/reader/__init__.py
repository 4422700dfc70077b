"""The reader: 150 short texts of everyday English, written and annotated for this project, and what checks them."""

from .compact_form import TOPICS, common_words, parse, plan, read
from .texts import Reader, ReaderSentence, split, text_conllu

__all__ = ["TOPICS", "Reader", "ReaderSentence", "common_words", "parse", "plan", "read", "split", "text_conllu"]
