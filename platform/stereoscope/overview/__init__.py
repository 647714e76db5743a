"""The first page after the log-in: what needs somebody, what runs, what is new."""
