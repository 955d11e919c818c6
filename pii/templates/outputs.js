"use strict";
const at = (id) => document.getElementById(id);
const articles = [...document.querySelectorAll("#documents article")];

function matches(article) {
  const split = at("split").value, kind = at("kind").value, type = at("type").value;
  if (split && article.dataset.split !== split) return false;
  if (kind) {
    const faults = JSON.parse(article.dataset.faults);
    return faults.some(([found, ...types]) => found === kind && (!type || types.includes(type)));
  }
  return !type || article.dataset.types.split(" ").includes(type);
}

function show() {
  const order = at("order").value;
  const name = order.replace("-", ""), sign = order.startsWith("-") ? -1 : 1;
  articles.sort((a, b) => sign * (a.dataset[name] - b.dataset[name]) || a.dataset.place - b.dataset.place);
  let count = 0;
  for (const article of articles) {
    article.hidden = !matches(article);
    count += !article.hidden;
    at("documents").appendChild(article);
  }
  at("count").textContent = `${count} of ${articles.length} documents`;
}

for (const id of ["split", "kind", "type", "order"]) at(id).addEventListener("change", show);
show();
