// Answers a pointer, a finger or the arrow keys over a figure with its numbers. Nothing is loaded and nothing is sent.
"use strict";

const NEAR = 40; // how far a point may be from the pointer, in units of the drawing
const SVG = "http://www.w3.org/2000/svg";

function made(name, attributes, parent) {
  const one = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  if (parent) parent.appendChild(one);
  return one;
}

// As many decimals as the axis tells apart, without idle zeros.
function number(value, decimals) {
  if (value === null || value === undefined || Number.isNaN(value)) return "not defined";
  return value.toLocaleString("en-US", { maximumFractionDigits: Math.min(decimals, 20) });
}

function count(people) {
  return number(people, Math.abs(people) < 100 ? 1 : 0);
}

class View {
  constructor(given) {
    [this.left, this.top, this.width, this.height] = given.box;
    this.log = given.log;
    this.x = given.log ? given.x.map(Math.log) : given.x;
    this.y = given.y;
    this.decimals = given.decimals;
  }
  xText(x) {
    return this.log ? String(Number(x.toPrecision(4))) : number(x, this.decimals[0]);
  }
  yText(y) {
    return number(y, this.decimals[1]);
  }
  holds(at) {
    return at.x >= this.left && at.x <= this.left + this.width && at.y >= this.top && at.y <= this.top + this.height;
  }
  across(x) {
    return this.left + (this.width * ((this.log ? Math.log(x) : x) - this.x[0])) / (this.x[1] - this.x[0]);
  }
  down(y) {
    return this.top + this.height * (1 - (y - this.y[0]) / (this.y[1] - this.y[0]));
  }
  xAt(across) {
    const x = this.x[0] + ((across - this.left) / this.width) * (this.x[1] - this.x[0]);
    return this.log ? Math.exp(x) : x;
  }
}

class Plot {
  constructor(figure) {
    this.figure = figure;
    this.svg = figure.querySelector("svg");
    this.data = JSON.parse(figure.querySelector("script").textContent);
    this.views = this.data.views.map((view) => new View(view));
    this.over = made("g", { "pointer-events": "none" }, this.svg);
    this.told = figure.querySelector(".told");
    this.place = -1; // of the arrow keys
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerdown", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => this.hide());
    this.svg.addEventListener("blur", () => this.hide());
    this.svg.addEventListener("keydown", (event) => this.step(event));
    figure.querySelector("button").addEventListener("click", () => this.save());
  }

  point(event) {
    const here = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    const view = [...this.views].reverse().find((one) => one.holds(here));
    if (!view) return this.hide();
    if (this.data.mode === "across") this.showAcross(view, view.xAt(here.x));
    else this.showNearest(view, here);
  }

  step(event) {
    const forward = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (event.key === "Escape") return this.hide();
    if (!forward) return;
    event.preventDefault();
    const series = this.data.series.filter((one) => one.x.length);
    if (!series.length) return;
    if (this.data.mode === "across") {
      const xs = series[0].x;
      this.place = Math.min(Math.max(this.place + forward, 0), xs.length - 1);
      this.showAcross(this.views[0], xs[this.place]);
    } else {
      const points = series.flatMap((one) => one.x.map((_, i) => [one, i]));
      this.place = Math.min(Math.max(this.place + forward, 0), points.length - 1);
      this.showPoint(this.views[0], ...points[this.place]);
    }
  }

  // Every line at its own point that is nearest to x: what is told was computed, and nothing lies between.
  showAcross(view, x) {
    const found = [];
    for (const one of this.data.series) {
      if (one.kind !== "line" || !one.x.length) continue;
      const right = one.x.findIndex((at) => at >= x);
      let i = right < 0 ? one.x.length - 1 : right;
      if (i > 0 && x - one.x[i - 1] < one.x[i] - x) i -= 1;
      if (Math.abs(view.across(one.x[i]) - view.across(x)) <= NEAR) found.push({ one, i });
    }
    if (!found.length) return this.hide();
    this.clear();
    const here = found[0].one.x[found[0].i];
    const shared = found.every(({ one, i }) => one.x[i] === here);
    const at = shared ? here : x;
    made("path", { d: `M${view.across(at)},${view.top}v${view.height}`, stroke: "#808080", "stroke-dasharray": "2 3" }, this.over);
    const lines = [[null, `${this.data.x} ${shared ? "" : "about "}${view.xText(at)}`]];
    for (const { one, i } of found) {
      made("circle", { cx: view.across(one.x[i]), cy: view.down(one.y[i]), r: 3.5, fill: one.colour, stroke: "#fff" }, this.over);
      let words = `${one.name}: ${view.yText(one.y[i])}`;
      if (one.low) words += ` [${view.yText(one.low[i])}, ${view.yText(one.high[i])}]`;
      if (one.people) words += ` (${count(one.people[i])})`;
      if (!shared) words += ` at ${view.xText(one.x[i])}`;
      lines.push([one.colour, words]);
    }
    if (found.some(({ one }) => one.people)) lines.push([undefined, `In brackets: ${this.data.people}.`]);
    else if (this.data.y) lines.push([undefined, this.data.y]);
    this.tell(lines, view.across(at), view.top + 12);
  }

  showNearest(view, here) {
    let best = null;
    let least = NEAR ** 2;
    for (const one of this.data.series) {
      one.x.forEach((x, i) => {
        if (x === null || one.y[i] === null) return;
        const distance = (view.across(x) - here.x) ** 2 + (view.down(one.y[i]) - here.y) ** 2;
        if (distance < least) [least, best] = [distance, [one, i]];
      });
    }
    if (best) this.showPoint(view, ...best);
    else this.hide();
  }

  showPoint(view, one, i) {
    this.clear();
    const [x, y] = [view.across(one.x[i]), view.down(one.y[i])];
    made("circle", { cx: x, cy: y, r: 5, fill: "none", stroke: one.colour, "stroke-width": 2.5 }, this.over);
    const lines = [[null, one.name]];
    const rows = this.data.names; // whose y are names, and whose intervals lie along x
    const ends = (text) => (one.low ? ` [${text(one.low[i])}, ${text(one.high[i])}]` : "");
    lines.push([undefined, `${this.data.x}: ${view.xText(one.x[i])}${rows ? ends((x) => view.xText(x)) : ""}`]);
    if (!rows) lines.push([undefined, `${this.data.y}: ${view.yText(one.y[i])}${ends((y) => view.yText(y))}`]);
    if (one.score && one.score[i] !== null) lines.push([undefined, `threshold at a score of ${number(one.score[i], 6)}`]);
    if (one.people) lines.push([undefined, `${count(one.people[i])} ${this.data.people}`]);
    this.tell(lines, x, y);
  }

  // The first line is the heading; a line with a colour has a dot of it, one without is small.
  tell(lines, x, y) {
    this.told.replaceChildren();
    lines.forEach(([colour, words], i) => {
      const line = document.createElement(i === 0 ? "b" : colour ? "div" : "small");
      if (colour) made("circle", { cx: 5, cy: 5, r: 4.5, fill: colour }, made("svg", { viewBox: "0 0 10 10" }, line));
      line.append(words);
      this.told.append(line);
    });
    this.told.hidden = false;
    const drawn = this.svg.getBoundingClientRect();
    const frame = this.figure.getBoundingClientRect();
    const scale = drawn.width / this.svg.viewBox.baseVal.width;
    const left = drawn.left - frame.left + x * scale;
    const size = this.told.getBoundingClientRect();
    const beside = left + 14 + size.width > frame.width ? left - 14 - size.width : left + 14;
    this.told.style.left = `${Math.max(0, Math.min(beside, frame.width - size.width))}px`;
    // Much to tell goes below the drawing, and hides none of it.
    const below = size.height > drawn.height / 2 || size.width > frame.width / 2;
    this.told.style.top = `${drawn.top - frame.top + (below ? drawn.height : y * scale)}px`;
  }

  clear() {
    this.over.replaceChildren();
  }

  hide() {
    this.clear();
    this.told.hidden = true;
  }

  // The figure's numbers as a file, made here.
  save() {
    const names = ["x", "y", "low", "high", "people", "score"];
    const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`;
    const rows = this.data.series.flatMap((one) =>
      one.x.map((_, i) => [quoted(one.name), ...names.map((name) => (one[name] ? one[name][i] ?? "" : ""))].join(",")),
    );
    const text = [["series", ...names].join(","), ...rows].join("\n") + "\n";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = `${this.figure.id}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  }
}

// On paper nothing is folded.
const folded = () => document.querySelectorAll("details");
addEventListener("beforeprint", () => folded().forEach((one) => one.setAttribute("open", "")));
addEventListener("afterprint", () => folded().forEach((one) => one.removeAttribute("open")));

for (const figure of document.querySelectorAll("figure")) new Plot(figure);
