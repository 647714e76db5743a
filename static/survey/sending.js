// Sends a form of a participant's page once. Where the server cannot be reached the page stays as it
// is, with everything on it, and says so; a page of answers is sent again until it arrives. Without
// scripts the browser sends the form by itself.

const RESEND_AFTER_MS = 15000;
const PATIENCE_MS = 30000;
const FIRST_RETRY_MS = 2000;
const LAST_RETRY_MS = 20000;
// What stands before a server answers so while the server itself is away.
const SERVER_IS_AWAY = new Set([502, 503, 504]);
const ANSWERS_TO_MEND = 422;
// A link leads on at once, or not at all: to write a letter leaves the page where it is.
const LINK_MS = 500;

let leaving = false;

/** Ask before the page is closed, loaded anew or left by the Back button while `isUnsent()`. Forms
 * and links of the page itself lead away unasked: to leave the study has to be easy. */
export function warnBeforeLeaving(isUnsent) {
  document.addEventListener("click", (event) => {
    if (!event.target.closest("a[href]")) return;
    leaving = true;
    setTimeout(() => { leaving = false; }, LINK_MS);
  }, true);
  window.addEventListener("beforeunload", (event) => {
    // Browsers ask nobody who has not touched the page.
    if (leaving || !isUnsent() || navigator.userActivation?.hasBeenActive === false) return;
    event.preventDefault();
    event.returnValue = true; // older browsers
  });
}

/** Guard a form. `mayLeave(submitter)` returns false to keep the page because something is missing;
 * `complete()` fills in what is only known when the form is sent. With `content()`, which tells the
 * answers apart, a form that did not arrive is sent again while they are the same: a page that the
 * server has already is stored only once. */
export function guardSending(form, { mayLeave = () => true, complete = () => {}, content } = {}) {
  let sentAt = null;
  let waiting = null;

  async function arrives(submitter) {
    if (navigator.onLine === false) return false;
    complete();
    sentAt = performance.now();
    markSending(form, true);
    try {
      await send(form, submitter);
      return true;
    } catch {
      sentAt = null;
      markSending(form, false);
      return false;
    }
  }

  function stopWaiting() {
    clearTimeout(waiting?.timer);
    waiting = null;
  }

  function waitToSend(ms) {
    waiting = { sent: waiting?.sent ?? content(), ms, timer: setTimeout(sendAgain, ms) };
  }

  async function sendAgain() {
    if (!waiting || sentAt !== null) return;
    clearTimeout(waiting.timer);
    if (content() !== waiting.sent) {
      // Somebody is at the answers again, and says when they are done.
      stopWaiting();
      tellOffline(form);
    } else if (!await arrives() && waiting) {
      waitToSend(Math.min(2 * waiting.ms, LAST_RETRY_MS));
    }
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { submitter } = event;
    if (sentAt !== null && performance.now() - sentAt < RESEND_AFTER_MS) return;
    if (!mayLeave(submitter)) return;
    stopWaiting();
    if (await arrives(submitter)) return;
    const isSentAgain = Boolean(content) && !submitter?.name;
    tellOffline(form, { isSentAgain });
    if (isSentAgain) waitToSend(FIRST_RETRY_MS);
  });
  window.addEventListener("online", () => {
    if (waiting) sendAgain();
    else form.querySelector("[data-foot] [role=alert]")?.remove();
  });
  // The browser may bring a page back as it was left.
  window.addEventListener("pageshow", () => {
    stopWaiting();
    sentAt = null;
    leaving = false;
    markSending(form, false);
  });
}

/** Send the form and go where the answer leads. Throws where no answer came. */
async function send(form, submitter) {
  const fields = new FormData(form);
  if (submitter?.name) fields.append(submitter.name, submitter.value);
  const answer = await fetch(form.action, {
    method: "POST",
    body: new URLSearchParams(fields),
    // Nearly all answers lead back to this address: then the page there is asked for only once.
    redirect: "leadsOn" in form.dataset ? "follow" : "manual",
    signal: AbortSignal.timeout?.(PATIENCE_MS),
  });
  if (SERVER_IS_AWAY.has(answer.status)) throw new Error(`the server is away: ${answer.status}`);
  leaving = true;
  if (answer.type === "opaqueredirect") goOn(form.action);
  else if (answer.redirected) location.assign(answer.url);
  else if (answer.ok || answer.status === ANSWERS_TO_MEND) sendByBrowser(form, submitter);
  else showInPlace(await answer.text());
}

/** Show the page that follows at the same address. It is one more step for the Back button, which
 * would otherwise lead out of the survey. */
function goOn(address) {
  history.pushState(null, "", address);
  location.assign(address);
}

/** Let the browser send a form that comes back, with answers to mend or in another language: that
 * stores nothing, and the page needs its scripts. */
function sendByBrowser(form, submitter) {
  if (submitter?.name) {
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = submitter.name;
    field.value = submitter.value;
    form.append(field);
  }
  form.submit();
}

/** Show a page that says why the form was not taken. To send the form again would be answered
 * differently: what has just happened is told once. */
function showInPlace(html) {
  document.open();
  document.write(html);
  document.close();
}

function markSending(form, sending) {
  for (const button of form.querySelectorAll("button[type=submit]")) {
    button.setAttribute("aria-disabled", String(sending));
  }
}

function tellOffline(form, { isSentAgain = false } = {}) {
  const foot = form.querySelector("[data-foot]");
  foot.querySelector("[role=alert]")?.remove();
  const notice = document.querySelector("template[data-offline]").content.cloneNode(true);
  notice.querySelector(isSentAgain ? "[data-stays]" : "[data-sent-again]")?.remove();
  foot.prepend(notice);
}
