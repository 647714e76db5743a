// Keeps the run monitor up to date while the run is open.
import { follow } from "../stereoscope/live.js";

follow(2000);
