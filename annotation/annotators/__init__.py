"""Annotators: invited by researchers, logged in, with a place of their own in each study."""
