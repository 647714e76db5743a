"""What is left of the researchers' pages to the admin: lists and plain forms.

Importing this package registers them.
"""

from annotation.admin import (
    annotator_study,
    corpus,
    instrument,
    library_entry,
    library_question,
    study,
    submission,
    team,
)
