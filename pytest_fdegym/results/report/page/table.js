// The table by task, its filters and its order.
const AT_ONCE = 100;
const OUTCOMES = ["resolved", "not resolved", "below do-nothing", "incident", "void"];
const FILTERS = ["agent", "scenario", "sector", "level", "outcome"];
const COLUMNS = [
  ["task", "task", true], ["level", "level", true], ...(agents.length > 1 ? [["agent", "agent", true]] : []), ["score", "S"], ["uplift", "U"], ["contact_cost", "C"],
  ["resolved", "resolved"], ["runs", "runs"], ["key_facts", "key facts"], ["usd", "USD"], ["incidents", "incidents", true],
];
const table = document.getElementById("table");
const form = document.getElementById("filters");
const state = { sort: null, down: false, rows: AT_ONCE, open: new Set() };

const values = (name) => (name === "outcome" ? OUTCOMES : [...new Set(report.runs.map((run) => run[name]))].sort());
form.append(
  ...FILTERS.map((name) => el("label", {}, name, el("select", { name }, el("option", { value: "" }, "all"), values(name).map((value, place) => el("option", { value: `=${place}` }, shortened(value, 60)))))),
  el("label", {}, "text", el("input", { name: "text", type: "search", placeholder: "task, agent, incident, ending", size: 24 })),
  el("button", { type: "reset" }, "Clear"));
const choices = Object.fromEntries(FILTERS.map((name) => [name, values(name)]));

function matching() {
  const wanted = FILTERS.map((name) => [name, form.elements[name].value]).filter(([, value]) => value).map(([name, value]) => [name, choices[name][Number(value.slice(1))]]);
  const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  return (run) => wanted.every(([name, value]) => run[name] === value) && words.every((word) => run.searched.includes(word));
}
for (const run of report.runs) {
  run.searched = [run.task, run.level, run.agent, run.sector, run.outcome, run.incidents, run.audit, run.end_reason, run.fault].filter(Boolean).join(" ").toLowerCase();
  Object.defineProperty(run, "searched", { enumerable: false });
}

function compared(first, second) {
  const [a, b] = [first, second].map((task) => (state.sort === "resolved" ? task.resolved / Math.max(task.runs, 1) : state.sort === "incidents" ? task.incidents.join(" ") : task[state.sort]));
  if (a === null || b === null) return (a === null) - (b === null);
  const order = typeof a === "number" ? a - b : a < b ? -1 : a > b ? 1 : 0;
  return state.down ? -order : order;
}

function head() {
  const sorted = (key) => (state.sort !== key ? null : state.down ? "descending" : "ascending");
  const sort = (key) => () => {
    state.down = state.sort === key && !state.down;
    state.sort = key;
    draw();
    table.querySelector(`[data-sort="${key}"]`).focus();
  };
  return el("thead", {}, el("tr", {}, COLUMNS.map(([key, label, text]) => el("th", { scope: "col", class: text ? "text" : null, "aria-sort": sorted(key) },
    el("button", { type: "button", "data-sort": key, onclick: sort(key) }, label, state.sort === key ? (state.down ? " ↓" : " ↑") : "")))));
}

const OUTCOME_CLASS = { resolved: "good", incident: "bad", "below do-nothing": "bad", void: "warn" };
function runButton(place) {
  const run = report.runs[place];
  return el("li", {}, el("button", { type: "button", "data-run": place, onclick: () => openRun(place) }, `run ${run.run}` + (run.seed === 1 ? "" : `, seed ${run.seed}`) + `: ${number(run.score)} `,
    el("span", { class: OUTCOME_CLASS[run.outcome] }, run.outcome)));
}

function rowsOf(task, places) {
  const key = groupKey(task);
  const open = state.open.has(key);
  const act = () => {
    if (places.length === 1) return openRun(places[0]);
    if (open) state.open.delete(key);
    else state.open.add(key);
    draw();
    [...table.querySelectorAll("button.open")].find((button) => button.dataset.key === key)?.focus();
  };
  const opener = el("button", { type: "button", class: "open", "aria-expanded": places.length === 1 ? null : String(open), "aria-haspopup": places.length === 1 ? "dialog" : null, onclick: act },
    places.length === 1 ? "" : open ? "▾ " : "▸ ", task.task);
  opener.dataset.key = key;
  const rows = [el("tr", {}, el("td", { class: "text" }, opener), el("td", { class: "text" }, task.level), agents.length > 1 ? el("td", { class: "text long" }, task.agent) : null,
    el("td", {}, number(task.score)), el("td", {}, number(task.uplift)), el("td", {}, number(task.contact_cost)),
    el("td", { class: task.resolved && task.resolved === task.runs - task.void ? "good" : null }, `${task.resolved}/${task.runs - task.void}`),
    el("td", {}, places.length === task.runs ? task.runs : `${places.length} of ${task.runs}`), el("td", {}, percent(task.key_facts)), el("td", {}, task.usd === null ? UNKNOWN : task.usd.toFixed(2)),
    el("td", { class: "text long bad" }, task.incidents.join(", "), task.void ? el("span", { class: "warn" }, `${task.incidents.length ? "; " : ""}void ${task.void}`) : null))];
  if (open && places.length > 1) rows.push(el("tr", { class: "runs" }, el("td", { colspan: COLUMNS.length }, el("ul", {}, places.map(runButton)))));
  return rows;
}

function draw() {
  const wanted = matching();
  let runs = 0;
  const tasks = report.tasks.map((task) => [task, runsOf.get(groupKey(task)).filter((place) => wanted(report.runs[place]))]).filter(([, places]) => places.length);
  for (const [, places] of tasks) runs += places.length;
  if (state.sort) tasks.sort(([a], [b]) => compared(a, b));
  const shown = tasks.slice(0, state.rows);
  table.replaceChildren(head(), el("tbody", {}, shown.flatMap(([task, places]) => rowsOf(task, places))));
  document.getElementById("shown").textContent = `${runs} of ${report.runs.length} runs in ${tasks.length} rows` + (shown.length < tasks.length ? `, of which ${shown.length} are shown` : "") + ". Figures of a row are of all its runs.";
  document.getElementById("more").hidden = shown.length === tasks.length;
}
let waiting = 0;
form.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => { state.rows = AT_ONCE; draw(); }, 120);
});
form.addEventListener("reset", () => setTimeout(() => { state.rows = AT_ONCE; draw(); }));
form.addEventListener("submit", (event) => event.preventDefault());
document.getElementById("more").addEventListener("click", () => { state.rows += 400; draw(); });
draw();
