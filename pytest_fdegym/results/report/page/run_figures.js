// The figures of one run: when what happened, and the customer's number.
const LABELS = { command: "command", message: "message", trial: "trial", wait: "wait", inbox: "inbox", gateway: "gateway", usage: "model call", limit: "limit", retry: "retry",
  agent_error: "agent's error", handover: "handover", replay: "in production", grade: "grade", void: "void", start: "start" };

function whenPlot(moments) {
  const kindOf = (each) => LABELS[each.kind] ?? each.kind;
  const kinds = [...new Set(moments.map(kindOf))];
  return plotted("Timeline of the run: the list below it says the same", (width) => ({
    data: [{ type: "scatter", mode: "markers", x: moments.map((each) => each.minute), y: moments.map((each) => kinds.indexOf(kindOf(each))), hoverinfo: "text",
      hovertext: moments.map((each) => lines(shortened([each.who, each.text, each.charge ? `charge ${each.charge}` : ""].filter(Boolean).join(": "), 200))),
      marker: { opacity: 0.7, size: moments.map((each) => (each.charge ? 12 : 7)), color: moments.map((each) => (each.charge ? "#c77700" : ink("ink"))) } }],
    layout: layoutOf(width, 66 + 20 * kinds.length, { l: room(kinds, width) }, { xaxis: axis("minutes since the start", { range: spread(moments.map((each) => each.minute), 0.03), nticks: 8 }), yaxis: { ...downwards(kinds, width), showgrid: true } }) }), 1040).box;
}

function kpiPlot(run) {
  const rows = [["as found", run.kpi_baseline], ["delivered", run.kpi], ["reference", run.kpi_reference]];
  const names = rows.map(([name]) => name);
  return plotted("KPI as found, delivered and of the reference: the numbers are in the table below it", (width) => ({
    data: [{ type: "bar", orientation: "h", x: rows.map(([, value]) => value), y: names.map((_, place) => place), hoverinfo: "text", textposition: "none", hovertext: rows.map(([name, value]) => `${name}: ${amount(value)}`),
      marker: { color: names.map((name) => (name === "delivered" ? BLUE : GREY)) } }],
    layout: layoutOf(width, 140, { l: 76 }, { bargap: 0.25, shapes: [zero("x")], xaxis: axis(run.kpi_name === null ? "KPI" : shown(`${run.kpi_name} (${run.kpi_unit})`), { nticks: 6 }), yaxis: downwards(names, width) }) }), 720).box;
}
