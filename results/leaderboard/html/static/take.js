// Copies a command. Without script, or where a browser lets no page copy, it can be selected.
(() => {
  "use strict";

  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll("button.copy")) {
    const command = button.parentElement.querySelector("code");
    const status = button.closest("section").querySelector("[role=status]");
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(command.textContent);
        status.textContent = "Copied.";
        button.classList.add("done");
      } catch {
        getSelection().selectAllChildren(command);
        status.textContent = "The command is selected: copy it by key.";
      }
      setTimeout(() => { button.classList.remove("done"); status.textContent = ""; }, 2000);
    });
  }
})();
