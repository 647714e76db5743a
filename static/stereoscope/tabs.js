// Brings the open tab into view where a row of tabs is wider than the window. Loaded in the head of
// every page of the admin, so that it waits for what stands below.
function showOpenTabs() {
  for (const open of document.querySelectorAll('.page-tabs [aria-current="page"]')) {
    const row = open.parentElement;
    const [tab, frame] = [open.getBoundingClientRect(), row.getBoundingClientRect()];
    // In the middle of the row: the tabs on both sides show that there are more.
    row.scrollLeft += tab.left + tab.width / 2 - frame.left - frame.width / 2;
  }
}
document.addEventListener("DOMContentLoaded", showOpenTabs);
