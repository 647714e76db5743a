"""What can be wrong with a report before it is built."""


class ReportError(ValueError):
    """A report that cannot be made; the message says what is missing and what would fit."""
