"""The small masked language model that the platform trains itself, without any download."""
