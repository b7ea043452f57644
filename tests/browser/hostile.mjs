// Drives Chromium over a `veil explore` whose files are full of markup, and prints what came of it as JSON.
// node hostile.mjs ADDRESS CHROMIUM SECRET: the secret lies in a file beside the watched folder
import { chromium } from "playwright-core";

const [address, executablePath, secret] = process.argv.slice(2);
const own = new URL(address);
const base = own.origin + own.pathname;
const VIEWS = ["compare", "compare?epsilon=0.1&show=value", "plan?epsilon=0.5", "ledger", "results", "choice"];
const OUTSIDE = [
  "..%2f..%2fDATA.csv", "results/..%2f..%2fDATA.csv", "results/..%2fDATA.csv/page", "%2e%2e/DATA.csv", "results/1%00/page",
  "results/-1/page", "results/%2fetc%2fpasswd/report", "..%5c..%5cDATA.csv", "choice/..%2f..%2fDATA.csv", "results/DATA.csv",
];
const ASKED = [
  "plan?schema=../DATA.csv", "ledger?ledger=../../DATA.csv", "ledger.csv?ledger=%2fetc%2fpasswd", "results?file=../DATA.csv",
  "plan?method=<script>globalThis.pwned=1</script>", "compare?data=<img src=x onerror=globalThis.pwned=1>",
];
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
const page = await context.newPage();
const asked = new Set();
const found = { active: {}, byHand: 0, dialogs: [], shown: {}, outside: {}, leaked: [], visited: 0 };
page.on("dialog", (dialog) => { found.dialogs.push(dialog.message()); dialog.dismiss(); });
page.on("request", (request) => {
  const url = new URL(request.url());
  if (url.protocol !== "data:" && url.origin !== own.origin) asked.add(request);
});
page.on("requestfailed", (request) => { if (request.failure().errorText === "csp") asked.delete(request); }); // it never left

// what no page of ours has, and markup in a name would make; a report that was made by hand has it, but nothing runs
const active = () => (document.body.innerText.includes("made by hand") ? [] : [
  ...[...document.querySelectorAll("img, iframe, object, embed, base, link:not([href='data:,']), meta[http-equiv=refresh], a[href^='javascript:']")].map((one) => one.outerHTML),
  ...[...document.querySelectorAll("*")].filter((one) => [...one.attributes].some((name) => name.name.startsWith("on"))).map((one) => one.outerHTML),
]).concat(
  ...(globalThis.pwned === undefined ? [] : ["a script ran"]),
).map((text) => text.slice(0, 200));

const visit = async (place) => {
  const answer = await page.goto(new URL(place, base).href);
  await page.waitForTimeout(20);
  found.visited += 1;
  const bad = await page.evaluate(active);
  if (bad.length) found.active[place] = bad;
  const text = await page.evaluate(() => document.body.innerText);
  found.shown[place] = [answer.status(), text.includes("<img src=")];
  if (text.includes("made by hand")) found.byHand += 1;
  if (text.includes(secret)) found.leaked.push(place);
  return answer.status();
};

await page.goto(address);
for (const view of VIEWS) await visit(view);
await page.goto(`${base}results`);
const links = await page.$$eval("#content a", (all) => all.map((one) => one.href));
for (const link of links) {
  await visit(link);
  const more = await page.$$eval('#content a[href*="/report"], #content a[href*="/page"], #content a[href*="choice/"]', (all) => all.map((one) => one.href));
  for (const one of more) await visit(one);
}
for (let number = 1; number < 20; number += 1) for (const kind of ["page", "report"]) await visit(`results/${number}/${kind}`);
for (const place of OUTSIDE) found.outside[place] = await visit(place);
for (const place of ASKED) found.outside[place] = await visit(place);
await page.goto(`${base}plan`); // a schema that is pasted, and sent by the page's own form
for (const text of ["name = '<img src=x onerror=globalThis.pwned=1>'", `name = "s"\nlabel = "y"\n[[column]]\nname = "<img src=x onerror=globalThis.pwned=1>"\nkind = "numeric"\nbounds = [0, 1]\n[[column]]\nname = "y"\nkind = "categorical"\nvalues = ["a", "<svg onload=globalThis.pwned=1>"]\n`]) {
  await page.evaluate(([action, typed]) => {
    const form = document.createElement("form");
    form.method = "post";
    form.action = action;
    const field = document.createElement("textarea");
    field.name = "text";
    field.value = typed;
    form.append(field);
    document.body.append(form);
    form.submit();
  }, [`${base}plan`, text]);
  await page.waitForLoadState();
  await page.waitForTimeout(100);
  const bad = await page.evaluate(active);
  if (bad.length) found.active[`pasted ${text.slice(0, 20)}`] = bad;
}
found.foreign = [...asked].map((request) => request.url());
await browser.close();
console.log(JSON.stringify(found, null, 1));
