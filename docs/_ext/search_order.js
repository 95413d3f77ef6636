/* The order of search results: the page whose title and file name have the words asked for.

Sphinx alone ranks by one word that is in some heading, and entries of the API above pages. Here a
page comes first that has all words in its title, its address or its line of WORDS; entries of the
API come last, unless their exact name was asked for, as in epsilon_for or BudgetExceeded. */
var Scorer = (() => {
  // Words that readers type, of pages that have them neither in the title nor in the address.
  const WORDS = {
    "decide/epsilon": "rho delta nats value",
    "decide/mechanism": "choose count sum mean average decision",
    "howto/from-diffprivlib": "migrate ibm",
    "howto/from-opendp": "migrate smartnoise",
    "howto/from-tumult": "migrate spark",
    "howto/images-and-batch-systems": "docker container kubernetes slurm slow compile",
    "howto/large-files": "memory parquet csv out of core big",
    "howto/many-quantiles": "deciles quartiles percentiles joint",
    "howto/medians-by-group": "pandas polars duckdb spark dask sql groupby",
    "howto/numbers-without-bounds": "unknown digits range",
    "howto/on-a-cluster": "databricks workers cluster",
    "howto/publication": "toml sign",
    "howto/top-k": "most frequent best",
    "reference/errors/index": "exception remedy",
    "reference/formats": "reproducible seed rng format",
    "trust/limits": "not private limitations timing",
    "tutorial/budgets": "label",
    "tutorial/private-groups": "private list unknown groups",
  };
  // Among pages that are equally near: recipes and lessons first, history last.
  const ROOMS = { howto: 5, faq: 4, start: 4, tutorial: 4, decide: 3, reference: 2, trust: 1 };
  const NAME = /^\w*(_|\.|[a-z][A-Z])\w/; // as an identifier is written

  const words = (text) => {
    const stemmer = new Stemmer();
    const all = splitQuery(text.toLowerCase().replaceAll("ε", "epsilon"));
    return new Set(all.filter((word) => !stopwords.has(word)).map((w) => stemmer.stemWord(w)));
  };
  const share = (asked, there) =>
    [...asked].filter((word) => there.has(word)).length / Math.max(asked.size, 1);

  const score = ([page, title, , described, found]) => {
    const query = new URLSearchParams(window.location.search).get("q") || "";
    if (described !== null || page.startsWith("reference/api/")) {
      const exact = NAME.test(query) && title.split(".").pop() === query.split(".").pop();
      return found + (exact ? 500 : -500);
    }
    const asked = words(query);
    const named = words(title);
    const address = words(page);
    const all = new Set([...named, ...address, ...words(WORDS[page] || "")]);
    const others = [...named].filter((word) => !asked.has(word)).length;
    const room = ROOMS[page.split("/")[0]] || 0;
    return (
      100 * share(asked, all) + 30 * share(asked, address) - others + room + Math.min(found, 15)
    );
  };

  return {
    objNameMatch: 11,
    objPartialMatch: 6,
    objPrio: { 0: 15, 1: 5, 2: -5 },
    objPrioDefault: 0,
    title: 15,
    partialTitle: 7,
    term: 5,
    partialTerm: 2,
    score,
  };
})();
