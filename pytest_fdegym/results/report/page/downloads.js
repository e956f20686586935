// All numbers as files, made here: nothing is fetched.
const cell = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const csv = (columns, rows) => [columns, ...rows.map((row) => columns.map((column) => row[column]))].map((row) => row.map(cell).join(",") + "\r\n").join("");
function save(name, kind, text) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type: kind })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
document.querySelector('[data-download="csv"]').addEventListener("click", () => save("runs.csv", "text/csv", csv(RUN_COLUMNS, report.runs)));
document.querySelector('[data-download="json"]').addEventListener("click", () => save("report.json", "application/json", JSON.stringify(report, null, 2) + "\n"));
