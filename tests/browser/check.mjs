// Drives Chromium over a running `veil explore` and prints what it found as JSON, one entry for each check.
// node check.mjs ADDRESS CHROMIUM [SCREENSHOTS]
import fs from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [address, executablePath, shots] = process.argv.slice(2);
const own = new URL(address);
const base = own.origin + own.pathname;
const VIEWS = {
  compare: "compare", ranges: "compare/ranges?data=1&method=dawa", map: "compare/ranges?data=4",
  plan: "plan?epsilon=0.5", ledger: "ledger", results: "results", choice: "choice",
};
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const found = {};
const note = (name, value) => { found[name] = value; };
const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--host-resolver-rules=MAP evil.example 127.0.0.1"],
});

// a page that has the cookie; what it asks of other hosts, and its complaints, are kept
const enter = async (how = {}) => {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...how });
  const page = await context.newPage();
  const seen = { foreign: [], errors: [] };
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol !== "data:" && url.origin !== own.origin) seen.foreign.push(request.url());
  });
  page.on("pageerror", (error) => seen.errors.push(error.message));
  page.on("console", (message) => { if (message.type() === "error") seen.errors.push(message.text()); });
  await page.goto(address);
  return { context, page, seen };
};

// the policy lets no script in, so axe comes in through the debugger
const judged = async (page) => {
  await page.evaluate(axe);
  const result = await page.evaluate(() => globalThis.axe.run());
  return result.violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.target.join(" ")).join(", ")}`);
};

const everyView = async () => {
  for (const colorScheme of ["light", "dark"]) {
    const { context, page, seen } = await enter({ colorScheme });
    const { page: bypassed, context: second } = { ...(await enter({ colorScheme, bypassCSP: true })) };
    for (const [name, path] of Object.entries(VIEWS)) {
      await page.goto(base + path);
      await bypassed.goto(base + path);
      const key = `${name} ${colorScheme}`;
      note(`axe ${key}`, await judged(bypassed));
      await page.setViewportSize({ width: 390, height: 800 });
      note(`sideways ${key}`, await page.evaluate(() => document.documentElement.scrollWidth - innerWidth));
      await page.setViewportSize({ width: 1200, height: 900 });
      if (!shots || colorScheme !== "light") continue;
      const whole = ["ranges", "map"].includes(name) ? page.locator("#content section").first() : page;
      await whole.screenshot({ path: `${shots}/explore-${name}.png` });
    }
    note(`foreign ${colorScheme}`, seen.foreign);
    note(`errors ${colorScheme}`, seen.errors);
    await context.close();
    await second.close();
  }
};

// the page one is on: on a telephone, in the dark, and on paper
const everywhere = async (page, name) => {
  await page.setViewportSize({ width: 390, height: 800 });
  note(`sideways ${name}`, await page.evaluate(() => document.documentElement.scrollWidth - innerWidth));
  await page.emulateMedia({ colorScheme: "dark" });
  note(`axe ${name} dark`, await judged(page));
  await page.setViewportSize({ width: 1200, height: 900 });
  await page.emulateMedia({ colorScheme: "light", media: "print" });
  note(`paper ${name}`, await page.evaluate(() => ({
    shown: [...document.querySelectorAll("form.controls, header nav, body > nav")].filter((one) => getComputedStyle(one).display !== "none").length,
    torn: [...document.querySelectorAll("figure")].filter((one) => getComputedStyle(one).breakInside !== "avoid").length,
    ink: getComputedStyle(document.body).color,
    paper: getComputedStyle(document.body).backgroundColor,
    wide: document.documentElement.scrollWidth - innerWidth,
  })));
  await page.emulateMedia({ colorScheme: "light", media: "screen" });
};

const reports = async () => {
  const { context, page } = await enter({ bypassCSP: true });
  await page.goto(`${base}results`);
  const links = await page.$$eval("#content a", (all) => all.map((link) => link.href));
  for (const [place, link] of links.entries()) {
    await page.goto(`${link}`);
    note(`axe result ${place}`, await judged(page));
    await everywhere(page, `result ${place}`);
    const more = await page.$$eval('#content a[href*="/report"], #content a[href*="/page"], #content a[href*="choice/"]', (all) => all.map((one) => one.href));
    for (const [number, one] of more.entries()) {
      await page.goto(one);
      note(`axe report ${place}.${number}`, await judged(page));
      await everywhere(page, `report ${place}.${number}`);
    }
  }
  await context.close();
};

const withoutScript = async () => {
  const { context, page } = await enter({ javaScriptEnabled: false });
  for (const [name, path] of Object.entries(VIEWS)) {
    const answer = await page.goto(base + path);
    note(`no script ${name}`, answer.status());
  }
  await page.goto(`${base}compare/ranges`);
  await page.fill('input[name="from"]', "100");
  await page.click('form.controls button[type="submit"]');
  note("no script slider", [page.url().includes("from=100"), (await page.content()).includes("-109.69")]);
  await page.goto(`${base}plan`);
  await page.fill('input[name="rows"]', "12345");
  await page.click('form.controls button[type="submit"]');
  note("no script form", [page.url().includes("rows=12345"), (await page.content()).includes("12,345 rows")]);
  await context.close();
};

const withScript = async () => {
  const { context, page } = await enter();
  await page.goto(`${base}compare`);
  const times = [];
  const options = await page.$$eval('select[name="epsilon"] option', (all) => all.map((one) => one.value));
  for (let round = 0; round < 40; round += 1) {
    const value = options[(round + 1) % options.length];
    const before = await page.evaluate(() => { globalThis.marked = document.getElementById("content"); return performance.now(); });
    await page.selectOption('select[name="epsilon"]', value);
    await page.waitForFunction(() => document.getElementById("content") !== globalThis.marked);
    times.push(await page.evaluate((start) => new Promise((done) => {
      requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
    }), before));
  }
  times.sort((one, other) => one - other);
  note("paint", { median: times[20], p95: times[37], largest: times[39] });
  note("state in the address", page.url().includes("epsilon="));
  await page.focus("table.grid tbody a");
  const first = await page.evaluate(() => document.activeElement.href);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  note("arrows", first !== (await page.evaluate(() => document.activeElement.href)));
  note("one tab stop", await page.$$eval("table.grid tbody a", (all) => all.filter((link) => link.tabIndex === 0).length));
  await context.close();
};

// a range by keyboard, and by dragging on a histogram and on a map
const rangesByHand = async () => {
  const { context, page, seen } = await enter();
  const told = () => page.evaluate(() => [...document.querySelectorAll("#content .tiles b")].map((one) => one.textContent));
  const changed = async (act) => {
    await page.evaluate(() => { globalThis.marked = document.getElementById("content"); });
    await act();
    await page.waitForFunction(() => document.getElementById("content") !== globalThis.marked);
    return told();
  };
  await page.goto(`${base}compare/ranges`);
  const before = await told();
  const said = await page.textContent('output[data-of="to"]');
  const start = Number(await page.inputValue('input[name="to"]'));
  await page.focus('input[name="to"]');
  const after = await changed(() => page.keyboard.press("ArrowRight"));
  note("slider by keyboard", {
    before: said,
    changed: before.length === 3 && before[0] !== after[0],
    address: page.url().includes(`to=${start + 1}`),
    focus: await page.evaluate(() => document.activeElement.name),
    said: await page.evaluate(() => [document.querySelector('output[data-of="to"]').textContent, document.activeElement.getAttribute("aria-valuetext")]),
  });
  const drag = async (shares) => {
    await page.locator("svg[data-drag]").last().scrollIntoViewIfNeeded();
    const box = await page.locator("svg[data-drag]").last().boundingBox();
    const at = (share) => [box.x + share[0] * box.width, box.y + share[1] * box.height];
    return changed(async () => {
      await page.mouse.move(...at(shares[0]));
      await page.mouse.down();
      await page.mouse.move(...at(shares[1]), { steps: 4 });
      await page.mouse.up();
    });
  };
  await drag([[0.7, 0.5], [0.3, 0.5]]);
  const ends = () => page.$$eval("form.controls input[type=range]", (all) => all.map((one) => Number(one.value)));
  const bars = await ends();
  await page.goto(`${base}compare/ranges?data=4`);
  await drag([[0.26, 0.26], [0.74, 0.49]]);
  note("drag", { bars, map: await ends(), errors: seen.errors });
  await context.close();
};

// from the first page to a copied command, by keyboard alone
const byKeyboard = async () => {
  const { context, page } = await enter();
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: own.origin });
  const start = Date.now();
  let choices = 0;
  const tabTo = async (wanted) => {
    for (let step = 0; step < 80; step += 1) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(wanted)) return true;
    }
    return false;
  };
  const reached = [await tabTo(() => document.activeElement.textContent === "Plan")];
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
  choices += 1;
  reached.push(await tabTo(() => document.activeElement.name === "epsilon"));
  await page.keyboard.press("Control+A");
  await page.keyboard.type("0.25");
  choices += 1;
  await page.evaluate(() => { globalThis.marked = document.getElementById("content"); });
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => globalThis.marked && document.getElementById("content") !== globalThis.marked);
  reached.push(await tabTo(() => document.activeElement.textContent === "Copy"));
  await page.keyboard.press("Enter");
  choices += 1;
  await page.waitForFunction(() => [...document.querySelectorAll("button")].some((one) => one.textContent === "Copied"));
  note("keyboard", { reached, choices, seconds: (Date.now() - start) / 1000, copied: await page.evaluate(() => navigator.clipboard.readText()) });
  await context.close();
};

const onPaper = async () => {
  const { context, page } = await enter();
  await page.goto(`${base}plan?epsilon=0.5`);
  await page.emulateMedia({ media: "print" });
  note("print", await page.evaluate(() => ({
    controls: getComputedStyle(document.querySelector("form.controls")).display,
    menu: getComputedStyle(document.querySelector("nav")).display,
    figure: getComputedStyle(document.querySelector("figure")).breakInside,
    ink: getComputedStyle(document.body).color,
  })));
  note("pdf", (await page.pdf({ format: "A4" })).length);
  await page.goto(`${base}compare/ranges?data=4`);
  note("print ranges", await page.evaluate(() => ({
    controls: getComputedStyle(document.querySelector("form.controls")).display,
    tabs: getComputedStyle(document.querySelector("nav.tabs")).display,
    figure: getComputedStyle(document.querySelector(".pair figure")).breakInside,
  })));
  await context.close();
};

// what others try: a server on another port of this machine, which is the same site, and a name that was made to lead here
const attacks = async () => {
  const cookies = [];
  const target = `${base}ledger/verify`;
  const pages = {
    "/form": `<form method="post" action="${target}"><input name="ledger" value="0"></form><script>document.forms[0].submit()</script>`,
    "/link": `<a id="go" href="${base}ledger">go</a>`,
    "/frame": `<iframe src="${base}ledger"></iframe>`,
    "/fetch": `<script>fetch("${base}ledger", {credentials: "include", mode: "no-cors"}).then((one) => one.text()).then((text) => { document.title = "read " + text.length; }, () => { document.title = "refused"; });</script>`,
  };
  const other = http.createServer((request, response) => {
    cookies.push(request.headers.cookie ?? "");
    response.setHeader("content-type", "text/html");
    response.end(pages[request.url.split("?")[0]] ?? "nothing");
  });
  await new Promise((done) => other.listen(0, "127.0.0.1", done));
  const elsewhere = `http://127.0.0.1:${other.address().port}`;
  const { context, page } = await enter();
  const statuses = {};
  page.on("response", (answer) => { if (answer.url().startsWith(own.origin)) statuses[new URL(answer.url()).pathname] = answer.status(); });
  await page.goto(`${elsewhere}/form`);
  await page.waitForURL(`${own.origin}/**`);
  note("attack form", statuses[new URL(target).pathname]);
  await page.goto(`${elsewhere}/link`);
  await page.click("#go");
  await page.waitForURL(`${own.origin}/**`);
  note("attack link", statuses[new URL(`${base}ledger`).pathname]);
  await page.goto(`${elsewhere}/frame`);
  await page.waitForTimeout(300);
  const inside = page.frames().find((frame) => frame !== page.mainFrame());
  note("attack frame", inside ? (await inside.content()).includes("clinic") : false);
  await page.goto(`${elsewhere}/fetch`);
  await page.waitForFunction(() => document.title !== "");
  note("attack fetch", await page.title());
  for (const path of ["/", "/compare", "/veil/"]) await page.goto(elsewhere + path); // the random path is not known there
  note("attack cookies", cookies.filter((text) => text.includes("veil=")));
  const rebound = await page.goto(`${base.replace("127.0.0.1", "evil.example")}ledger`);
  note("attack name", [rebound.status(), (await rebound.text()).includes("clinic")]);
  await context.close();
  const stranger = await (await browser.newContext()).newPage();
  note("attack no token", (await stranger.goto(`${base}ledger`)).status());
  other.close();
};

for (const check of [everyView, reports, withoutScript, withScript, rangesByHand, byKeyboard, onPaper, attacks]) {
  try { await check(); } catch (error) { note(`failed ${check.name}`, String(error)); }
}
await browser.close();
console.log(JSON.stringify(found, null, 1));
