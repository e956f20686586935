// Light, dark, or as the system says.
const THEME = "fdegym-report-theme";
const themes = document.getElementById("theme");
function applyTheme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  document.dispatchEvent(new Event("themechange"));
}
try {
  const kept = localStorage.getItem(THEME);
  if (kept === "light" || kept === "dark") themes.value = kept;
} catch { /* a browser that keeps nothing for files */ }
applyTheme(themes.value);
themes.addEventListener("change", () => {
  applyTheme(themes.value);
  try { localStorage.setItem(THEME, themes.value); } catch { /* as above */ }
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new Event("themechange")));
