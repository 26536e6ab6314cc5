// Puts a button to copy it on every block of code. Pages work without. `copyText` stands before this script.
(() => {
  const { copy, copied } = document.currentScript.dataset;
  const said = document.getElementById("said");
  for (const block of document.querySelectorAll("pre")) {
    const frame = document.createElement("div");
    frame.className = "code";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = copy;
    button.addEventListener("click", () => copyText(block.textContent.trimEnd()).then(() => {
      button.textContent = copied;
      said.textContent = copied;
      setTimeout(() => { button.textContent = copy; said.textContent = ""; }, 2000);
      button.focus();
    }, () => getSelection().selectAllChildren(block)));
    block.replaceWith(frame);
    frame.append(block, button);
  }
})();
