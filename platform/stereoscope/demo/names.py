"""What pages know the demo by; they need none of what seeds it."""

# Public ids that nobody draws by chance make seeding idempotent, also between two processes.
SURVEY_ID = "demosurvey01"
PEOPLE_ID = "demopeople01"
SPEAKERS_SURVEY_ID = "demospeaker1"
SPEAKERS_PEOPLE_ID = "demospeaker2"
STUDIES = (SURVEY_ID, PEOPLE_ID, SPEAKERS_SURVEY_ID, SPEAKERS_PEOPLE_ID)
MODEL_REPORT = "Demo: simulated people beside "
