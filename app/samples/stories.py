"""A few sentences to begin with, written for this project."""

STORY = """The old ferry left the island before sunrise. Two fishermen stood on the deck and watched the dark water.
The younger one had never seen the city, and he asked many questions about it. His uncle laughed and told him that the
streets were always full of people. When the ship reached the harbour, a loud bell began to ring. The boy picked up his
bag and walked slowly down the wooden stairs. He was afraid of the noise, but he did not say so. At the market they sold
their fish to a woman with a blue hat. She paid them well and gave the boy an apple. In the evening they sat by the river
and counted the money."""
