// The body of a function: `arguments[0]` is the least width and height. Answers every target that is smaller.
const least = arguments[0];
// Measures are fractions, and a browser rounds them to whole pixels of the screen.
const slack = 0.5;

const isShown = (element) => {
  const box = element.getBoundingClientRect();
  // What only screen readers get is a pixel large or lies outside the page.
  const isThere = box.width > 1 && box.height > 1 && box.right > 0 && box.bottom + window.scrollY > 0;
  return isThere && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
};

const isLargeEnough = (box) => box.width >= least - slack && box.height >= least - slack;

// A target may take more room than its box, by a pseudo-element for one: then its surroundings lead to it as well.
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
