"""Writing counterparts: design, assignment, the writers' pages, adjudication, gold pairs."""
