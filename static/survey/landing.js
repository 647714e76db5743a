// A double click starts one visit; the server would see to it as well.
const form = document.querySelector("[data-start]");
let sent = false;
form.addEventListener("submit", (event) => {
  if (sent) event.preventDefault();
  sent = true;
});
window.addEventListener("pageshow", () => { sent = false; });
