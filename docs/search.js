// Pages rank before entries of the API, and titles with more of the typed words before others.
const typed = (new URLSearchParams(location.search).get("q") ?? "").toLowerCase().match(/\w\w+/g);
var Scorer = {
  objNameMatch: 11, // these are Sphinx's own
  objPartialMatch: 6,
  objPrio: {},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([page, title, , , score]) =>
    score +
    5 * (typed ?? []).filter((word) => title.toLowerCase().includes(word)).length -
    (/^(reference|changes)/.test(page) ? 8 : 0),
};
