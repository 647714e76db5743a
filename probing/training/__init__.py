"""Models that the platform builds itself; nothing here is imported before it is needed."""
