"""What the four papers print, computed again."""
