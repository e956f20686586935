// The six figures of all runs, each with its numbers.
const BAND_COLOURS = ["#b35806", "#f1a340", "#fee0b6", "#d8daeb", "#998ec3", "#542788"];
const AGENT_COLOURS = ["#3b73c9", "#e08a00", "#2a9d5c", "#c2453d", "#8a63d2", "#1aa3b5", "#d0619f", "#8c6d46", "#7a8a1f", "#7f8790"];
const SCALE = ["#b35806", "#f1a340", "#f7f7f7", "#998ec3", "#542788"];
const few = agents.length <= AGENT_COLOURS.length;
const several = few && agents.length > 1;
const placeOf = new Map(agents.map((agent, place) => [agent, place]));
const places = (rows) => rows.map((row) => placeOf.get(row.agent));
const colourOf = (row, otherwise) => (few ? AGENT_COLOURS[placeOf.get(row.agent)] : otherwise);
const ofAgents = () => (several ? legend(agents.map((agent, place) => [cut(visible(agent)), AGENT_COLOURS[place]])) : null);
const some = (rows) => (rows.length > 3000 ? rows.filter((_, place) => place % Math.ceil(rows.length / 3000) === 0) : rows);
const dots = (rows, x, y) => ({ type: "scatter", mode: "markers", x: rows.map(x), y: rows.map(y), hoverinfo: "skip", marker: { size: 4, opacity: 0.35, color: rows.map((row) => (several ? colourOf(row) : ink("quiet"))) } });

const FIGURES = [
  { name: "score_by_level", title: "Score by level", make(rows, width) {
    const levels = [...new Set(rows.map((row) => row.level))].sort();
    const across = !isNarrow(width);
    const left = room(agents, width);
    const tall = 24 * agents.length + 8;
    const gap = across ? 30 / (width - left) : 26 / (levels.length * (tall + 26));
    const share = (1 + gap) / levels.length;
    const range = spread([0, ...rows.flatMap((row) => [row.low ?? row.score, row.high ?? row.score])]);
    const part = (place) => (across ? [place * share, (place + 1) * share - gap] : [1 - (place + 1) * share + gap, 1 - place * share]).map((end) => Math.min(1, Math.max(0, end)));
    const id = (place) => (place ? String(place + 1) : "");
    const layout = layoutOf(width, 76 + (across ? tall : levels.length * (tall + 26)), { t: 26, l: left }, { shapes: [], annotations: [] });
    const data = levels.map((level, place) => {
      const its = rows.filter((row) => row.level === level);
      const [x, y] = across ? [id(place), ""] : ["", id(place)];
      const ends = part(place);
      const value = { range, nticks: across && levels.length > 2 ? 4 : 5 };
      if (across) layout[`xaxis${x}`] = axis("", { ...value, domain: ends, anchor: "y" });
      else layout[`yaxis${y}`] = { ...downwards(agents, width), domain: ends, anchor: "x" };
      if (place === 0) Object.assign(layout, across ? { yaxis: downwards(agents, width) } : { xaxis: axis("mean score", { ...value, anchor: `y${id(levels.length - 1)}` }) });
      layout.shapes.push(zero("x", { xref: `x${x}`, yref: `y${y} domain` }));
      layout.annotations.push({ text: shown(level), showarrow: false, xref: "paper", yref: "paper", x: across ? (ends[0] + ends[1]) / 2 : 0.5, y: across ? 1 : ends[1], xanchor: "center", yanchor: "bottom" });
      return { type: "scatter", mode: "markers", x: its.map((row) => row.score), y: places(its), xaxis: `x${x}`, yaxis: `y${y}`, marker: { size: 10, color: BLUE }, error_x: whiskers(its, "score"), hoverinfo: "text",
        hovertext: its.map((row) => `${short(row.agent)} at ${shown(row.level)}: ${number(row.score)} (${interval(row.low, row.high)}), ${row.tasks} tasks`) };
    });
    if (across) layout.annotations.push({ text: "mean score", showarrow: false, xref: "paper", yref: "paper", x: 0.5, y: 0, yshift: -24, xanchor: "center", yanchor: "top" });
    return { data, layout };
  } },
  { name: "key_facts_uplift", title: "Key facts against uplift", legend: ofAgents, make(rows, width) {
    const tasks = some(report.tasks.filter((task) => task.key_facts !== null && task.uplift_adjusted !== null));
    const means = agents.map((agent) => rows.filter((row) => row.agent === agent)).filter((its) => its.length).map((its) => ({ type: "scatter", mode: "lines+markers", x: its.map((row) => row.told), y: its.map((row) => row.uplift),
      opacity: few ? 1 : 0.4, line: { width: 2, color: colourOf(its[0], ink("ink")) }, marker: { size: 8 }, hoverinfo: "text", hovertext: its.map((row) => `${short(row.agent)}, ${shown(row.share)} of the key facts: ${number(row.uplift)} (${row.runs} runs)`) }));
    return { data: [dots(tasks, (task) => task.key_facts, (task) => task.uplift_adjusted), ...means],
      layout: layoutOf(width, 330, {}, { shapes: [zero("y")], xaxis: axis("share of the key facts that people told", { range: [-0.04, 1.04], tickformat: ".0%", nticks: isNarrow(width) ? 4 : 6 }), yaxis: axis("adjusted uplift (dots: of a task)", { nticks: 6, range: spread([0, ...rows.map((row) => row.uplift), ...tasks.map((task) => task.uplift_adjusted)]) }) }) };
  } },
  { name: "cost_score", title: "Cost against score", legend: ofAgents, choices: [["usd", "model cost of a run (USD)"], ["contact_cost", "contact cost C"]], make(rows, width, by) {
    const points = rows.filter((row) => row[by] !== null);
    if (!points.length) return "The model cost is not known of any run.";
    const tasks = some(report.tasks.filter((task) => task[by] !== null && task.score !== null));
    const most = Math.max(...points.map((row) => row[by]), ...tasks.map((row) => row[by])) || 1;
    return { data: [dots(tasks, (task) => task[by], (task) => task.score),
      { type: "scatter", mode: "markers", x: points.map((row) => row[by]), y: points.map((row) => row.score), error_y: whiskers(points, "score"),
        marker: { size: 12, color: points.map((row) => colourOf(row, BLUE)), line: { width: 1, color: ink("ink") } }, hoverinfo: "text", hovertext: points.map((row) => `${short(row.agent)}: score ${number(row.score)}, USD ${amount(row.usd)}, C ${number(row.contact_cost)}`) }],
    layout: layoutOf(width, 330, {}, { shapes: [zero("y")], xaxis: axis(by === "usd" ? "mean model cost of a run (USD)" : "mean contact cost C", { range: [-0.05 * most, 1.06 * most], nticks: 6 }),
      yaxis: axis("mean score (small dots: tasks)", { nticks: 6, range: spread([0, ...points.flatMap((row) => [row.score, row.low ?? row.score, row.high ?? row.score]), ...tasks.map((task) => task.score)]) }) }) };
  } },
  { name: "score_bands", title: "Distribution by band of the score", legend: (rows) => legend([...new Set(rows.map((row) => row.band))].map((band, place) => [band, BAND_COLOURS[place]])), make(rows, width) {
    const bands = [...new Set(rows.map((row) => row.band))];
    return { data: bands.map((band, place) => {
      const its = rows.filter((row) => row.band === band);
      return { type: "bar", orientation: "h", x: its.map((row) => row.share), y: places(its), marker: { color: BAND_COLOURS[place] }, hoverinfo: "text", textposition: "none", hovertext: its.map((row) => `${short(row.agent)}, ${shown(row.band)}: ${percent(row.share)}`) };
    }), layout: layoutOf(width, 66 + 26 * agents.length, { l: room(agents, width) }, { barmode: "stack", bargap: 0.2, xaxis: axis("share of runs", { range: [0, 1.01], tickformat: ".0%", nticks: isNarrow(width) ? 4 : 6 }), yaxis: downwards(agents, width) }) };
  } },
  { name: "scenario_agent", title: "Score by scenario and agent", legend: () => legend([["-1 or less", SCALE[0]], ["0", SCALE[2]], ["1 or more", SCALE.at(-1)]]), make(rows, width) {
    const scenarios = [...new Set(rows.map((row) => row.scenario))].sort();
    const [left, above] = [room(scenarios, width), agents.length > 3 ? room(agents, width) * 0.87 + 14 : 34];
    const cells = new Map(rows.map((row) => [JSON.stringify([row.scenario, row.agent]), row]));
    const each = (value, otherwise) => scenarios.map((scenario) => agents.map((agent) => {
      const cell = cells.get(JSON.stringify([scenario, agent]));
      return cell === undefined ? otherwise : value(cell);
    }));
    return { data: [{ type: "heatmap", z: each((cell) => cell.score, null), zmin: -1, zmax: 1, colorscale: SCALE.map((colour, place) => [place / (SCALE.length - 1), colour]), showscale: false, xgap: 2, ygap: 2, hoverongaps: false,
      text: each((cell) => number(cell.score, 2), ""), texttemplate: "%{text}", hoverinfo: "text", hovertext: each((cell) => `${short(cell.agent)}, ${short(cell.scenario)}: ${number(cell.score)} over ${cell.tasks} tasks`, "") }],
    layout: layoutOf(Math.max(width, left + 46 * agents.length + 16), above + 14 + 24 * scenarios.length, { l: left, t: above, b: 10 },
      { xaxis: axis("", { ...names(agents, width), side: "top", tickangle: agents.length > 3 ? -60 : 0, range: [-0.5, agents.length - 0.5] }), yaxis: downwards(scenarios, width) }) };
  } },
  { name: "below_do_nothing", title: "Share of runs below do-nothing", make(rows, width) {
    return { data: [{ type: "bar", orientation: "h", x: rows.map((row) => row.share), y: places(rows), marker: { color: "#c9772f" }, error_x: whiskers(rows, "share"), hoverinfo: "text", textposition: "none",
      hovertext: rows.map((row) => `${short(row.agent)}: ${percent(row.share)} (${interval(row.low, row.high, percent)}), ${row.tasks} tasks`) }],
    layout: layoutOf(width, 66 + 26 * agents.length, { l: room(agents, width) }, { bargap: 0.3, xaxis: axis("share of runs with a score below 0", { range: [0, 1.01], tickformat: ".0%", nticks: isNarrow(width) ? 4 : 6 }), yaxis: downwards(agents, width) }) };
  } },
];

function figure({ name, title, choices, legend: key, make }) {
  const rows = report.figures[name];
  const columns = rows.length ? Object.keys(rows[0]) : [];
  let by = choices ? (rows.some((row) => row[choices[0][0]] !== null) ? choices[0][0] : choices[1][0]) : null;
  const { box, redraw } = rows.length ? plotted(`${title}: the numbers are in the table below it`, (width) => make(rows, width, by)) : { box: el("p", { class: "quiet" }, "There is nothing to draw.") };
  const choose = choices && packed && rows.length ? el("fieldset", { class: "choice", "aria-label": "Against" }, choices.map(([value, text]) => el("label", {}, el("input", { type: "radio", name: `by-${name}`, value, checked: value === by, onchange: () => { by = value; redraw(); } }), ` ${text}`))) : null;
  const numbers = el("details", {}, el("summary", {}, "The numbers"));
  numbers.addEventListener("toggle", () => {
    if (numbers.children.length > 1) return;
    numbers.append(grid(columns, rows.map((row) => columns.map((column) => (typeof row[column] === "number" ? amount(row[column]) : row[column] ?? UNKNOWN))), 2),
      el("button", { type: "button", onclick: () => save(`${name}.csv`, "text/csv", csv(columns, rows)) }, "As CSV"));
  });
  return el("figure", { id: `figure-${name}` }, el("figcaption", {}, title), choose, box, packed && rows.length && key ? key(rows) : null, numbers);
}
document.getElementById("plots").append(...FIGURES.map(figure));
