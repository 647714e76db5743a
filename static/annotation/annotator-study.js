// The pages of a study of annotators: numbers that follow the work, the agreement, links to copy.
import { offerCopies } from "../stereoscope/copying.js";
import { fill, follow } from "../stereoscope/live.js";

const AGREEMENT_PAUSE_MS = 20_000;

offerCopies();
fill(AGREEMENT_PAUSE_MS);
follow(5000);
