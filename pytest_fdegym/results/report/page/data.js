// The numbers of the page, and the details of runs, which are inflated when one is opened.
const report = JSON.parse(document.getElementById("report").textContent);
const objects = ({ columns, rows }) => rows.map((row) => Object.fromEntries(columns.map((column, place) => [column, row[place]])));
const RUN_COLUMNS = report.runs.columns;
report.runs = objects(report.runs);
report.tasks = objects(report.tasks);
const groupKey = (row) => JSON.stringify([row.task, row.level, row.agent]);
const runsOf = new Map(report.tasks.map((task) => [groupKey(task), []]));
report.runs.forEach((run, place) => runsOf.get(groupKey(run)).push(place));
const agents = report.agents.map((agent) => agent.agent);

async function inflate(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}

const inflated = new Map();
async function detailsOf(place) {
  const piece = [...document.querySelectorAll("script.piece")].find((each) => place < Number(each.dataset.first) + Number(each.dataset.count));
  if (!piece) return null;
  if (!inflated.has(piece)) {
    const text = await inflate(piece.textContent);
    inflated.clear();
    inflated.set(piece, JSON.parse(text));
  }
  return inflated.get(piece)[place - Number(piece.dataset.first)];
}
