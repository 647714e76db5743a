// Forms that stand alone on a page: to start, to come back, to erase.
import { guardSending } from "./sending.js";

for (const form of document.querySelectorAll("[data-send]")) guardSending(form);
