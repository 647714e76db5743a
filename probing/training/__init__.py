"""Training of models; nothing here is imported before it is needed."""
