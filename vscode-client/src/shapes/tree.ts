/** The table of shapes as a tree: what the view shows, without the editor's types. */

import { amount, size } from "./numbers";
import { nameOf, outcomes } from "./result";
import type { Failure, Outcome, Place, ProbeMessage, ProbeResult, Row } from "./result";

export interface ShapeNode {
  readonly label: string;
  readonly description: string;
  /** Markdown; empty where the label says it all. */
  readonly tooltip: string;
  /** The name of a codicon. */
  readonly icon: string;
  readonly isExpanded: boolean;
  readonly children: readonly ShapeNode[];
  /** Where a click leads, with the first line as 1. */
  readonly place?: { readonly file: string; readonly line: number };
  /** What a click copies. */
  readonly copies?: string;
}

const STATUSES: Readonly<Record<string, readonly [icon: string, words: string]>> = {
  ok: ["pass", ""],
  running: ["loading~spin", "counting"],
  user_error: ["error", "fails"],
  exit: ["error", "the file ends the program while it is imported"],
  needs_args: ["question", "needs arguments"],
  missing_package: ["package", "a package is missing"],
  unsupported: ["circle-slash", "can't be checked"],
  timeout: ["watch", "took too long"],
  memory: ["error", "needs too much memory"],
  crash: ["bug", "the probe crashed"],
  cancelled: ["circle-slash", "cancelled"],
  no_torch: ["package", "the interpreter has no torch"],
};

/** One tree for each model that a message speaks of. */
export function shapeTrees(message: ProbeMessage): ShapeNode[] {
  return outcomes(message).map((outcome) => shapeTree(outcome, message.name ?? "the file"));
}

function shapeTree({ status, result }: Outcome, name: string): ShapeNode {
  const [icon, words] = STATUSES[status] ?? ["question", status];
  const parts = [words, totals(result)].filter((part) => part !== "");
  return node(nameOf(result, name), {
    description: parts.join(", "),
    icon,
    isExpanded: true,
    children: [
      ...failure(result.error),
      ...listed(result.problem).map((problem) => node(problem, { icon: "info" })),
      ...paste(result.paste),
      ...listed(result.missing).map((name) => node(name, { description: "is not installed", icon: "package" })),
      ...group("inputs", "arrow-right", named(result.inputs)),
      ...modules(result.rows ?? []),
      ...outputs(result.outputs),
      ...memory(result),
      ...group(
        "assumptions",
        "info",
        (result.assumptions ?? []).map((each) =>
          node(each.what, { description: `${shown(each.value)}, ${each.source.replaceAll("_", " ")}` }),
        ),
      ),
      ...(result.notices ?? []).map((each) => node(each.message, { icon: "warning", ...placed(each) })),
    ],
  });
}

function node(label: string, more: Partial<Omit<ShapeNode, "label">>): ShapeNode {
  return { label, description: "", tooltip: "", icon: "", isExpanded: false, children: [], ...more };
}

function group(label: string, icon: string, children: readonly ShapeNode[]): ShapeNode[] {
  return children.length === 0 ? [] : [node(label, { icon, children, description: String(children.length) })];
}

function totals({ totals: all }: ProbeResult): string {
  const params = all?.params == null ? "" : `${amount(all.params)} parameters`;
  const operations = all?.flops == null ? "" : flops(all.flops);
  return [params, operations].filter((part) => part !== "").join(", ");
}

function flops(value: number): string {
  return value >= 1000 ? `${amount(value)}FLOP` : `${value} FLOP`;
}

function memory({ totals: all }: ProbeResult): ShapeNode[] {
  const children = Object.entries(all?.bytes ?? {}).flatMap(([name, value]) =>
    value === null ? [] : [node(name.replaceAll("_", " "), { description: size(value) })],
  );
  return group("memory", "database", children);
}

function failure(error: Failure | null | undefined): ShapeNode[] {
  if (error == null) {
    return [];
  }
  const frames = error.frames ?? [];
  const last = frames.at(-1);
  const children = [
    ...(error.operands ?? []).map((operand) => node(operand, { icon: "symbol-array", description: error.op ?? "" })),
    ...[...frames].reverse().map((frame) =>
      node(frame.function ?? "", {
        icon: "debug-stackframe",
        description: frame.file === null ? "" : `${baseName(frame.file)}:${frame.line ?? ""}`,
        children: named(frame.tensors),
        ...placed(frame),
      }),
    ),
  ];
  return [node(error.message, { icon: "error", isExpanded: true, children, ...(last && placed(last)) })];
}

function paste(line: string | null | undefined): ShapeNode[] {
  if (line == null || line === "") {
    return [];
  }
  const tooltip = "Paste it above the class: it says what the model is built and called with.";
  return [node("copy a line that says how", { icon: "copy", description: line, tooltip, copies: line })];
}

function outputs(value: unknown): ShapeNode[] {
  if (value == null) {
    return [];
  }
  const children = typeof value === "object" && !Array.isArray(value) ? named(value as Record<string, unknown>) : [];
  const description = children.length === 0 ? shown(value) : String(children.length);
  return [node("outputs", { icon: "arrow-left", description, children })];
}

function named(values: Readonly<Record<string, unknown>> | undefined): ShapeNode[] {
  return Object.entries(values ?? {}).map(([name, value]) =>
    node(name, { icon: "symbol-array", description: shown(value) }),
  );
}

/** The rows below each other as the modules are. */
function modules(rows: readonly Row[]): ShapeNode[] {
  const below = new Map<string, Row[]>();
  const names = new Set(rows.map((row) => row.name));
  for (const row of rows) {
    if (row.name !== "") {
      const owner = nearestOwner(row.name, names);
      below.set(owner, [...(below.get(owner) ?? []), row]);
    }
  }
  const made = (row: Row, owner: string): ShapeNode => {
    const label = owner === "" ? row.name : row.name.slice(owner.length + 1);
    return moduleNode(
      label,
      row,
      (below.get(row.name) ?? []).map((each) => made(each, row.name)),
    );
  };
  const top = (below.get("") ?? []).map((row) => made(row, ""));
  const root = rows.find((row) => row.name === "");
  return root === undefined ? top : [{ ...moduleNode(root.type, root, top), isExpanded: true }];
}

/** Of `a.b.c` that of `a.b` and `a` which has a row. */
function nearestOwner(name: string, names: ReadonlySet<string>): string {
  for (let end = name.lastIndexOf("."); end > 0; end = name.lastIndexOf(".", end - 1)) {
    if (names.has(name.slice(0, end))) {
      return name.slice(0, end);
    }
  }
  return "";
}

function moduleNode(label: string, row: Row, children: readonly ShapeNode[]): ShapeNode {
  const flow = [shown(row.in), shown(row.out)].filter((part) => part !== "").join(" → ");
  const facts: [string, string][] = [
    ["type", row.type],
    ["in", shown(row.in)],
    ["out", shown(row.out)],
    ["dtype", row.dtype ?? ""],
    ["parameters", row.params == null ? "" : row.params.toLocaleString("en")],
    ["FLOPs", row.flops == null ? "" : row.flops.toLocaleString("en")],
    ["calls", row.calls == null || row.calls === 1 ? "" : String(row.calls)],
  ];
  const table = facts.filter(([, value]) => value !== "").map(([name, value]) => `| ${name} | ${value} |`);
  const parameters = row.params == null || row.params === 0 ? "" : amount(row.params);
  return node(label, {
    description: [row.type === label ? "" : row.type, flow, parameters].filter((part) => part !== "").join("  "),
    tooltip: [`**${row.name === "" ? row.type : row.name}**`, "", "| | |", "| --- | --- |", ...table].join("\n"),
    icon: children.length === 0 ? "symbol-method" : "symbol-class",
    children,
    ...placed(row),
  });
}

function placed({ file, line }: Place): Pick<ShapeNode, "place"> {
  return file == null || file === "" ? {} : { place: { file, line: line ?? 1 } };
}

function listed(value: unknown): string[] {
  return Array.isArray(value) ? value.map(shown) : value == null ? [] : [shown(value)];
}

function shown(value: unknown): string {
  if (value == null) {
    return "";
  }
  if (Array.isArray(value)) {
    return value.every((each) => typeof each === "number") ? `[${value.join(",")}]` : value.map(shown).join(", ");
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

function baseName(path: string): string {
  return path.split(/[/\\]/).at(-1) ?? path;
}
