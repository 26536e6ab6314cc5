// The body of a function: measures the page as it is, and again with all of its text in each font of `arguments[0]`. Returns what
// `measure` returned each time, or the name of a font that is not installed. Fonts are looked for in the size of `arguments[1]`: the
// browser remembers for a size that it did not find one.
const [fonts, size, ...others] = arguments;
const own = document.adoptedStyleSheets;

// Text is equally wide with either fallback only if the font is there.
const isInstalled = (font) => {
  const pen = document.createElement("canvas").getContext("2d");
  const [serif, monospace] = ["serif", "monospace"].map((fallback) => {
    pen.font = `${size}px "${font}", ${fallback}`;
    return pen.measureText("illimwwm").width;
  });
  return serif === monospace;
};

const missing = fonts.find((font) => !isInstalled(font));
if (missing !== undefined) return missing;
try {
  return [null, ...fonts].map((font) => {
    if (font !== null) {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(`* { font-family: "${font}" !important; }`);
      document.adoptedStyleSheets = [...own, sheet];
    }
    return measure(...others);
  });
} finally {
  document.adoptedStyleSheets = own;
}
