import { offerCopies } from "../stereoscope/copying.js";

offerCopies();
