// What a page of the theme keeps while it is open. Alpine's build for strict content security policies
// makes no code of text and knows nothing of the window: what expressions in the theme's templates
// name is given to them here.

document.addEventListener("alpine:init", () => {
  for (const part of [window.theme, window.searchForm, window.searchDropdown, window.searchCommand]) {
    window.Alpine.data(part.name, part);
  }
  window.Alpine.data("page", () => ({
    activeTab: "",
    sidebarMobileOpen: false,
    sidebarDesktopOpen: localStorage.getItem("sidebarDesktopOpen") !== "0",
    window: {
      location: {
        get pathname() { return window.location.pathname; },
        get search() { return window.location.search; },
      },
    },
    init() {
      const first = this.$el.dataset.tab;
      this.activeTab = first ? window.getCurrentTab() || first : "";
      this.$watch("sidebarDesktopOpen", (isOpen) => {
        localStorage.setItem("sidebarDesktopOpen", isOpen ? "1" : "0");
      });
    },
  }));
});

// On a phone the theme writes the head of its column before each cell of a list, as the model has it.
document.addEventListener("DOMContentLoaded", () => {
  for (const { dataset } of document.querySelectorAll("#result_list [data-label]")) {
    dataset.label = dataset.label.charAt(0).toUpperCase() + dataset.label.slice(1);
  }
});
