"""Ways in: each translates, calls, and translates back."""
