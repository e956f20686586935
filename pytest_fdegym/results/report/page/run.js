// One run in a dialog: score, KPI, facts, incidents, notes, timeline, delivery.
const dialog = document.getElementById("run");
const list = (items) => el("ul", {}, items.map((item) => el("li", {}, item)));
const section = (title, ...content) => [el("h3", {}, title), ...content];

function moment(each) {
  const when = [each.minute === undefined ? null : `${each.minute.toFixed(1)} min`, each.at ? each.at.replace("T", " ") : null].filter(Boolean).join(", ");
  return el("li", { class: each.charge ? "charged" : null, "data-kind": each.kind },
    el("span", { class: "chip" }, LABELS[each.kind] ?? each.kind), each.who ? el("b", {}, each.who, " ") : null, el("span", { class: "quiet" }, when),
    each.charge ? el("span", { class: "chip warn" }, `charge ${amount(each.charge)}`) : null, each.how ? el("span", { class: "chip" }, each.how) : null,
    (each.facts ?? []).map((fact) => el("span", { class: "chip good" }, `fact ${fact}`)), (each.signoffs ?? []).map((given) => el("span", { class: "chip good" }, `sign-off ${given}`)),
    each.text ? (each.kind === "command" ? el("pre", {}, each.text) : el("div", { class: "said" }, each.text)) : null,
    each.reply ? (each.kind === "command" ? el("pre", {}, each.reply) : el("div", { class: "said reply" }, each.reply)) : null);
}

function timeline(details) {
  if (details.timeline === null) return [el("p", { class: "quiet" }, "There is no event log of this run.")];
  const kinds = [...new Set(details.timeline.map((each) => each.kind))];
  const items = el("ol", { class: "timeline" }, details.timeline.map(moment));
  const choose = el("select", {}, el("option", { value: "" }, "everything"), el("option", { value: "charged" }, "what was charged"), kinds.map((kind) => el("option", { value: kind }, LABELS[kind] ?? kind)));
  choose.addEventListener("change", () => {
    for (const item of items.children) item.hidden = Boolean(choose.value) && (choose.value === "charged" ? !item.classList.contains("charged") : item.dataset.kind !== choose.value);
  });
  const clock = details.timeline.filter((each) => each.minute !== undefined);
  return [
    details.left_out ? el("p", { class: "caution" }, `${details.left_out} moments in the middle have no room in this page; the event log has them.`) : null,
    clock.length > 1 ? whenPlot(clock) : null,
    el("label", {}, "Show ", choose), items];
}

function diff(patch) {
  const kind = (line) => (/^(\+\+\+|---|@@|Binary)/.test(line) ? "hunk" : line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : null);
  return el("pre", { class: "diff", tabindex: 0 }, patch.split("\n").map((line) => el("span", { class: kind(line) }, line)));
}

async function openRun(place) {
  const run = report.runs[place];
  const details = await detailsOf(place);
  const close = el("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const body = [el("div", { class: "top" }, el("h2", { id: "run-title" }, `${run.task} at ${run.level}, run ${run.run}` + (run.seed === 1 ? "" : `, seed ${run.seed}`) + `: ${run.agent}`), close),
    el("div", { class: "tiles" },
      tile(run.outcome, `ended by ${run.end_reason ?? "a fault"}`, run.fault ?? ""),
      tile(number(run.score), "score S", run.score === run.floored_score ? "" : `${number(run.floored_score)} in averages`),
      tile(number(run.uplift), "uplift U", run.uplift === run.uplift_adjusted ? "" : `counted as ${number(run.uplift_adjusted)} because of incidents`),
      tile(number(run.contact_cost), "contact cost C", `${counted(run.messages, "message")}, ${counted(run.trials, "trial")}, ${counted(run.days_waited, "day")} waited`),
      tile(run.usd === null ? (run.usd_at_least === null ? "unknown" : `$${run.usd_at_least.toFixed(2)} or more`) : `$${run.usd.toFixed(2)}`, "model cost", `${counted(run.turns ?? "?", "turn")}, ${(run.wall_seconds / 60).toFixed(1)} minutes`))];
  if (run.kpi !== null) body.push(...section(run.kpi_name === null ? "The customer's number" : `The customer's number: ${run.kpi_name}`, kpiPlot(run),
    grid(["", run.kpi_unit ?? "KPI"], [["as found", amount(run.kpi_baseline)], ["delivered", amount(run.kpi)], ["reference", amount(run.kpi_reference)]])));
  if (details) {
    if (details.void_cause) body.push(...section("Void", el("pre", {}, details.void_cause)));
    if (details.incidents.length) body.push(...section("Incidents", list(details.incidents.map((each) => `${each.text} (${each.id}, ${counted(each.count, "time")}: ${each.keys.join(", ")})`))));
    if (details.audit.length) body.push(...section("Audit", list(details.audit.map((each) => `${each.text} (${each.kind}, ${counted(each.count, "time")}: ${each.examples.join("; ")})`))));
    if (details.facts.length) body.push(...section(`Facts: ${run.key_facts_obtained} of ${run.key_facts} key facts`, grid(["fact", "", "people told it", "worth"],
      details.facts.map((fact) => [fact.id, fact.key ? "key" : "", fact.obtained ? el("span", { class: "good" }, "obtained") : el("span", { class: "bad" }, "missed"), fact.worth === null ? (fact.key ? "?" : "") : number(fact.worth, 2)]), 3),
      el("p", { class: "quiet" }, details.facts.some((fact) => fact.key && fact.worth === null) ? "?: the scenario's worth.yaml did not say it. " : "", "Worth: the uplift that the best solution without the fact lacks, as admission measures it.")));
    if (details.signoffs.length) body.push(...section("Sign-offs", list(details.signoffs)));
    if (details.notes.length) body.push(...section("The delivery in production", list(details.notes)));
    if (details.agent_error) body.push(...section("The agent's error", el("pre", { tabindex: 0 }, details.agent_error)));
    body.push(...section("Timeline", ...timeline(details)));
    body.push(...section("The delivery, against the system as found", details.patch === null ? el("p", { class: "quiet" }, "There is no patch of this run.") : details.patch === "" ? el("p", {}, "Nothing was changed.") : diff(details.patch)));
    const figures = Object.entries(details.figures);
    if (figures.length) body.push(el("details", {}, el("summary", {}, "The scenario's own figures"), grid(["", ""], figures, 1)));
  }
  body.push(el("p", { class: "quiet" }, `isolation ${run.isolation}, router ${run.router}, gateway ${run.gateway ?? "none"}, digest ${run.digest.slice(0, 16)}, started ${run.started_at}`));
  dialog.replaceChildren(...body.filter(Boolean));
  dialog.scrollTop = 0;
  if (!dialog.open) dialog.showModal();
  close.focus();
}
