/* The order of search results: pages whose title, address or section has the words asked for.

Sphinx alone ranks by a single word in some heading, and entries of the API above pages. Here a page
comes first that has all words in its title, its address or its line of WORDS, then one that has
them in a section's title. Entries of the API come last, unless their name is asked for exactly, as
epsilon_for or BudgetExceeded. */
var Scorer = (() => {
  // Words that readers type, of pages that have them neither in the title nor in the address.
  const WORDS = {
    "decide/epsilon": "rho delta nats value",
    "decide/mechanism": "count sum mean average decision",
    "howto/from-diffprivlib": "migrate ibm",
    "howto/from-opendp": "migrate smartnoise",
    "howto/from-tumult": "migrate",
    "howto/images-and-batch-systems": "docker container kubernetes slurm compile",
    "howto/large-files": "memory parquet csv big",
    "howto/many-quantiles": "deciles quartiles percentiles joint",
    "howto/medians-by-group": "pandas polars duckdb sql groupby",
    "howto/numbers-without-bounds": "unknown digits range",
    "howto/on-a-cluster": "databricks workers cluster",
    "howto/publication": "toml sign",
    "howto/top-k": "most frequent best",
    "reference/errors/index": "exception remedy",
    "reference/formats": "reproducible seed rng",
    "trust/exactness": "proof rounding",
    "trust/limits": "limitations timing",
    "tutorial/budgets": "label composition",
    "tutorial/private-groups": "private list unknown",
  };
  // Among pages that are equally near: recipes and lessons first, history last.
  const ROOMS = { howto: 6, faq: 5, start: 5, tutorial: 5, decide: 4, reference: 3, trust: 2 };
  const NAME = /^\w*(_|\.|[a-z][A-Z])\w/; // as an identifier is written

  const words = (text) => {
    const stemmer = new Stemmer();
    const all = splitQuery(text.toLowerCase().replaceAll("ε", "epsilon"));
    return new Set(all.filter((word) => !stopwords.has(word)).map((w) => stemmer.stemWord(w)));
  };
  const share = (asked, there) =>
    [...asked].filter((word) => there.has(word)).length / Math.max(asked.size, 1);
  const others = (asked, there) => [...there].filter((word) => !asked.has(word)).length;

  let sections; // of each page, the words of each title
  const sectionsOf = (page) => {
    if (!sections) {
      sections = {};
      for (const [title, places] of Object.entries(Search._index.alltitles))
        for (const [number] of places)
          (sections[Search._index.docnames[number]] ||= []).push(words(title));
    }
    return sections[page] || [];
  };

  const score = ([page, title, anchor, described, found]) => {
    const query = new URLSearchParams(window.location.search).get("q") || "";
    if (described !== null || page.startsWith("reference/api/")) {
      const exact = NAME.test(query) && title.split(".").pop() === query.split(".").pop();
      return found + (exact ? 500 : -500);
    }
    if (anchor.startsWith("#term-")) return 0.9 * found; // of the glossary
    const isFamily = /^reference\/errors\/(?!index)/.test(page); // of messages
    const asked = words(query);
    const [named, address] = [words(title), words(isFamily ? "" : page)];
    const all = new Set([...named, ...address, ...words(WORDS[page] || "")]);
    const excess = others(asked, named) + others(asked, address) / 2;
    const whole = 100 * share(asked, all) + 30 * share(asked, address) - excess;
    const parts = sectionsOf(page).map((part) => 90 * share(asked, part) - others(asked, part));
    const room = isFamily ? -10 : ROOMS[page.split("/")[0]] || 0;
    return Math.max(whole, ...parts) + room;
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
