// Keeps the numbers of a study up to date while people rate, and copies the participants' link.
import { offerCopies } from "../stereoscope/copying.js";
import { fill, follow } from "../stereoscope/live.js";

offerCopies();
fill(60_000);
follow(10_000);
