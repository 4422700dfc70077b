"""Side by side with the tools people use today: same work, same outputs, interleaved, medians."""
