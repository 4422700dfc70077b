"""Sentences for the cloze pages: one to fill, two to compare."""

# agreement over a distance: which of the two is English is known, so the score can be checked
GRAMMATICAL = "The keys to the old cabinet are on the table."
UNGRAMMATICAL = "The keys to the old cabinet is on the table."

# of the small world; the word is told on the left and on the right of it
SMALL_WORLD_CLOZE = "The seller [MASK] them and sold them the apples."

# of the paper (Devlin et al., 2019, appendix A.1), with a full stop: without it the model would put one in place of the
# last word
PAPER = "My dog is hairy."
