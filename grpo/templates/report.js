"use strict";
// Everything that is shown goes through textContent: prompts and completions are strangers' text.
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const add = (parent, tag, text, name) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  return parent.appendChild(element);
};
const number = (value, digits = 3) => (value === undefined || value === null ? "" : value.toFixed(digits));

let shown = []; // steps that hold a group of the chosen type
let place = 0;

function wanted(group) {
  return (!at("type").value || group.type === at("type").value) && !(at("taught").checked && group.degenerate);
}

function filter() {
  const before = shown[place];
  shown = data.steps.filter((one) => one.groups.some(wanted)).map((one) => one.step);
  const later = shown.findIndex((step) => step >= before);
  place = before === undefined ? 0 : later < 0 ? Math.max(0, shown.length - 1) : later;
  at("step").replaceChildren();
  shown.forEach((step, index) => { add(at("step"), "option", step).value = index; });
  at("slide").max = Math.max(0, shown.length - 1);
  show();
}

function show() {
  at("step").value = place;
  at("slide").value = place;
  at("back").disabled = place <= 0;
  at("on").disabled = place >= shown.length - 1;
  at("groups").replaceChildren();
  const one = data.steps.find((entry) => entry.step === shown[place]);
  const groups = one ? one.groups.filter(wanted) : [];
  at("count").textContent = one
    ? `step ${one.step}: ${groups.length} of ${one.groups.length} groups; step ${place + 1} of ${shown.length} that match`
    : "no group matches";
  for (const group of groups) at("groups").appendChild(card(group));
}

function card(group) {
  const article = document.createElement("article");
  const heading = `${group.type} (prompt ${group.number}, ${group.tokens} tokens)`;
  add(article, "h3", heading + (group.degenerate ? ": all rewards equal, nothing to learn" : ""));
  for (const [role, index] of group.messages) {
    const details = add(article, "details");
    details.open = role === "user";
    add(details, "summary", role);
    add(details, "pre", data.texts[index]);
  }
  if (group.metadata) {
    const details = add(article, "details");
    add(details, "summary", "what the task knows");
    add(details, "pre", group.metadata);
  }
  const table = add(add(article, "div", undefined, "scroll"), "table");
  const parts = [...new Set(group.completions.flatMap((one) => Object.keys(one.parts)))];
  const head = add(add(table, "thead"), "tr");
  for (const name of ["#", "reward", "advantage", ...parts, "tokens"]) add(head, "th", name);
  const body = add(table, "tbody");
  group.completions.forEach((one, index) => {
    const row = add(body, "tr", undefined, "numbers");
    add(row, "td", index + 1);
    add(row, "td", number(one.reward));
    add(row, "td", number(one.advantage, 2), one.advantage > 0 ? "up" : one.advantage < 0 ? "down" : "");
    for (const name of parts) add(row, "td", number(one.parts[name], 2));
    add(row, "td", one.tokens + (one.finish === "length" ? " (cut off)" : ""));
    const text = add(add(body, "tr"), "td", undefined, "completion");
    text.colSpan = parts.length + 4;
    add(text, "pre", one.text);
    if (one.reason) add(text, "small", "gate closed: " + one.reason);
  });
  return article;
}

const go = (index) => { place = index; show(); };
at("back").addEventListener("click", () => go(place - 1));
at("on").addEventListener("click", () => go(place + 1));
at("step").addEventListener("change", () => go(Number(at("step").value)));
at("slide").addEventListener("input", () => go(Number(at("slide").value)));
at("type").addEventListener("change", filter);
at("taught").addEventListener("change", filter);
add(at("type"), "option", "all").value = "";
for (const type of [...new Set(data.steps.flatMap((one) => one.groups.map((group) => group.type)))].sort()) {
  add(at("type"), "option", type).value = type;
}
filter();
