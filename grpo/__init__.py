"""GRPO by hand: token ids, log-probs and rewards in, weights out. Knows no task."""
