// Prints, for each query of a JSON list on stdin, the pages that the site in argv[2] finds, best
// first: by the scripts of its own search page, in their order, with as much of a browser as they use.
"use strict";
const { readFileSync } = require("fs");
const { createContext, runInContext } = require("vm");

const [, , site] = process.argv;
const read = (name) => readFileSync(`${site}/${name}`, "utf8");
const nothing = () => null;
const location = { search: "" };
const page = createContext({
  document: { getElementById: nothing },
  localStorage: { setItem: nothing },
  location,
  SPHINX_HIGHLIGHT_ENABLED: false,
  URLSearchParams,
  _: (text) => text,
  _ready: nothing,
});
page.window = page;

const SEARCH = /^(_static\/(searchtools|language_data)|searchindex)\.js$/;
for (const [, name] of read("search.html").matchAll(/<script src="([^"?]*)/g))
  if (SEARCH.test(name)) runInContext(read(name), page);
const find = runInContext("(q) => Search._performSearch(...Search._parseQuery(q)).reverse()", page);

const answers = JSON.parse(readFileSync(0, "utf8")).map((query) => {
  location.search = `?${new URLSearchParams({ q: query })}`;
  return find(query).map(([name, title, , described]) => ({ page: name, title, described }));
});
process.stdout.write(JSON.stringify(answers));
