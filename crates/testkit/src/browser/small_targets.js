// The body of a function: `arguments[0]` is the least width and height. It returns a description of every smaller target.
const least = arguments[0];
// Sizes are fractions, which browsers round to whole device pixels.
const slack = 0.5;

const isShown = (element) => {
  const box = element.getBoundingClientRect();
  // Elements for screen readers only are one pixel large or outside of the page.
  const isThere = box.width > 1 && box.height > 1 && box.right > 0 && box.bottom + window.scrollY > 0;
  return isThere && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
};

const isLargeEnough = (box) => box.width >= least - slack && box.height >= least - slack;

// A target may react beyond its box, for example by a pseudo-element: then points around it belong to it too.
const isHitAround = (element) => {
  element.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
  const box = element.getBoundingClientRect();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const reach = least / 2 - 1;
  return [[reach, 0], [-reach, 0], [0, reach], [0, -reach]].every(([right, down]) => {
    const found = document.elementFromPoint(x + right, y + down);
    return found !== null && element.contains(found);
  });
};

const isInSentence = (element) => {
  const beside = [...element.parentElement.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
  const isInline = getComputedStyle(element).display === "inline";
  return element.matches("a[href]") && isInline && beside.some((node) => node.data.trim().length > 1);
};

const described = (element) => {
  const name = element.localName;
  const id = element.id === "" ? "" : `#${element.id}`;
  const words = (element.textContent || element.value || element.name || "").trim().replace(/\s+/g, " ").slice(0, 30);
  const box = element.getBoundingClientRect();
  return `${name}${id} "${words}" (${Math.round(box.width)} × ${Math.round(box.height)})`;
};

const candidates = "a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=link], [role=tab]";
const small = new Set();
const [left, top] = [window.scrollX, window.scrollY];
for (const element of document.querySelectorAll(candidates)) {
  if (element.disabled) continue;
  const labels = element.matches("[type=radio], [type=checkbox]") ? [...element.labels].filter(isShown) : [];
  const targets = labels.length > 0 ? labels : [element].filter(isShown);
  const suffices = (target) => isLargeEnough(target.getBoundingClientRect()) || isInSentence(target) || isHitAround(target);
  if (targets.length > 0 && !targets.some(suffices)) small.add(described(targets[0]));
}
window.scrollTo({ left, top, behavior: "instant" });
return [...small];
