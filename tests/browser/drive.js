// Opens a page in Chromium, does what a person does, and prints what it saw as JSON.
// Arguments: the page, the program, the scenario, a folder for pictures.
"use strict";
const { chromium } = require(process.env.EQUIPAGE_PLAYWRIGHT);

const [page_, program, scenario, pictures] = process.argv.slice(2);
const address = `file://${page_}`;

const scenarios = {
  // Every part, at several sizes: nothing wider than the window, no message, no request.
  async looks(open) {
    const seen = [];
    for (const [width, height, colorScheme] of [[1280, 860, "light"], [1280, 860, "dark"], [390, 844, "light"]]) {
      const page = await open({ viewport: { width, height }, colorScheme });
      for (const part of ["overview", "findings", "reach", "graph", "files", "budget", "state"]) {
        await page.goto(`${address}#${part}`);
        await page.waitForSelector(`#part-${part}:not([hidden]) h2`, { state: "attached" });
        if (pictures) await page.screenshot({ path: `${pictures}/${width}-${colorScheme}-${part}.png` });
        seen.push({
          part, width, colorScheme,
          over: await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
          theme: await page.evaluate(() => document.documentElement.dataset.theme),
          text: (await page.innerText(`#part-${part}`)).length,
          current: await page.getAttribute(`#to-${part}`, "aria-current"),
        });
      }
    }
    return seen;
  },

  async filters(open) {
    const page = await open();
    await page.goto(`${address}#findings`);
    const count = () => page.textContent("#finding-count");
    const before = await count();
    await page.fill('[aria-label="Search findings"]', "wrong-type");
    const searched = await count();
    await page.fill('[aria-label="Search findings"]', "");
    await page.selectOption('[aria-label="All codes"]', "unknown-field");
    const coded = await count();
    const shown = await page.$$eval(".finding code", (found) => found.map((each) => each.textContent));
    await page.selectOption('[aria-label="All codes"]', "\u0000");
    await page.click('.chip:has-text("error")');
    const withoutErrors = await page.$$eval(".finding.error", (found) => found.length);
    await page.click('.chip:has-text("error")');
    await page.selectOption('[aria-label="All kinds"]', "server");
    return { before, searched, coded, shown, withoutErrors, kind: await count(), frame: await page.textContent(".finding.error .frame"), marked: await page.textContent(".finding.error .frame mark") };
  },

  // The matrix: a cell says why, from the mouse and from the keys; Escape closes.
  async reach(open) {
    const page = await open();
    await page.goto(`${address}#reach`);
    await page.click('[aria-label="reviewer: May write files: not allowed"] >> nth=0');
    const why = await page.innerText("#panel");
    const focused = await page.evaluate(() => document.activeElement.id);
    await page.keyboard.press("Escape");
    const closed = await page.evaluate(() => !document.getElementById("panel").open);
    const back = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
    await page.keyboard.press("ArrowLeft");
    const moved = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
    await page.keyboard.press("Enter");
    const byKey = await page.innerText("#panel-title");
    await page.click("#panel-close");
    await page.fill('[aria-label="Search agents"]', "explorer");
    const left = await page.$$eval("#part-reach tbody tr", (rows) => rows.filter((row) => row.offsetParent).map((row) => row.querySelector("th div").textContent));
    return { why, focused, closed, back, moved, byKey, left };
  },

  async graph(open) {
    const page = await open();
    await page.goto(`${address}#graph`);
    const title = () => page.textContent(".around h3");
    const start = await title();
    const place = () => page.getAttribute(".canvas svg > g", "transform");
    const before = await place();
    const box = await (await page.$(".canvas")).boundingBox();
    await page.mouse.move(box.x + 30, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + 130, box.y + 90);
    await page.mouse.up();
    const dragged = await place();
    await page.mouse.wheel(0, -300);
    await page.waitForTimeout(50);
    const zoomed = await place();
    await page.click('[aria-label="Fit the picture"]');
    const fitted = await place();
    await page.click(".node:not(.focus)");
    const followed = await title();
    await page.focus(".node:not(.focus)");
    await page.keyboard.press("Enter");
    const byKey = await title();
    await page.fill('[aria-label="Find in the graph"]', "docs");
    await page.press('[aria-label="Find in the graph"]', "Enter");
    return { start, before, dragged, zoomed, fitted, followed, byKey, found: await title() };
  },

  async explains(open) {
    const page = await open();
    await page.goto(`${address}#files`);
    await page.fill('[aria-label="Search files"]', "server/server.yaml");
    await page.click('.files .list button:has-text("server.yaml") >> nth=-1');
    await page.click('[aria-label^="Explain baseline.tools[0].tool.name"]');
    const chain = await page.innerText("#panel-body");
    await page.click("#panel .link >> nth=0");
    return { chain, closed: await page.evaluate(() => !document.getElementById("panel").open), file: await page.textContent(".files .card h3") };
  },

  async prints(open) {
    const page = await open();
    await page.goto(address);
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    const shown = await page.$$eval("main > section", (parts) => parts.map((part) => [part.id, getComputedStyle(part).display, part.innerText.length]));
    if (pictures) await page.screenshot({ path: `${pictures}/print.png`, fullPage: true });
    const size = (await page.pdf({ format: "A4" })).length;
    return { shown, nav: await page.$eval("nav", (nav) => getComputedStyle(nav).display), size };
  },

  // Roles, names and the order of the Tab key, from the accessibility tree.
  async speaks(open) {
    const page = await open();
    await page.goto(address);
    const first = [];
    for (let n = 0; n < 4; n += 1) {
      await page.keyboard.press("Tab");
      first.push(await page.evaluate(() => document.activeElement.textContent.trim() || document.activeElement.id));
    }
    const unnamed = [];
    for (const part of ["overview", "findings", "reach", "graph", "files", "budget", "state"]) {
      await page.goto(`${address}#${part}`);
      unnamed.push(...await page.$$eval(`#part-${part} :is(button, input, select, a, [role=button], [role=meter])`, (found) => found
        .filter((each) => !(each.getAttribute("aria-label") || each.textContent.trim())).map((each) => each.outerHTML.slice(0, 120))));
    }
    const heads = await page.$$eval("h1", (found) => found.length);
    const roles = await page.evaluate(() => ["nav[aria-label]", "main", "dialog[aria-labelledby]", "[role=status][aria-live]", "html[lang]"].map((each) => document.querySelectorAll(each).length));
    await page.click("#theme");
    return { first, unnamed, heads, roles, theme: await page.evaluate(() => document.documentElement.dataset.theme) };
  },

  // How long until there is something to see, and until a filter answers.
  async fast(open) {
    const page = await open();
    await page.goto(address);
    await page.waitForTimeout(300);
    const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
    await page.goto(`${address}#findings`);
    await page.waitForSelector("#finding-count", { state: "attached" });
    const times = {};
    for (const [part, label, words] of [["findings", "Search findings", ["a", "agent", "agent-1", ""]], ["reach", "Search agents", ["1", "19", "agent-199", ""]], ["files", "Search files", ["a", "9", "agent-1", ""]]]) {
      await page.goto(`${address}#${part}`);
      await page.waitForSelector(`[aria-label="${label}"]`);
      times[part] = await page.evaluate(async ([label, words]) => {
        const input = document.querySelector(`[aria-label="${label}"]`);
        // Other programs run on the machine, too: of five times, the one in the middle counts.
        const taken = words.map(() => []);
        for (let n = 0; n < 5; n += 1) {
          for (const [at, word] of words.entries()) {
            const start = performance.now();
            input.value = word;
            input.dispatchEvent(new Event("input"));
            document.body.offsetHeight; // lay out what changed
            taken[at].push(performance.now() - start);
            await new Promise(requestAnimationFrame);
          }
        }
        return Math.max(...taken.map((each) => each.sort((a, b) => a - b)[2]));
      }, [label, words]);
    }
    return { paint, times };
  },

  // Nothing in a file runs, or is anything but text.
  async inert(open) {
    const page = await open();
    for (const part of ["overview", "findings", "reach", "graph", "files", "budget", "state"]) {
      await page.goto(`${address}#${part}`);
      await page.waitForTimeout(30);
    }
    return page.evaluate(() => ({
      ran: "pwned" in window, images: document.images.length, frames: frames.length, scripts: document.scripts.length,
      markup: document.querySelectorAll("main img, main iframe, main script, main b b, main marquee").length,
      text: document.body.innerText.length, injected: (() => { try { document.body.innerHTML = "<b>x</b>"; return true; } catch { return false; } })(),
    }));
  },
};

(async () => {
  const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
  const messages = [], requests = [];
  const open = async (settings) => {
    const page = await (await browser.newContext({ viewport: { width: 1280, height: 860 }, ...settings })).newPage();
    page.on("console", (each) => messages.push(each.text()));
    page.on("pageerror", (each) => messages.push(`error: ${each.message}`));
    page.on("dialog", (each) => { messages.push(`dialog: ${each.message()}`); each.dismiss(); });
    page.on("request", (each) => { if (!each.url().startsWith(address)) requests.push(each.url()); });
    page.setDefaultTimeout(15000);
    return page;
  };
  try {
    const result = await scenarios[scenario](open);
    process.stdout.write(JSON.stringify({ result, messages, requests }));
  } finally {
    await browser.close();
  }
})().catch((error) => { process.stderr.write(`${error.stack}\n`); process.exit(1); });
