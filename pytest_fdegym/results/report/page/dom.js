// Building elements. Everything from runs is hostile text: it becomes text nodes, never markup.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const visible = (text) => String(text).replace(CONTROLS, (found) => "\\u" + found.charCodeAt(0).toString(16).padStart(4, "0"));

function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : visible(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined).map((child) => (child instanceof Node ? child : visible(child))));
  return element;
}

const UNKNOWN = "–";
const counted = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const number = (value, digits = 3) => {
  if (value === null || value === undefined) return UNKNOWN;
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text;
};
const amount = (value) => (value === null || value === undefined ? UNKNOWN : Number(value.toPrecision(5)).toLocaleString("en", { maximumFractionDigits: 6 }));
const percent = (value) => (value === null || value === undefined ? UNKNOWN : `${(100 * value).toFixed(0)} %`);
const interval = (low, high, shown = number) => (low === null || high === null ? "none from one" : `${shown(low)} to ${shown(high)}`);
const shortened = (text, longest) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text);

function grid(headers, rows, texts = 1) {
  const kind = (column) => (column < texts ? "text" : null);
  return el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Table" }, el("table", {},
    el("thead", {}, el("tr", {}, headers.map((header, column) => el("th", { scope: "col", class: kind(column) }, header)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, column) => el("td", { class: kind(column) }, cell)))))));
}
