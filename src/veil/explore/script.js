"use strict";
// Everything works without this: it only saves reloads, copies text, and makes the grid one stop for the Tab key.
(() => {
  let asked = 0;

  const show = async (address, form) => {
    const mine = ++asked;
    const url = new URL(address, location.href);
    const named = new URL(url);
    url.searchParams.set("part", "1");
    const answer = await fetch(url, { credentials: "same-origin" });
    const found = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = found.getElementById("content");
    const here = document.getElementById("content");
    if (mine !== asked) return;
    if (!fresh) { location.assign(named); return; }
    here.replaceWith(fresh);
    const title = found.querySelector("h1");
    if (title) document.querySelector("h1").textContent = title.textContent;
    history.replaceState(null, "", named);
    if (!form) renew(found);
    tell(found);
    ready(fresh);
  };

  // after a link, the controls show what the link chose
  const renew = (found) => {
    for (const field of found.querySelectorAll("form.controls [name]")) {
      const own = document.querySelector(`form.controls [name="${CSS.escape(field.name)}"]`);
      if (own) own.value = field.value;
    }
  };

  // what the places of sliders stand for
  const tell = (found) => {
    for (const said of found.querySelectorAll("form.controls output[data-of]")) {
      const own = document.querySelector(`form.controls output[data-of="${CSS.escape(said.dataset.of)}"]`);
      if (!own) continue;
      own.textContent = said.textContent;
      own.closest("label").querySelector("input").setAttribute("aria-valuetext", said.textContent);
    }
  };

  // a range that is dragged on a picture goes to the sliders, which ask for it
  const slide = (svg, from, to) => {
    const [left, right, ...sizes] = svg.dataset.drag.split(" ").map(Number);
    const box = svg.getBoundingClientRect();
    const form = document.querySelector("form.controls");
    const shares = (event) => [((event.clientX - box.left) / box.width - left) / (right - left), 1 - (event.clientY - box.top) / box.height];
    [["from", "to"], ["up_from", "up_to"]].forEach((names, axis) => {
      if (!sizes[axis]) return;
      const ends = [from, to].map((event) => Math.max(0, Math.min(sizes[axis] - 1, Math.floor(shares(event)[axis] * sizes[axis]))));
      ends.sort((one, other) => one - other).forEach((end, place) => { form.elements[names[place]].value = end; });
    });
    show(address(form), form);
  };

  const drag = (svg) => svg.addEventListener("pointerdown", (from) => {
    if (from.button || !document.querySelector("form.controls input[type=range]")) return;
    from.preventDefault();
    addEventListener("pointerup", (to) => slide(svg, from, to), { once: true });
  });

  // by its attribute: a control that is called "method" hides the form's own
  const asks = (form) => form.getAttribute("method") === "get";

  const address = (form) => {
    const url = new URL(form.getAttribute("action"), location.href);
    for (const [name, value] of new FormData(form)) if (value !== "") url.searchParams.set(name, value);
    return url;
  };

  const copy = (box) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const text = box.querySelector("pre").textContent;
      try { await navigator.clipboard.writeText(text); } catch { select(box.querySelector("pre")); document.execCommand("copy"); }
      button.textContent = "Copied";
      button.setAttribute("aria-live", "polite");
    });
    box.append(button);
  };

  const select = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  };

  const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

  const walk = (table) => {
    const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.querySelector("a")));
    const links = rows.flat().filter(Boolean);
    links.forEach((link, place) => { link.tabIndex = place ? -1 : 0; });
    table.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      const link = event.target.closest("tbody a");
      if (!step || !link) return;
      let row = rows.findIndex((cells) => cells.includes(link));
      let column = rows[row].indexOf(link);
      do { row += step[0]; column += step[1]; } while (rows[row] && column in rows[row] && !rows[row][column]);
      const next = rows[row] && rows[row][column];
      if (!next) return;
      event.preventDefault();
      link.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  };

  const ready = (part) => {
    part.querySelectorAll(".give").forEach(copy);
    part.querySelectorAll("table.grid").forEach(walk);
    part.querySelectorAll("svg[data-drag]").forEach(drag);
  };

  document.addEventListener("change", (event) => {
    const form = event.target.closest("form.controls");
    if (form && asks(form) && event.target.type !== "range") show(address(form), form);
  });
  let soon = 0;
  document.addEventListener("input", (event) => {
    const form = event.target.type === "range" && event.target.closest("form.controls");
    if (!form) return;
    clearTimeout(soon);
    soon = setTimeout(() => show(address(form), form), 60);
  });
  document.addEventListener("submit", (event) => {
    if (event.target.matches("form.controls") && asks(event.target)) {
      event.preventDefault();
      show(address(event.target), event.target);
    }
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("table.grid a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    show(link.href, null).then(() => {
      const again = [...document.querySelectorAll("table.grid a")].find((other) => other.href === link.href);
      if (again) { again.tabIndex = 0; again.focus({ preventScroll: true }); }
    });
  });
  ready(document);
})();
