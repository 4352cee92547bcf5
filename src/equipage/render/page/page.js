"use strict";
// The script of the report. Every text from a checked file is written with `append`, as text: no
// part of it ever becomes markup. Sections are drawn when they are looked at, lists as far as they
// are scrolled.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const file = (number) => (number < 0 ? "" : data.files[number]);

  // ---------------------------------------------------------------------------------- elements

  const SVG = "http://www.w3.org/2000/svg";
  const fill = (element, settings, children) => {
    for (const [name, value] of Object.entries(settings || {})) {
      if (name === "on") for (const [event, run] of Object.entries(value)) element.addEventListener(event, run);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children.flat(3).filter((each) => each !== null && each !== undefined && each !== false && each !== ""));
    return element;
  };
  const h = (tag, settings, ...children) => fill(document.createElement(tag), settings, children);
  const svg = (tag, settings, ...children) => fill(document.createElementNS(SVG, tag), settings, children);
  const bdi = (text) => h("bdi", null, text);
  const say = (text) => { document.getElementById("status").textContent = text; };
  const many = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
  const button = (label, run, settings) => h("button", { type: "button", ...settings, on: { click: run } }, label);

  // A list that is drawn as far as it is looked at.
  const lazily = (items, draw, size = 40) => {
    const box = h("div", null);
    let drawn = 0;
    const more = button("Show more", () => next(), { class: "more" });
    const next = (count = size) => {
      const piece = document.createDocumentFragment();
      for (const item of items.slice(drawn, drawn + count)) piece.append(draw(item));
      drawn = Math.min(items.length, drawn + count);
      more.before(piece);
      more.hidden = drawn >= items.length;
      more.textContent = `Show more (${(items.length - drawn).toLocaleString("en")} left)`;
    };
    box.append(more);
    next();
    if ("IntersectionObserver" in window) {
      new IntersectionObserver((seen) => { if (seen.some((each) => each.isIntersecting)) next(); }, { rootMargin: "600px" }).observe(more);
    }
    box.drawAll = (most) => next(Math.max(0, most - drawn));
    return box;
  };

  // ------------------------------------------------------------------------------------- panel

  const panel = document.getElementById("panel");
  const openPanel = (title, ...body) => {
    const head = document.getElementById("panel-title"), inner = document.getElementById("panel-body");
    head.replaceChildren(title);
    inner.replaceChildren(...body.flat(2).filter(Boolean));
    if (!panel.open) panel.showModal();
    document.getElementById("panel-close").focus();
  };
  document.getElementById("panel-close").addEventListener("click", () => panel.close());
  panel.addEventListener("click", (event) => { if (event.target === panel) panel.close(); });

  // The place of a value: opens the file it is in.
  const place = (number, line, column) => {
    if (number < 0) return "";
    const text = file(number) + (line ? `:${line}` : "") + (column ? `:${column}` : "");
    return valuesOf.has(number) || sheetOf.has(number)
      ? button(bdi(text), () => { panel.close(); showFile(number); }, { class: "link mono" })
      : h("span", { class: "mono" }, bdi(text));
  };

  // What is known of each file.
  const valuesOf = new Map(data.values.map((each) => [each[0], each]));
  const sheetOf = new Map(data.sheets.map((each) => [each.file, each]));
  const findingsOf = new Map();
  for (const each of data.findings) findingsOf.set(each.file, (findingsOf.get(each.file) || 0) + 1);
  const itemsOf = new Map();
  for (const each of data.items) itemsOf.set(each[2], [...(itemsOf.get(each[2]) || []), each]);

  // ---------------------------------------------------------------------------------- overview

  const SEVERITIES = ["error", "warning", "note"];
  const severityCounts = { error: data.summary.errors, warning: data.summary.warnings, note: data.summary.notes };
  const agents = data.matrices.flatMap((each) => each.agents);
  const shadowed = data.items.filter((each) => each[4] >= 0);
  const over = data.budget.filter((each) => each.over);

  const activityRows = () => {
    const found = new Map();
    for (const matrix of data.matrices) {
      matrix.columns.forEach(([sort, name], column) => {
        if (sort !== "activity") return;
        const row = found.get(name) || [0, 0];
        for (const agent of matrix.agents) {
          const state = agent.states[column].toLowerCase();
          if (state === "-") continue;
          row[1] += 1;
          if (state === "a" || state === "p" || state === "k" || state === "c") row[0] += 1;
        }
        found.set(name, row);
      });
    }
    return [...found];
  };

  const drawOverview = () => {
    const cards = [];
    cards.push(h("div", { class: "card" }, h("h3", null, "Findings", h("a", { href: "#findings" }, "Show all")),
      h("div", { class: "figures" }, SEVERITIES.map((severity) => h("div", null,
        h("span", { class: `big ${severityCounts[severity] ? `${severity}-ink` : "muted"}` }, severityCounts[severity].toLocaleString("en")),
        h("span", { class: "muted" }, severityCounts[severity] === 1 ? severity : `${severity}s`)))),
      h("p", { class: "muted small" }, `in ${many(data.summary.files, "file")}`)));
    if (agents.length) {
      cards.push(h("div", { class: "card" }, h("h3", null, `What ${many(agents.length, "agent")} may do`, h("a", { href: "#reach" }, "Who and why")),
        h("ul", { class: "rows" }, activityRows().map(([name, [yes, all]]) => h("li", null, h("span", null, name),
          h("span", { class: yes ? "" : "muted" }, `${yes} of ${all}`))))));
    }
    if (data.budget.length) {
      const tight = data.budget.filter((each) => each.limit).sort((a, b) => b.used / b.limit - a.used / a.limit).slice(0, 4);
      cards.push(h("div", { class: "card" }, h("h3", null, "Context budget", h("a", { href: "#budget" }, "All clients")),
        tight.length ? h("ul", null, tight.map((each) => h("li", { class: "meter" }, meterHead(each), bar(each)))) : h("p", { class: "muted" }, "No client has a limit for what is here.")));
    }
    const sorts = new Map();
    for (const each of data.items) sorts.set(each[0], (sorts.get(each[0]) || 0) + 1);
    cards.push(h("div", { class: "card" }, h("h3", null, "What there is", h("a", { href: "#files" }, "Files")),
      h("ul", { class: "rows" }, [...sorts].sort((a, b) => b[1] - a[1]).slice(0, 7).map(([sort, count]) => h("li", null, h("span", null, bdi(sort)), h("span", null, count.toLocaleString("en")))))));
    const unread = data.unread.reduce((sum, each) => sum + each[1].length, 0);
    cards.push(h("div", { class: "card" }, h("h3", null, "State", h("a", { href: "#state" }, "Details")),
      h("ul", { class: "rows" },
        h("li", null, h("span", null, "Lock"), lockBadge()),
        h("li", null, h("span", null, "Shadowed"), h("span", null, shadowed.length ? many(shadowed.length, "item") : "none")),
        h("li", null, h("span", null, "Not read"), h("span", null, unread ? many(unread, "file") : "none")),
        h("li", null, h("span", null, "Over a limit"), h("span", { class: over.length ? "error-ink" : "" }, over.length ? String(over.length) : "nothing")))));
    const worst = data.findings.filter((each) => each.severity === "error").slice(0, 4);
    return [h("h2", { class: "unseen" }, "Overview"), h("div", { class: "pack" }, cards),
      worst.length ? h("div", { class: "top-errors" }, h("h3", null, "First errors"), worst.map(drawFinding)) : null];
  };

  // ---------------------------------------------------------------------------------- findings

  const drawFrame = (frame) => frame && h("pre", { class: "frame", tabindex: "0", role: "group", "aria-label": `line ${frame[0]}` },
    h("span", { class: "no", "aria-hidden": "true" }, String(frame[0])), frame[1], h("mark", null, frame[2]), frame[3]);
  const drawFinding = (each) => h("article", { class: `finding ${each.severity}` },
    h("header", null, h("span", { class: `badge ${each.severity}` }, each.severity), h("span", { class: "message" }, bdi(each.message)),
      each.count ? h("span", { class: "muted small" }, `×${each.count}`) : null,
      h("code", { class: "muted" }, each.code)),
    h("p", { class: "place" }, place(each.file, each.line, each.column), each.path ? [" at ", h("code", null, bdi(each.path))] : null),
    drawFrame(each.frame),
    each.help ? h("p", { class: "help" }, h("b", null, "help: "), bdi(each.help)) : null,
    each.fix ? h("p", { class: "help" }, h("b", null, each.fix[1] ? "fix: " : "unsafe fix: "), bdi(each.fix[0])) : null,
    (each.related || []).map((related) => h("div", { class: "related" }, place(related.file, related.line), " ", bdi(related.message), drawFrame(related.frame))));

  const drawFindings = () => {
    if (!data.findings.length) return [h("h2", null, "Findings"), h("p", { class: "empty" }, "No problems. Every file here says what its author meant.")];
    // One lower-case text for each finding, so that typing searches fast.
    const texts = data.findings.map((each) => `${each.code} ${each.message} ${file(each.file)} ${each.path}`.toLowerCase());
    const counted = (key) => [...data.findings.reduce((map, each) => map.set(each[key], (map.get(each[key]) || 0) + 1), new Map())]
      .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    const on = new Set(SEVERITIES);
    const search = h("input", { type: "search", placeholder: "Search findings", "aria-label": "Search findings" });
    const choice = (label, key) => h("select", { "aria-label": label }, h("option", { value: "\u0000" }, label),
      counted(key).map(([value, count]) => h("option", { value }, `${value || "none"} (${count})`)));
    const code = choice("All codes", "code"), kind = choice("All kinds", "kind");
    const chips = SEVERITIES.filter((each) => severityCounts[each]).map((severity) => button(`${severity} ${severityCounts[severity]}`, (event) => {
      if (on.has(severity)) on.delete(severity); else on.add(severity);
      event.currentTarget.setAttribute("aria-pressed", String(on.has(severity)));
      update();
    }, { class: "chip", "aria-pressed": "true" }));
    const count = h("p", { class: "muted small", id: "finding-count" }), list = h("div", null);
    const update = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const found = data.findings.filter((each, number) => on.has(each.severity)
        && (code.value === "\u0000" || each.code === code.value) && (kind.value === "\u0000" || each.kind === kind.value)
        && words.every((word) => texts[number].includes(word)));
      count.textContent = found.length === data.findings.length ? many(found.length, "finding") : `${many(found.length, "finding")} of ${data.findings.length.toLocaleString("en")}`;
      list.replaceChildren(found.length ? (list.drawn = lazily(found, drawFinding)) : h("p", { class: "empty" }, "No finding matches."));
      say(count.textContent);
    };
    search.addEventListener("input", update);
    code.addEventListener("change", update);
    kind.addEventListener("change", update);
    update();
    list.all = () => list.drawn && list.drawn.drawAll(400);
    printers.push(list.all);
    return [h("h2", null, "Findings"), h("p", { class: "lead" }, "Every problem once, at its place, with what to do about it."),
      h("div", { class: "filters", role: "search" }, search, code, kind, chips), count, list];
  };

  // ------------------------------------------------------------------------------------- reach

  const STATES = { a: "allowed", p: "partly allowed", k: "the client asks first", c: "only by commands, which it may run", d: "not allowed", u: "unknown", "-": "does not apply" };
  const GROUPS = { activity: "May", mode: "Modes", tool: "Tools", server: "MCP servers", skill: "Skills" };
  const SORTS = { activity: "May", mode: "Mode", tool: "Tool", server: "MCP server", skill: "Skill" };
  const dot = (letter) => h("span", { class: `dot ${letter.toLowerCase()}${letter === letter.toUpperCase() ? " soft" : ""}`, "aria-hidden": "true" });
  const inWords = (letter) => STATES[letter.toLowerCase()] + (letter !== "-" && letter === letter.toUpperCase() ? " by default" : "");

  const openCell = (matrix, agent, column) => {
    const [sort, name] = matrix.columns[column], letter = agent.states[column];
    const reasons = (agent.reasons[agent.why[column]] || []).map((number) => matrix.grants[number]);
    const value = agent.values[column];
    openPanel(h("span", null, bdi(agent.name), " · ", bdi(name)),
      h("p", { class: "verdict" }, sort === "mode" ? null : dot(letter), sort === "mode" ? `${name} = ${value}` : `${SORTS[sort]} ${sort === "activity" ? name : bdiText(name)}: ${inWords(letter)}`),
      h("p", { class: "muted small" }, matrix.program, " · ", place(agent.file)),
      reasons.length ? h("ol", { class: "chain" }, reasons.map(([what, number, line, field, isDefault]) => h("li", { class: isDefault ? "lost" : "wins" },
        h("div", { class: "what" }, bdi(what)),
        isDefault ? h("div", { class: "muted small" }, "no file says so: it is the default", field ? [" of ", h("code", null, bdi(field))] : null)
          : h("div", { class: "small" }, place(number, line), field ? [" ", h("code", { class: "muted" }, bdi(field))] : null)))) : h("p", { class: "muted" }, "Nothing here says anything about it."));
  };
  const bdiText = (text) => text;

  const drawMatrix = (matrix) => {
    const rows = h("tbody", null);
    const firsts = new Set(matrix.columns.map(([sort], column) => (column === 0 || matrix.columns[column - 1][0] !== sort ? column : -1)));
    const groups = [...firsts].filter((each) => each >= 0).sort((a, b) => a - b);
    const above = h("tr", { class: "groups" }, h("th", { class: "corner" }, h("span", { class: "unseen" }, "Agent")), groups.map((column, number) =>
      h("th", { class: "first", scope: "colgroup", colspan: (groups[number + 1] ?? matrix.columns.length) - column }, GROUPS[matrix.columns[column][0]])));
    const head = h("tr", null, h("th", { class: "corner", scope: "col" }, "Agent"), matrix.columns.map(([sort, name], column) =>
      h("th", { scope: "col", class: firsts.has(column) ? "turn first" : "turn", title: `${SORTS[sort]}: ${name}` },
        h("span", null, h("span", { class: "unseen" }, `${SORTS[sort]} `), bdi(name)))));
    const drawRow = (agent) => h("tr", null, h("th", { scope: "row" }, h("div", null, bdi(agent.name)), h("small", null, bdi(file(agent.file)))),
      matrix.columns.map(([sort, name], column) => {
        const letter = agent.states[column], value = agent.values[column];
        const inner = sort === "mode" && value ? h("span", null, bdi(value)) : letter === "-" ? null : dot(letter);
        const label = `${agent.name}: ${SORTS[sort]} ${name}: ${sort === "mode" ? value || "not set" : inWords(letter)}`;
        return h("td", { class: firsts.has(column) ? "first" : null }, letter === "-" ? h("span", { class: "unseen" }, "does not apply")
          : button(inner, () => openCell(matrix, agent, column), { class: sort === "mode" ? "cell text" : "cell", "aria-label": label, title: label, tabindex: "-1", "data-column": column }));
      }));
    const table = h("table", { "aria-label": `What agents of ${matrix.program} may do` }, h("thead", null, above, head), rows);
    const sheet = h("div", { class: "sheet", tabindex: "0", role: "region", "aria-label": `${matrix.program}: agents and what they may do` }, table);
    let shown = matrix.agents, drawn = 0;
    const next = (size = 20) => {
      const piece = document.createDocumentFragment();
      for (const agent of shown.slice(drawn, drawn + size)) piece.append(drawRow(agent));
      drawn = Math.min(shown.length, drawn + size);
      rows.append(piece);
      const first = rows.querySelector("button");
      if (first && !rows.querySelector('button[tabindex="0"]')) first.tabIndex = 0;
    };
    sheet.addEventListener("scroll", () => { if (sheet.scrollTop + sheet.clientHeight > sheet.scrollHeight - 400 && drawn < shown.length) next(); });
    // The arrow keys walk through the cells; only one of them is in the order of the Tab key.
    rows.addEventListener("keydown", (event) => {
      const here = event.target.closest("button.cell"), step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      if (!here || !step) return;
      event.preventDefault();
      const line = here.closest("tr"), column = Number(here.dataset.column);
      if (step[0] > 0 && !line.nextElementSibling) next();
      const other = step[0] === 0 ? line : step[0] > 0 ? line.nextElementSibling : line.previousElementSibling;
      let at = column + step[1], found = null;
      while (other && at >= 0 && at < matrix.columns.length && !(found = other.querySelector(`[data-column="${at}"]`))) at += step[1] || 1;
      if (found) { here.tabIndex = -1; found.tabIndex = 0; found.focus(); }
    });
    next();
    printers.push(() => next(200));
    const filter = (words) => {
      shown = matrix.agents.filter((agent) => words.every((word) => `${agent.name} ${file(agent.file)}`.toLowerCase().includes(word)));
      drawn = 0;
      rows.replaceChildren();
      next();
      return shown.length;
    };
    const box = h("div", null, h("h3", null, bdi(matrix.program), " ", h("span", { class: "count" }, String(matrix.agents.length))),
      matrix.left_out ? h("p", { class: "muted small" }, `${matrix.left_out} rarely named columns are left out; \`equipage reach\` has them.`) : null, sheet);
    box.filter = filter;
    return box;
  };

  const drawReach = () => {
    if (!data.matrices.length) return [h("h2", null, "Reach"), h("p", { class: "empty" }, "There are no agents here.")];
    const boxes = data.matrices.map(drawMatrix);
    const search = h("input", { type: "search", placeholder: "Search agents", "aria-label": "Search agents" });
    const update = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let total = 0;
      for (const box of boxes) { const count = box.filter(words); box.hidden = !count; total += count; }
      say(many(total, "agent"));
    };
    search.addEventListener("input", update);
    return [h("h2", null, "Reach"), h("p", { class: "lead" }, "Who may do what. Choose a cell to see the field that allows or denies it, or the default that counts because no file says anything."),
      h("div", { class: "filters", role: "search" }, search),
      h("div", { class: "legend" }, ["a", "p", "k", "c", "d"].map((letter) => h("span", null, dot(letter), STATES[letter])), h("span", null, dot("A"), "dashed: by default, no file says so")), boxes];
  };

  // ------------------------------------------------------------------------------------- graph

  const nodes = data.graph.nodes.map(([sort, label, kind, at, flags], number) => ({ sort, label, kind, at, number, bad: (flags & 1) > 0, missing: (flags & 2) > 0, out: [], into: [] }));
  for (const [from, to, how, count] of data.graph.edges) {
    const edge = { from: nodes[from], to: nodes[to], how, count };
    nodes[from].out.push(edge);
    nodes[to].into.push(edge);
  }
  const degree = (node) => node.out.length + node.into.length;
  const MOST = 12;

  const drawGraph = () => {
    if (!nodes.length) return [h("h2", null, "Graph"), h("p", { class: "empty" }, "Nothing to draw.")];
    const canvas = h("div", { class: "canvas" }), beside = h("div", { class: "around" });
    const ranked = [...nodes].sort((a, b) => degree(b) - degree(a));
    const start = ranked.find((node) => node.sort === "agent" && node.out.length) || ranked[0];
    let view = { x: 0, y: 0, scale: 1 }, drawing = null, focus = start;
    const options = h("datalist", { id: "graph-names" }, ranked.slice(0, 300).map((node) => h("option", { value: node.label }, node.kind || node.sort)));
    const search = h("input", { type: "search", list: "graph-names", placeholder: "Find an agent, skill, server, tool or file", "aria-label": "Find in the graph" });
    const go = () => {
      const wanted = search.value.trim().toLowerCase();
      const found = wanted && (ranked.find((node) => node.label.toLowerCase() === wanted) || ranked.find((node) => node.label.toLowerCase().includes(wanted)));
      if (found) follow(found);
    };
    search.addEventListener("change", go);
    search.addEventListener("keydown", (event) => { if (event.key === "Enter") go(); });

    const apply = () => { if (drawing) drawing.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`); };
    const zoom = (factor, x, y) => {
      const scale = Math.min(2.5, Math.max(0.25, view.scale * factor)), real = scale / view.scale;
      view = { x: x - (x - view.x) * real, y: y - (y - view.y) * real, scale };
      apply();
    };
    const middle = () => [canvas.clientWidth / 2, canvas.clientHeight / 2];

    const follow = (node, keep) => {
      focus = node;
      const W = 190, H = 42, GAP_X = 110, GAP_Y = 14;
      // From left to right: what leads to it, the thing itself, where it leads, and one step on.
      const unique = (edges, end) => [...new Map(edges.map((edge) => [edge[end], edge])).keys()];
      const before = unique(node.into, "from").filter((each) => each !== node), after = unique(node.out, "to").filter((each) => each !== node);
      const known = new Set([node, ...before, ...after]);
      const further = [...new Set(after.slice(0, MOST).flatMap((each) => unique(each.out, "to")))].filter((each) => !known.has(each));
      const columns = [before.slice(0, MOST), [node], after.slice(0, MOST), further.slice(0, MOST)].filter((column) => column.length);
      const at = new Map();
      columns.forEach((column, x) => column.forEach((each, y) => at.set(each, { x: x * (W + GAP_X), y: (y - (column.length - 1) / 2) * (H + GAP_Y) })));
      const lines = [];
      for (const each of at.keys()) for (const edge of each.out) {
        if (!at.has(edge.to) || edge.to === each) continue;
        const a = at.get(each), b = at.get(edge.to), forward = b.x > a.x;
        const x1 = a.x + (forward ? W : 0), x2 = b.x + (forward ? 0 : W), bend = forward ? GAP_X / 2 : -GAP_X / 2;
        const touches = each === node || edge.to === node;
        // Lines within a column, and back over several, would only cover the boxes.
        if (!touches && Math.round((b.x - a.x) / (W + GAP_X)) !== 1) continue;
        lines.push(svg("path", { class: `edge${edge.how === "forbids" ? " no" : touches ? " on" : ""}`, d: `M${x1} ${a.y}C${x1 + bend} ${a.y} ${x2 - bend} ${b.y} ${x2} ${b.y}` }, svg("title", null, `${each.label} ${edge.how} ${edge.to.label}`)));
      }
      const short = (text, most) => { const letters = [...text]; return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : text; };
      const boxes = [...at].map(([each, { x, y }]) => {
        const open = () => follow(each);
        return svg("g", { class: `node of-${each.sort.replace(/\W+/g, "-")}${each === node ? " focus" : ""}${each.bad || each.missing ? " bad" : ""}`, transform: `translate(${x} ${y - H / 2})`, tabindex: "0", role: "button",
          "aria-label": `${each.sort} ${each.label}${each.missing ? ", missing" : ""}${each.bad ? ", has errors" : ""}`,
          on: { click: open, keydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(); } } } },
        svg("rect", { width: W, height: H, rx: 8 }), svg("rect", { class: "side", x: 0.6, y: 8, width: 4, height: H - 16, rx: 2 }), svg("text", { x: 14, y: 15 }, short(each.label, 25)),
        svg("text", { x: 14, y: 30, class: "sort" }, short([each.sort === "file" ? "" : each.sort, each.kind, each.missing ? "missing" : "", each.bad ? "has errors" : ""].filter(Boolean).join(" · ") || "file", 32)),
        svg("title", null, each.label));
      });
      drawing = svg("g", null, lines, boxes);
      const picture = svg("svg", { role: "group", "aria-label": `${node.sort} ${node.label}, and what it is connected with`, tabindex: "0" }, drawing);
      let from = null;
      picture.addEventListener("pointerdown", (event) => { if (!event.target.closest(".node")) { from = { x: event.clientX - view.x, y: event.clientY - view.y }; picture.setPointerCapture(event.pointerId); picture.classList.add("moving"); } });
      picture.addEventListener("pointermove", (event) => { if (from) { view.x = event.clientX - from.x; view.y = event.clientY - from.y; apply(); } });
      const stop = () => { from = null; picture.classList.remove("moving"); };
      picture.addEventListener("pointerup", stop);
      picture.addEventListener("pointercancel", stop);
      picture.addEventListener("wheel", (event) => { event.preventDefault(); const box = canvas.getBoundingClientRect(); zoom(event.deltaY < 0 ? 1.12 : 1 / 1.12, event.clientX - box.left, event.clientY - box.top); }, { passive: false });
      picture.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
        if (step) { event.preventDefault(); view.x += step[0]; view.y += step[1]; apply(); }
        if (event.key === "+" || event.key === "=") zoom(1.2, ...middle());
        if (event.key === "-") zoom(1 / 1.2, ...middle());
      });
      canvas.replaceChildren(picture, h("div", { class: "tools" },
        button("+", () => zoom(1.2, ...middle()), { "aria-label": "Zoom in" }), button("−", () => zoom(1 / 1.2, ...middle()), { "aria-label": "Zoom out" }),
        button("◎", () => fit(), { "aria-label": "Fit the picture" })));
      const fit = () => {
        const xs = [...at.values()].map((each) => each.x), ys = [...at.values()].map((each) => each.y);
        const left = Math.min(...xs), width = Math.max(...xs) + W - left, top = Math.min(...ys) - H, height = Math.max(...ys) + H - top;
        const scale = Math.min(1.1, (canvas.clientWidth - 40) / width, (canvas.clientHeight - 40) / height);
        const wanted = Math.max(scale, 0.7), center = at.get(node);
        // If it does not fit, the thing itself is in the middle.
        const cx = scale < wanted ? center.x + W / 2 : left + width / 2, cy = scale < wanted ? center.y : top + height / 2;
        view = { x: canvas.clientWidth / 2 - cx * wanted, y: canvas.clientHeight / 2 - cy * wanted, scale: wanted };
        apply();
      };
      fit();
      const links = (title, edges, end) => h("div", { class: "card" }, h("h3", null, title, h("span", { class: "count" }, String(edges.length))),
        edges.length ? h("ul", null, edges.slice(0, 200).map((edge) => h("li", null, h("span", { class: edge.how === "forbids" ? "error-ink small" : "muted small" }, `${edge.how} `),
          button(bdi(edge[end].label), () => follow(edge[end]), { class: "link" }), h("span", { class: "muted small" }, ` ${edge[end].sort}${edge[end].missing ? " · missing" : ""}`)))) : h("p", { class: "muted" }, "Nothing."));
      beside.replaceChildren(
        h("div", { class: "card" }, h("h3", null, bdi(node.label)), h("p", { class: "muted" }, [node.sort, node.kind].filter(Boolean).join(" · ")),
          node.at >= 0 ? h("p", null, place(node.at)) : null,
          node.missing ? h("p", { class: "error-ink" }, "Nothing here defines it.") : null,
          before.length > MOST || after.length > MOST ? h("p", { class: "muted small" }, `The picture shows ${MOST} of each side; the lists have all.`) : null),
        links("Leads to", node.out, "to"), links("Comes from", node.into, "from"));
      if (!keep) say(`${node.sort} ${node.label}: leads to ${node.out.length}, comes from ${node.into.length}`);
    };
    later.push(() => follow(focus, true));
    graphFollow = (number) => { location.hash = "#graph"; setTimeout(() => follow(nodes[number]), 0); };
    return [h("h2", null, "Graph"), h("p", { class: "lead" }, "Who uses what. Choose a box to follow it; drag to move, scroll to zoom, or use the arrow keys, + and −."),
      h("div", { class: "filters", role: "search" }, search, options), canvas,
      h("div", { class: "legend" }, [["agent", "agents"], ["skill", "skills"], ["server", "MCP servers"], ["tool", "tools"], ["file", "files"]].map(([sort, name]) => h("span", null, h("i", { class: `key of-${sort}`, "aria-hidden": "true" }), name)),
        h("span", null, h("i", { class: "key no", "aria-hidden": "true" }), "forbidden")), beside];
  };
  let graphFollow = () => {};

  // ------------------------------------------------------------------------------------- files

  let showFile = (number) => { chosen = number; location.hash = "#files"; };
  let chosen = -1;
  // A name that many files share says more with the folder around it.
  const base = (number) => file(number).split("/").slice(/^(SKILL\.md|config\.toml|plugin\.json)$/.test(file(number).split("/").pop()) ? -2 : -1).join("/");
  const HOW = { written: "in effect", replaced: "replaced by the next one", "merged over it": "merged over it: both are in effect" };

  const openValue = (number, [path, value, steps, variables]) => openPanel(h("code", null, bdi(path)),
    h("div", { class: "boxed" }, bdi(value)),
    steps.length ? h("ol", { class: "chain" }, steps.map(([how, at, line, column, said]) => {
      const wins = how === "written" || how === "merged over it", lost = how === "replaced";
      return h("li", { class: wins ? "wins" : lost ? "lost" : null }, h("div", { class: "what" }, HOW[how] || how), h("div", { class: "small" }, place(at, line, column)),
        said === undefined ? null : h("div", { class: "muted mono" }, bdi(said)));
    })) : h("p", { class: "muted" }, "No file sets it: this is the default."),
    variables ? h("p", { class: "small" }, "From the environment: ", variables.map((each) => h("code", null, bdi(each), " "))) : null);

  const drawFile = (number) => {
    const sheet = sheetOf.get(number), values = valuesOf.get(number), items = itemsOf.get(number) || [];
    const facts = [];
    for (const [sort, name, , layer, shadow, program] of items.slice(0, 30)) {
      facts.push(h("li", null, h("span", null, bdi(sort), " ", h("b", null, bdi(name)), program ? h("span", { class: "muted" }, ` · ${program}`) : null),
        h("span", null, layer ? h("span", { class: "badge" }, `layer ${layer}`) : null, shadow >= 0 ? [h("span", { class: "badge warning" }, "shadowed by"), " ", place(shadow)] : null)));
    }
    return [h("h3", null, bdi(file(number))),
      h("p", { class: "muted" }, sheet && sheet.kind ? sheet.kind : "part of other files", sheet && !sheet.ok ? [" ", h("span", { class: "badge error" }, "has errors")] : null,
        findingsOf.get(number) ? [" ", h("a", { href: "#findings" }, many(findingsOf.get(number), "finding"))] : null),
      facts.length ? h("ul", { class: "rows" }, facts) : null,
      sheet && sheet.users.length ? h("p", { class: "small" }, "Read by ", sheet.users.map((each, at) => [at ? ", " : "", place(each)])) : null,
      values && values[1].length ? h("table", { class: "values" }, h("caption", { class: "unseen" }, `Values of ${file(number)}`), h("tbody", null, values[1].map((value) => h("tr", null,
        h("td", null, button(h("code", null, bdi(value[0])), () => openValue(number, value), { "aria-label": `Explain ${value[0]}` })),
        h("td", { class: "v mono" }, bdi(value[1])),
        h("td", { class: "w" }, value[2].length ? `${value[2][0][1] === number || value[2][0][1] < 0 ? "line" : `${file(value[2][0][1]).split("/").pop()}:`} ${value[2][0][2] || ""}${value[2].length > 1 ? ` +${value[2].length - 1}` : ""}` : "default"))))) : h("p", { class: "empty" }, sheet && !sheet.ok ? "It cannot be loaded, so it has no values." : "No values to show."),
      values && values[2] ? h("p", { class: "muted small" }, `${many(values[2], "more value")}: run `, h("code", null, "equipage show"), ".") : null];
  };

  const drawFiles = () => {
    const numbers = [...new Set([...sheetOf.keys(), ...valuesOf.keys()])].filter((number) => number >= 0).sort((a, b) => (file(a) < file(b) ? -1 : 1));
    if (!numbers.length) return [h("h2", null, "Files"), h("p", { class: "empty" }, "No files.")];
    const detail = h("div", { class: "card", "aria-live": "polite" }), list = h("div", { class: "list card" });
    const search = h("input", { type: "search", placeholder: "Search files and names", "aria-label": "Search files" });
    const kinds = [...new Set(data.sheets.map((each) => each.kind))].sort();
    const kind = h("select", { "aria-label": "All kinds" }, h("option", { value: "\u0000" }, "All kinds"), kinds.map((each) => h("option", { value: each }, each || "part of other files")));
    const row = (number) => button([h("span", null, bdi(base(number)), findingsOf.get(number) ? [" ", h("span", { class: "count warning" }, String(findingsOf.get(number)), h("span", { class: "unseen" }, " findings"))] : null),
      h("small", null, (sheetOf.get(number) || {}).kind || "part of other files", " · ", bdi(file(number).slice(0, -base(number).length - 1) || "."))], () => choose(number), { "data-file": number, "aria-current": String(number === chosen) });
    const choose = (number) => {
      chosen = number;
      for (const each of list.querySelectorAll('[aria-current="true"]')) each.setAttribute("aria-current", "false");
      const here = list.querySelector(`[data-file="${number}"]`);
      if (here) here.setAttribute("aria-current", "true");
      detail.replaceChildren(...drawFile(number).flat(3).filter(Boolean));
    };
    const update = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const found = numbers.filter((number) => (kind.value === "\u0000" || (sheetOf.get(number) || { kind: "" }).kind === kind.value)
        && words.every((word) => file(number).toLowerCase().includes(word) || (itemsOf.get(number) || []).some((each) => each[1].toLowerCase().includes(word))));
      list.replaceChildren(found.length ? lazily(found, row, 30) : h("p", { class: "empty" }, "No file matches."));
      say(many(found.length, "file"));
    };
    search.addEventListener("input", update);
    kind.addEventListener("change", update);
    update();
    choose(chosen >= 0 ? chosen : numbers.find((number) => (valuesOf.get(number) || [0, []])[1].length) ?? numbers[0]);
    showFile = (number) => { location.hash = "#files"; choose(number); detail.scrollIntoView({ block: "nearest" }); };
    return [h("h2", null, "Files and values"), h("p", { class: "lead" }, "What each file comes to. Choose a value to see who set it, what it replaced, and how it got there."),
      h("div", { class: "filters", role: "search" }, search, kind), h("div", { class: "files" }, list, detail)];
  };

  // ------------------------------------------------------------------------------------ budget

  const percent = (each) => Math.round((100 * each.used) / each.limit);
  const bar = (each) => {
    const share = each.limit ? each.used / each.limit : 0, inner = h("i", { class: share > 1 ? "over" : share > 0.8 ? "near" : null });
    inner.style.width = `${Math.min(100, Math.max(1, share * 100))}%`;
    return h("div", { class: "bar", role: "meter", "aria-valuemin": "0", "aria-valuemax": String(each.limit), "aria-valuenow": String(each.used), "aria-label": `${each.client} ${each.what}: ${percent(each)} % of the limit` }, inner);
  };
  const meterHead = (each) => h("div", { class: "head" }, h("span", null, each.client, " · ", each.what), h("span", { class: each.over ? "error-ink" : "muted" }, `${percent(each)} %`));

  const drawBudget = () => {
    if (!data.budget.length) return [h("h2", null, "Context budget"), h("p", { class: "empty" }, "Nothing here takes up a client's context.")];
    const clients = [...new Set(data.budget.map((each) => each.client))];
    const card = (client) => {
      // What is nearest to its limit comes first.
      const measures = data.budget.filter((each) => each.client === client).sort((a, b) => (b.limit ? b.used / b.limit : 0) - (a.limit ? a.used / a.limit : 0));
      return h("div", { class: "card" }, h("h3", null, client), lazily(measures, (each) => h("div", { class: "meter" },
        h("div", { class: "head" }, h("span", null, each.what, " ", h("span", { class: "muted small" }, bdi(each.folder))),
          h("span", null, `${each.used.toLocaleString("en")}${each.limit ? ` of ${each.limit.toLocaleString("en")}` : ""} ${each.unit}`, each.tokens ? h("span", { class: "muted small" }, ` ≈ ${each.tokens.toLocaleString("en")} tokens`) : null)),
        each.limit ? bar(each) : h("p", { class: "muted small" }, "no limit is known"),
        each.over ? h("p", { class: "error-ink small" }, `Over the limit: ${each.beyond}.`) : null,
        h("details", null, h("summary", null, each.limit ? `Parts · limit ${each.basis}` : "Parts"),
          h("ul", { class: "parts" }, each.parts.map(([name, at, size, isOver]) => h("li", null, h("span", { class: `n ${isOver ? "error-ink" : ""}` }, size.toLocaleString("en")), h("span", null, bdi(name), " ", h("span", { class: "small" }, place(at)))))),
          each.more ? h("p", { class: "muted small" }, `and ${each.more} more`) : null)), 30));
    };
    return [h("h2", null, "Context budget"), h("p", { class: "lead" }, "What each client puts into every conversation, against what it reads. Beyond a limit, clients cut without a word."),
      h("div", { class: "grid wide" }, clients.map(card))];
  };

  // ------------------------------------------------------------------------------------- state

  const lock = data.lock || null;
  const lockBadge = () => (lock ? h("span", { class: `badge ${lock.same ? "ok" : "error"}` }, lock.same ? "matches" : "differs") : h("span", { class: "badge" }, "none"));
  const drawState = () => {
    const parts = data.sheets.filter((each) => !each.kind);
    return [h("h2", null, "State"), h("p", { class: "lead" }, "The lock, and the files that do not count or are not read."),
      h("div", { class: "grid" },
        h("div", { class: "card" }, h("h3", null, "Lock", lockBadge()), lock ? [h("p", { class: "muted" }, place(lock.file), " "), h("ul", null, lock.lines.map((line) => h("li", { class: "small" }, bdi(line))))]
          : h("p", { class: "muted" }, "No lock records what was here.")),
        h("div", { class: "card" }, h("h3", null, "Shadowed", h("span", { class: "count" }, String(shadowed.length))),
          shadowed.length ? h("ul", { class: "list-of-files" }, shadowed.slice(0, 200).map((each) => h("li", null, bdi(each[0]), " ", h("b", null, bdi(each[1])), " in ", place(each[2]), h("span", { class: "muted" }, " by "), place(each[4])))) : h("p", { class: "muted" }, "Nothing is hidden by a higher layer.")),
        data.unread.length ? data.unread.map(([sort, files]) => h("div", { class: "card" }, h("h3", null, bdi(sort), h("span", { class: "count" }, String(files.length))), h("p", { class: "muted small" }, "A tool reads this, equipage does not."),
          h("ul", { class: "list-of-files mono" }, files.slice(0, 60).map((each) => h("li", null, bdi(file(each))))), files.length > 60 ? h("p", { class: "muted small" }, `and ${files.length - 60} more`) : null))
          : h("div", { class: "card" }, h("h3", null, "Not read", h("span", { class: "count" }, "0")), h("p", { class: "muted" }, "Every file of an agent tool here is read.")),
        h("div", { class: "card" }, h("h3", null, "Parts of other files", h("span", { class: "count" }, String(parts.length))), parts.length ? h("ul", { class: "list-of-files" }, parts.slice(0, 60).map((each) => h("li", null, place(each.file)))) : h("p", { class: "muted" }, "None.")))];
  };

  // -------------------------------------------------------------------------------- the page

  const printers = [], later = [];
  const worst = SEVERITIES.find((each) => severityCounts[each]);
  const SECTIONS = [
    ["overview", "Overview", drawOverview, null],
    ["findings", "Findings", drawFindings, [data.findings.length, data.findings.length ? worst : ""]],
    ["reach", "Reach", drawReach, [agents.length, ""]],
    ["graph", "Graph", drawGraph, null],
    ["files", "Files", drawFiles, [data.sheets.length, ""]],
    ["budget", "Budget", drawBudget, over.length ? [over.length, "error"] : null],
    ["state", "State", drawState, null],
  ];
  const main = document.getElementById("main"), drawn = new Set();
  document.getElementById("nav").append(h("ul", null, SECTIONS.map(([id, name, , count]) => h("li", null,
    h("a", { href: `#${id}`, id: `to-${id}` }, name, count ? h("span", { class: `count ${count[1]}` }, count[0].toLocaleString("en")) : null)))));
  for (const [id] of SECTIONS) main.append(h("section", { id: `part-${id}`, hidden: true }));
  document.body.append(h("footer", null, `Made by equipage ${data.equipage}. This page contacts nothing and holds no secrets that equipage recognises.`));

  const draw = (id) => {
    if (drawn.has(id)) return;
    drawn.add(id);
    const section = document.getElementById(`part-${id}`);
    section.append(...SECTIONS.find((each) => each[0] === id)[2]().flat(3).filter(Boolean));
    for (const run of later.splice(0)) run();
  };
  const show = () => {
    const id = SECTIONS.some((each) => `#${each[0]}` === location.hash) ? location.hash.slice(1) : "overview";
    for (const [each] of SECTIONS) {
      document.getElementById(`part-${each}`).hidden = each !== id;
      const link = document.getElementById(`to-${each}`);
      if (each === id) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    }
    draw(id);
  };
  addEventListener("hashchange", () => { show(); scrollTo(0, 0); document.getElementById("main").focus({ preventScroll: true }); });
  // On paper, everything is there, within reason.
  addEventListener("beforeprint", () => { for (const [id] of SECTIONS) draw(id); for (const run of printers) run(); });

  const root = document.documentElement, theme = document.getElementById("theme");
  const dress = (dark) => { root.dataset.theme = dark ? "dark" : "light"; theme.textContent = dark ? "Light" : "Dark"; };
  const system = matchMedia("(prefers-color-scheme: dark)");
  let kept = null;
  try { kept = localStorage.getItem("equipage-theme"); } catch { kept = null; }
  dress(kept ? kept === "dark" : system.matches);
  system.addEventListener("change", () => { if (!kept) dress(system.matches); });
  theme.addEventListener("click", () => {
    const dark = root.dataset.theme !== "dark";
    dress(dark);
    kept = dark ? "dark" : "light";
    try { localStorage.setItem("equipage-theme", kept); } catch { /* nothing to keep it in */ }
  });
  show();
})();
