// A browser forgets a chosen file when a form is answered by a new page. So the preview is fetched,
// and the chosen file moves into the new form with its frame. Without this script it is chosen again.

async function preview(form, button) {
  button.disabled = true;
  const answer = await fetch(form.action, {
    method: "POST",
    body: new FormData(form, button),
    credentials: "same-origin",
  });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("form[data-keeps-files]");
  // A log-in page after the session's end, or an error: the browser shows it by itself.
  if (!answer.ok || !fresh) throw new Error("no form came back");
  for (const frame of form.querySelectorAll("[data-file]")) {
    fresh.querySelector(`[data-file="${frame.dataset.file}"]`)?.replaceWith(frame);
  }
  form.replaceWith(fresh);
  const wrong = fresh.querySelector(".notice.bad, .field-row.wrong");
  (wrong ?? fresh.querySelector("#preview"))?.scrollIntoView({ block: "nearest" });
}

document.addEventListener("submit", async (event) => {
  const { target: form, submitter: button } = event;
  if (!form.matches("form[data-keeps-files]") || button?.name !== "preview") return;
  event.preventDefault();
  try {
    await preview(form, button);
  } catch {
    button.disabled = false;
    const named = document.createElement("input");
    Object.assign(named, { type: "hidden", name: button.name, value: button.value });
    form.append(named);
    form.submit();
  }
});
