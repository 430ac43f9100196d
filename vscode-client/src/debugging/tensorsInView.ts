import type { SyntaxNode } from "@lezer/common";
import { ancestors, type PythonText } from "./syntax";

/** A name, attribute or item that is read or written somewhere in the text; offsets are those of the text. */
export interface Mention {
  readonly expression: string;
  readonly from: number;
  readonly to: number;
}

/** What the function around a line mentions between two lines, each expression once a line; lines from zero. */
export function mentions(source: PythonText, first: number, stopped: number): Mention[] {
  const scope = scopeAround(source, stopped);
  const found = new Map<string, Mention>();
  scope.cursor().iterate(({ node }) => {
    if (node.from !== scope.from && SCOPES.has(node.name)) return false;
    const line = source.lineOf(node.from);
    if ((node.name === "VariableName" || node.name === "MemberExpression") && line >= first && line <= stopped) {
      const expression = normalized(source.of(node));
      const key = `${line} ${expression}`;
      if (IN_A_FRAME.test(expression) && !found.has(key)) found.set(key, { expression, from: node.from, to: node.to });
    }
    return true;
  });
  return [...found.values()];
}

/**
 * A Python expression for the values of a frame; `readSummaries` reads its result. It runs nothing of the program:
 * attributes are taken as they are stored, because asking for them by name could run a property.
 */
export function summariesQuestion(asked: readonly Mention[]): string {
  const names = [...new Set(asked.map(({ expression }) => /^\w+/u.exec(expression)?.[0] ?? ""))];
  // An evaluated expression sees the frame's names only outside of its own inner scopes: `locals()` stands in the
  // outermost iterable, and everything else comes by way of `__import__`.
  return `__import__("json").dumps({
      name + path: [list(part.shape), str(part.dtype), str(part.device)]
      for name, value in locals().items()
      if name in ${JSON.stringify(names)} and not isinstance(value, type(__import__("sys")))
      for parts in [
        [("", value)],
        [('["%s"]' % key, part) for key, part in list(value.items())[:${MOST}] if isinstance(key, str)]
        if isinstance(value, (dict, __import__("collections").UserDict)) else [],
        [("[%d]" % at, part) for at, part in enumerate(value[:${MOST}])] if isinstance(value, (list, tuple)) else [],
        [
          (".%s" % key, part)
          for fields in [object.__getattribute__(value, "__dict__")] if isinstance(fields, dict)
          for table in [fields, fields.get("_parameters"), fields.get("_buffers")] if isinstance(table, dict)
          for key, part in list(table.items())[:${MOST}]
        ]
        if getattr(type(value), "__dictoffset__", 0) else [],
      ]
      for path, part in parts
      if isinstance(part, getattr(__import__("sys").modules.get("torch"), "Tensor", ()))
      and not hasattr(part, "materialize")
    }).encode().hex()`.replace(/\s*\n\s*/g, " ");
}

/** `[2, 16, 768] float32 cuda:0` for each expression that is a tensor; empty where the answer is none of ours. */
export function readSummaries(answer: string): Map<string, string> {
  const hexadecimal = /^'([\da-f]+)'$/.exec(answer)?.[1];
  if (hexadecimal === undefined) return new Map();
  const sent = JSON.parse(Buffer.from(hexadecimal, "hex").toString("utf8")) as Record<
    string,
    [number[], string, string]
  >;
  const summary = ([shape, dtype, device]: [number[], string, string]): string =>
    `[${shape.join(", ")}] ${dtype.replace(/^torch\./, "")} ${device}`;
  return new Map(Object.entries(sent).map(([expression, each]) => [expression, summary(each)]));
}

/** So many items or attributes of one value are looked at, because the program stands still meanwhile. */
const MOST = 50;

const SCOPES = new Set(["FunctionDefinition", "ClassDefinition", "LambdaExpression"]);
const IN_A_FRAME = /^[^\W\d]\w*(?:\.\w+|\["[^"\\]*"\]|\[\d+\])?$/u;

function scopeAround(source: PythonText, line: number): SyntaxNode {
  const text = source.text.slice(source.startOf(line), source.startOf(line + 1));
  const offset = source.startOf(line) + (text.length - text.trimStart().length);
  for (const each of ancestors(source.tree.resolveInner(offset, 1))) {
    if (each.name === "FunctionDefinition" && each.from < offset) return each;
  }
  return source.tree.topNode;
}

function normalized(expression: string): string {
  return expression.replace(/\s+/g, "").replace(/\['([^'"]*)'\]$/, '["$1"]');
}
