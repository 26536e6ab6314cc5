// Puts a button to copy it on every block of code. Pages work without.
(() => {
  const { copy, copied } = document.currentScript.dataset;
  const said = document.getElementById("said");
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll("pre")) {
    const frame = document.createElement("div");
    frame.className = "code";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = copy;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(block.textContent.trimEnd());
      button.textContent = copied;
      said.textContent = copied;
      setTimeout(() => { button.textContent = copy; said.textContent = ""; }, 2000);
    });
    block.replaceWith(frame);
    frame.append(block, button);
  }
})();
