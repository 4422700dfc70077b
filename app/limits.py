"""Every bound of the app in one place."""

TEXT_CHARACTERS = 4000  # a sentence box; the model's own limit of wordpieces is said by the trace
MODELS_LOADED = 4  # checkpoints kept in memory at once
TRACES_KEPT = 64  # answers kept, over all readers
POSITIONS_COMPARED = 128  # rows of the position similarity matrices
