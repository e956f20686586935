// Drawing with plotly.js: it is inflated and run when the first figure comes into sight, and draws in the colours of the page.
const packed = document.getElementById("plotly");
const NOT_DRAWN = 'Not drawn: pip install "pytest-fdegym[report]" draws it.';
let loading = null;
function library() {
  loading ??= inflate(packed.textContent).then((source) => {
    const script = document.createElement("script");
    script.textContent = source;
    document.head.append(script);
    script.remove();
    return window.Plotly;
  });
  return loading;
}

// plotly.js takes texts for a kind of HTML, with links: so that it shows them as they are, none reaches it but through these.
const MARKS = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const shown = (text) => visible(text).replace(/[\n\r]+/g, " ").replace(/[&<>]/g, (found) => MARKS[found]);
// Names that are long often differ at their end.
const cut = (text, longest = 26) => (text.length > longest ? `${text.slice(0, Math.ceil((longest - 1) / 2))}…${text.slice(-Math.floor((longest - 1) / 2))}` : text);
const short = (text, longest) => shown(cut(visible(text), longest));
const isNarrow = (width) => width < 460;
const longestAt = (width) => (isNarrow(width) ? 14 : 26);
const lines = (text) => (visible(text).match(/[^]{1,60}(?:\s|$)|[^]{60}/gu) ?? []).map(shown).join("<br>");
const room = (names, width) => 22 + 6.6 * Math.max(0, ...names.map((name) => cut(visible(name), longestAt(width)).length));

const BLUE = "#4a7bd0";
const GREY = "#8b949e";
const CONFIG = { displayModeBar: false, scrollZoom: false, doubleClick: false, showTips: false, logging: 0, notifyOnLogging: 0 };
const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const label = (text) => ({ text: text ?? "", standoff: 8, font: { size: 12 } });
const axis = (title, rest) => ({ title: label(title), fixedrange: true, showgrid: true, zeroline: false, automargin: false, tickangle: 0, gridcolor: ink("line"), linecolor: ink("line"), tickcolor: ink("line"), griddash: "dot", ...rest });
// Names along an axis, the first one on top or at the left.
const names = (values, width) => ({ tickmode: "array", tickvals: values.map((_, place) => place), ticktext: values.map((value) => short(value, longestAt(width))), showgrid: false });
const downwards = (values, width) => axis("", { ...names(values, width), range: [values.length - 0.5, -0.5] });
const zero = (direction, rest) => ({ type: "line", layer: "above", line: { color: ink("ink"), width: 1 }, opacity: 0.5, ...(direction === "x" ? { x0: 0, x1: 0, y0: 0, y1: 1, yref: "paper" } : { y0: 0, y1: 0, x0: 0, x1: 1, xref: "paper" }), ...rest });
const whiskers = (rows, value) => ({ type: "data", symmetric: false, width: 0, thickness: 2, color: ink("ink"), array: rows.map((row) => (row.high === null ? 0 : row.high - row[value])), arrayminus: rows.map((row) => (row.low === null ? 0 : row[value] - row.low)) });
const spread = (values, share = 0.08) => {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const rim = (high - low || 1) * share;
  return [low - rim, high + rim];
};
const layoutOf = (width, height, margin, rest) => ({ width, height, margin: { t: 14, r: 16, b: 46, l: 62, pad: 0, ...margin }, showlegend: false, dragmode: false, hovermode: "closest", paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
  font: { family: "system-ui, sans-serif", size: 12, color: ink("ink") }, hoverlabel: { bgcolor: ink("raised"), bordercolor: ink("line"), font: { color: ink("ink"), size: 12 }, align: "left" }, ...rest });
const legend = (entries) => el("ul", { class: "legend" }, entries.map(([name, colour]) => el("li", {}, el("span", { class: "swatch", style: `background: ${colour}` }), name)));

// A box with what `make(width)` returns: {data, layout}, or a text where there is nothing to draw. It follows the theme and its own width.
function plotted(title, make, widest = Infinity) {
  if (!packed) return { box: el("p", { class: "quiet" }, NOT_DRAWN), redraw() {} };
  const inner = el("div", { role: "img", "aria-label": title });
  const box = el("div", { class: "drawing" }, inner);
  let last = 0;
  const redraw = async () => {
    last = box.clientWidth;
    const plotly = await library();
    if (!box.isConnected) return;
    const made = make(Math.min(widest, Math.max(250, box.clientWidth - 20)));
    if (typeof made === "string") {
      plotly.purge(inner);
      inner.replaceChildren(el("p", { class: "quiet" }, made));
    } else {
      if (!inner.classList.contains("js-plotly-plot")) inner.replaceChildren();
      await plotly.react(inner, made.data, made.layout, CONFIG);
    }
  };
  const themed = () => (box.isConnected ? last && redraw() : document.removeEventListener("themechange", themed));
  new IntersectionObserver((seen, observer) => {
    if (!seen.some((each) => each.isIntersecting)) return;
    observer.disconnect();
    document.addEventListener("themechange", themed);
    new ResizeObserver(() => { if (Math.abs(box.clientWidth - last) > 4) redraw(); }).observe(box);
  }, { rootMargin: "600px" }).observe(box);
  return { box, redraw };
}
