"""Every bound of the app in one place."""

TEXT_CHARACTERS = 4000  # a sentence box; the model's own limit of wordpieces is said by the trace
MODELS_LOADED = 4  # checkpoints kept in memory at once
TRACES_KEPT = 64  # answers kept, over all readers
TOKENS_DRAWN = 40  # lines of one head on the start page; the attention page shows them all
POSITIONS_COMPARED = 128  # rows of the position similarity matrices
PASTED_CHARACTERS = 40_000  # a box of many sentences
PASTED_SENTENCES = 200  # read of such a box; the rest is said to be left out
CORPUS_TOKENS = (20_000, 50_000, 100_000, 200_000)  # sizes of an indexed corpus; 200,000 × 384 floats are 307 MB
CONTEXTS_KEPT = 8  # texts whose every token is kept at every layer
INDEXES_KEPT = 2  # layers of indexed corpora in memory
TWINS_KEPT = 2  # models with random weights in memory
