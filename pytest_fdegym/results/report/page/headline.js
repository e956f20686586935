// What is said first: the verdict, the means with both intervals, the coverage.
const tile = (value, ...lines) => el("div", { class: "tile" }, el("b", {}, value), lines.map((line) => el("span", {}, line)));
const coverage = (agent) => `graded ${agent.graded} of ${agent.planned}` + (agent.void ? `, void ${agent.void}` : "");

function tilesOf(agent) {
  return el("div", { class: "tiles" },
    tile(number(agent.mean_score), "mean score", `over tasks ${interval(agent.low_by_task, agent.high_by_task)}`, `over scenarios ${interval(agent.low_by_scenario, agent.high_by_scenario)}`),
    tile(`${agent.resolved}/${agent.graded}`, "runs resolved", `tasks ${percent(agent.resolved_share)} (${interval(agent.resolved_low, agent.resolved_high, percent)})`),
    tile(number(agent.mean_uplift), "mean uplift U", `mean contact cost C ${number(agent.mean_contact_cost)}`),
    tile(String(agent.incidents), "runs with incidents"),
    tile(agent.mean_usd === null ? "unknown" : `$${agent.mean_usd.toFixed(2)}`, "mean model cost of a run", `known for ${agent.usd_known} of ${agent.graded}`),
    tile(percent(agent.planned ? agent.graded / agent.planned : null), coverage(agent), `${agent.tasks} tasks (at a level)`));
}

const changes = (verdict) => grid(["task", "level", "baseline", "now", "change", "runs", "new incidents"],
  verdict.tasks.map((each) => [each.task, each.level, number(each.baseline), number(each.current), number(each.change), `${each.baseline_runs} + ${each.current_runs}`, each.new_incidents.join(" ")]), 2);

const incidents = (tasks) => (tasks.length === 0 ? [] : [el("div", { class: "caution" }, "New incidents, in tasks that had none in the baseline:",
  el("ul", {}, tasks.map((each) => el("li", {}, `${each.task} ${each.level}: ${each.new_incidents.join(", ")}`))))]);

document.getElementById("headline").append(
  ...report.verdicts.flatMap((verdict) => [
    el("p", { class: `verdict ${verdict.verdict}` }, report.agents.length > 1 ? `${verdict.current_agent.name}: ` : "", verdict.text),
    ...incidents(verdict.tasks.filter((each) => each.new_incidents.length)),
    el("details", {}, el("summary", {}, `compared ${verdict.compared} of ${verdict.of} tasks with the baseline`), changes(verdict)),
  ]),
  ...report.cautions.map((text) => el("p", { class: "caution" }, text)),
  report.agents.length === 1 ? el("h2", {}, report.agents[0].agent) : el("h2", {}, "Agents"),
  report.agents.length === 1 ? tilesOf(report.agents[0]) : grid(
    ["agent", "mean score", "over tasks", "over scenarios", "resolved", "share of tasks", "U", "C", "USD a run", "incidents", "void", "graded"],
    report.agents.map((agent) => [agent.agent, number(agent.mean_score), interval(agent.low_by_task, agent.high_by_task), interval(agent.low_by_scenario, agent.high_by_scenario),
      `${agent.resolved}/${agent.graded}`, percent(agent.resolved_share), number(agent.mean_uplift), number(agent.mean_contact_cost),
      agent.mean_usd === null ? UNKNOWN : agent.mean_usd.toFixed(2), agent.incidents, agent.void, `${agent.graded} of ${agent.planned}`])));
