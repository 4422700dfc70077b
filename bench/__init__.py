"""Side by side with the tools people use today: each row says what both sides do; interleaved, medians."""
