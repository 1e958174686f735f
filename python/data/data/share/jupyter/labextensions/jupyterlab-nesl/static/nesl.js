// The colours of NESL in JupyterLab 4: cells, files and code in Markdown.
//
// JupyterLab finds extensions as containers of webpack's module federation. This one is small enough
// to be written by hand: `init` receives the packages that JupyterLab shares, `get` gives the plugin.
(function () {
  "use strict";

  let shared;

  // Returns a package of JupyterLab's own.
  async function use(name) {
    const versions = shared[name];
    const factory = await versions[Object.keys(versions)[0]].get();
    return factory();
  }

  const KEYWORDS = /^(?:function|datatype|let|in|if|then|else|time)\b/i;
  const LOGIC = /^(?:and|or|nand|nor|xor|not)\b/i;
  const CONSTANTS = /^(?:t|f)\b/i;
  const TYPES = /^(?:int|float|bool|char|stream|number|ordinal|logical|any)\b/i;

  // A tokenizer that goes line by line. The state is what lines share: an open comment or string; for
  // the indentation the brackets and `let`s that are open, a letter for each, and whether the text ends
  // with the `=` of a definition.
  const nesl = {
    name: "nesl",
    startState: () => ({ inside: null, open: "", body: false, first: true }),

    token(stream, state) {
      if (stream.sol()) {
        state.first = stream.string.trimStart().startsWith(":");
      }
      if (state.inside === "comment") {
        return skip(stream, state, /^[^%]*%/, "comment");
      }
      if (state.inside === "string") {
        return skip(stream, state, /^(?:[^"\\]|\\.)*"/, "string");
      }
      if (stream.eatSpace()) {
        return null;
      }
      if (state.first && stream.match(/^:[a-z]+/)) {
        state.first = false;
        return "meta";
      }
      state.first = false;
      if (stream.eat("%")) {
        state.inside = "comment";
        return skip(stream, state, /^[^%]*%/, "comment");
      }
      const wasBody = state.body;
      state.body = false;
      if (stream.eat('"')) {
        state.inside = "string";
        return skip(stream, state, /^(?:[^"\\]|\\.)*"/, "string");
      }
      if (stream.match(/^`./)) {
        return "character";
      }
      if (stream.match(/^(?:\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+)/)) {
        return "number";
      }
      if (stream.match(KEYWORDS)) {
        const word = stream.current().toLowerCase();
        if (word === "let") {
          state.open += "l";
        } else if (word === "in" && state.open.endsWith("l")) {
          state.open = state.open.slice(0, -1);
        }
        return "keyword";
      }
      if (stream.match(LOGIC)) {
        return "operatorKeyword";
      }
      if (stream.match(CONSTANTS)) {
        return "atom";
      }
      if (stream.match(TYPES)) {
        return "typeName";
      }
      if (stream.match(/^[A-Za-z_]\w*(?=\s*\()/)) {
        return "variableName.function";
      }
      if (stream.match(/^[A-Za-z_]\w*/)) {
        return "variableName";
      }
      if (stream.match(/^[([{]/)) {
        state.open += "b";
        return "bracket";
      }
      if (stream.match(/^[)\]}]/)) {
        state.open = state.open.slice(0, Math.max(0, state.open.lastIndexOf("b")));
        return "bracket";
      }
      if (stream.match(/^(?:->|<-|=>|:=|::|==|\/=|<=|>=|\+\+|\|\||[-+*/=<>:$#^@|])/)) {
        // A definition goes on after its `=`.
        state.body = stream.current() === "=" && state.open === "";
        return "operator";
      }
      if (!stream.eat(";")) {
        stream.next();
        state.body = wasBody;
      }
      return null;
    },

    indent(state, after, context) {
      const closes = /^\s*(?:[)\]}]|in\b)/.test(after) ? 1 : 0;
      const open = state.open.length + (state.body ? 1 : 0) - closes;
      return Math.max(0, open) * context.unit;
    },

    languageData: {
      commentTokens: { block: { open: "%", close: "%" } },
      closeBrackets: { brackets: ["(", "[", "{", '"'] },
      indentOnInput: /^\s*(?:[)\]}]|in)$/,
    },
  };

  // Goes to the end of a comment or string, or of the line if it does not end there.
  function skip(stream, state, end, style) {
    if (stream.match(end)) {
      state.inside = null;
    } else {
      stream.skipToEnd();
    }
    return style;
  }

  async function extension() {
    const { IEditorLanguageRegistry } = await use("@jupyterlab/codemirror");
    const { StreamLanguage, LanguageSupport } = await use("@codemirror/language");
    const plugin = {
      id: "jupyterlab-nesl:language",
      description: "The colours of NESL.",
      autoStart: true,
      requires: [IEditorLanguageRegistry],
      activate: (_app, languages) => {
        languages.addLanguage({
          name: "nesl",
          displayName: "NESL",
          mime: "text/x-nesl",
          extensions: ["nesl"],
          support: new LanguageSupport(StreamLanguage.define(nesl)),
        });
      },
    };
    return () => ({ __esModule: true, default: plugin });
  }

  const containers = (window._JUPYTERLAB = window._JUPYTERLAB || {});
  containers["jupyterlab-nesl"] = {
    init: (scope) => {
      shared = scope;
    },
    get: (module) =>
      module === "./extension"
        ? extension()
        : Promise.reject(new Error(`jupyterlab-nesl has no ${module}`)),
  };
})();
