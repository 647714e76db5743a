"""SQLite whose writers queue up."""
