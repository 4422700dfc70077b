"""Two sentences of a review, to try a fine-tuned model on: each says something good and something bad."""

SENTENCE_A = "The bread was fresh, but the waiter was rude."
SENTENCE_B = "We liked the food and not the service."
