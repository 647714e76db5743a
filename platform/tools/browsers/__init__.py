"""The journeys of participants and annotators in Chromium, Firefox and WebKit, with pictures."""
