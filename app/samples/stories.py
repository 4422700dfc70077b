"""A few sentences to begin with, written for this project."""

STORY = """The old ferry left the island before sunrise. Two fishermen stood on the deck and watched the dark water.
The younger one had never seen the city, and he asked many questions about it. His uncle laughed and told him that the
streets were always full of people. When the ship reached the harbour, a loud bell began to ring. The boy picked up his
bag and walked slowly down the wooden stairs. He was afraid of the noise, but he did not say so. At the market they sold
their fish to a woman with a blue hat. She paid them well and gave the boy an apple. In the evening they sat by the river
and counted the money."""

# unrelated sentences, to measure a model by
SENTENCES = """The old man walked slowly down the long street.
She put the keys on the table and closed the door.
The children played in the garden until the sun went down.
He was born in a small town near the river.
The book that you gave me is on the shelf.
They could not see the house because of the trees.
In the morning the train leaves for the city.
My brother bought a new car last year.
The king and the queen lived in a large castle.
Water turns into ice when it is very cold.
The doctor said that the patient would soon be well.
We had bread, cheese and a glass of wine."""
