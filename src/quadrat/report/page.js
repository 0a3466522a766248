"use strict";
(function () {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);

  // --- copying

  for (const button of document.querySelectorAll("button[data-copy]")) {
    const said = button.parentElement.querySelector("[role=status]");
    button.addEventListener("click", async () => {
      const text = document.getElementById(button.dataset.copy).textContent;
      let done = true;
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        const area = document.createElement("textarea");
        area.value = text;
        document.body.append(area);
        area.select();
        done = document.execCommand("copy");
        area.remove();
        button.focus();
      }
      said.textContent = done ? "Copied." : "Not copied: select the text below.";
    });
  }

  // --- the table of trials

  const PAGE = 50;
  const table = read("trials-data");
  const body = document.querySelector("#trials tbody");
  const heads = [...document.querySelectorAll("#trials thead th")];
  const filter = document.getElementById("trials-filter");
  const state = document.getElementById("trials-state");
  const place = document.getElementById("trials-place");
  const before = document.getElementById("trials-before");
  const after = document.getElementById("trials-after");
  const columns = table.columns;
  const all = columns[0].cells.map((_, row) => row);
  let rows = all, sorted = 0, down = true, first = 0;

  const compare = (column, sign) => (a, b) => {
    const x = column.cells[a], y = column.cells[b];
    if (x === null || y === null) return (x === null) - (y === null) || a - b;  // what is not there comes last
    const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
    return sign * order || a - b;
  };

  function choose() {
    const words = filter.value.trim().toLowerCase();
    const wanted = state.value;
    rows = all.filter((row) =>
      (!wanted || columns[1].cells[row] === wanted) &&
      (!words || columns.some((column) => String(column.cells[row] ?? "").toLowerCase().includes(words))));
    rows.sort(compare(columns[sorted], down ? -1 : 1));
    first = 0;
    show();
  }

  function show() {
    const page = rows.slice(first, first + PAGE);
    body.replaceChildren(...page.map((row) => {
      const line = document.createElement("tr");
      if (columns[0].cells[row] === table.best) line.className = "seen";
      columns.forEach((column, i) => {
        const cell = document.createElement(i ? "td" : "th");
        if (!i) cell.scope = "row";
        if (column.number) cell.className = "number";
        const value = column.cells[row];
        cell.textContent = value === null ? "" : String(value);
        if (typeof value === "string" && value.length > 40) cell.title = value;
        line.append(cell);
      });
      return line;
    }));
    const shown = (count) => count.toLocaleString("en");
    place.textContent = rows.length
      ? `${shown(first + 1)} to ${shown(first + page.length)} of ${shown(rows.length)}`
      : "No trial matches.";
    before.disabled = first === 0;
    after.disabled = first + PAGE >= rows.length;
    heads.forEach((head, i) => {
      if (i === sorted) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  }

  heads.forEach((head, i) => head.querySelector("button").addEventListener("click", () => {
    down = i === sorted ? !down : false;
    sorted = i;
    choose();
  }));
  let waiting = 0;
  filter.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(choose, 150); });
  state.addEventListener("change", choose);
  before.addEventListener("click", () => { first = Math.max(0, first - PAGE); show(); });
  after.addEventListener("click", () => { first += PAGE; show(); });
  choose();

  // --- figures: one after another, so that the first screen does not wait for them

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const plots = [...document.querySelectorAll(".plot")];

  function paint(figure) {  // in the colours of the page, as it is now
    const { layout } = figure;
    layout.font = { ...layout.font, color: colour("--soft") };
    layout.hoverlabel = {
      ...layout.hoverlabel, bgcolor: colour("--card"), bordercolor: colour("--line"),
      font: { ...layout.hoverlabel?.font, color: colour("--ink") },
    };
    for (const trace of figure.data) {
      if (trace.type !== "parcoords") continue;
      layout.paper_bgcolor = colour("--card");  // these lines are drawn on an opaque canvas of this colour
      trace.labelfont = { ...trace.labelfont, color: colour("--ink") };
      trace.tickfont = { ...trace.tickfont, color: colour("--soft") };
    }
  }

  async function draw(plot) {
    const figure = read(plot.dataset.figure);
    paint(figure);
    if (innerWidth < 600) {  // a legend takes lines on a phone, and fingers scroll rather than zoom
      figure.layout.margin = { ...figure.layout.margin, l: 48, r: 28 };
      figure.layout.font.size = 11;
      figure.layout.dragmode = false;
    }
    await Plotly.newPlot(plot, figure.data, figure.layout, {
      displaylogo: false, responsive: true, displayModeBar: innerWidth < 600 ? false : "hover", plotlyServerURL: "",
      modeBarButtonsToRemove: ["sendChartToCloud", "sendDataToCloud", "select2d", "lasso2d", "autoScale2d"],
    });
    plot.dataset.drawn = String(Math.round(performance.now()));
  }

  async function drawAll() {
    for (const plot of plots) {
      await draw(plot);
      await new Promise((next) => setTimeout(next, 10));  // readers scroll and type meanwhile
    }
    document.documentElement.dataset.drawn = "all";
  }

  dark.addEventListener("change", async () => {
    for (const plot of plots) {
      if (!plot.dataset.drawn) continue;
      paint(plot);
      await Plotly.redraw(plot);
    }
  });
  drawAll();
})();
