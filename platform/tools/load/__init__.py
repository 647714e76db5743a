"""How many participants a small machine serves: surveys over HTTP, every stored answer checked."""
