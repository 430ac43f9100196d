import type { SyntaxNode } from "@lezer/common";
import { firstLine, lineAfter } from "./nextLine";
import { ancestors, children, statementOf, type PythonText } from "./syntax";

/** What somebody points at, and where the program can be asked for it. */
export interface WatchedValue {
  /** Reading them has no effect: names, attributes, items, arithmetic. */
  readonly expressions: readonly string[];
  /** From zero: when the program comes to this line, the expressions have the values that were meant. */
  readonly line: number;
  /** Whether the names say that it is a loss, logits or a gradient. */
  readonly isTelling: boolean;
}

/** Why there is nothing to watch; it is shown to whoever asked. */
export type NothingToWatch = "noValue" | "nothingAfter";

/**
 * The value under the cursor, or the selected expression. On an assignment it is what is assigned, and the line is the
 * one that runs afterwards; a value that is only used is asked for on the line that uses it.
 */
export function watchedValue(source: PythonText, from: number, to: number): WatchedValue | NothingToWatch {
  const node = selectedNode(source, from, to);
  const statement = statementOf(node);
  if (!statement) return "noValue";
  const value = readable(source, node, statement);
  if (value && bindsBeforeBody(source, value, statement)) return inBody(source, value, statement);
  const targets = assigned(source, statement);
  if (value && !targets.some((each) => each.from <= value.from && value.to <= each.to)) {
    return {
      expressions: [source.of(value)],
      line: source.lineOf(lineHead(statement).from),
      isTelling: tells(source, value),
    };
  }
  return targets.length > 0 ? afterAssignment(source, statement, targets) : "noValue";
}

function afterAssignment(
  source: PythonText,
  statement: SyntaxNode,
  targets: readonly SyntaxNode[],
): WatchedValue | NothingToWatch {
  const line = lineAfter(source, statement);
  if (line === undefined) return "nothingAfter";
  const isTelling = targets.some((each) => tells(source, each)) && givesATensor(source, statement);
  return { expressions: [...new Set(targets.map((each) => source.of(each)))], line, isTelling };
}

function inBody(source: PythonText, name: SyntaxNode, statement: SyntaxNode): WatchedValue | NothingToWatch {
  const body = children(statement).find((each) => each.name === "Body" && each.from >= name.to);
  const line = body && firstLine(source, body);
  if (line === undefined) return "nothingAfter";
  return { expressions: [source.of(name)], line, isTelling: tells(source, name) };
}

function selectedNode(source: PythonText, from: number, to: number): SyntaxNode {
  const text = source.text.slice(from, to);
  const start = from + (text.length - text.trimStart().length);
  const end = from + text.trimEnd().length;
  if (start < end) {
    for (const each of ancestors(source.tree.resolveInner(start, 1))) {
      if (each.from === start && each.to === end && isExpression(each)) return each;
      if (each.to > end) break;
    }
  }
  const after = source.tree.resolveInner(from, 1);
  return WORDS.has(after.name) ? after : source.tree.resolveInner(from, -1);
}

const WORDS = new Set(["VariableName", "PropertyName", "String", "Number"]);
const READ = new Set([
  "VariableName",
  "MemberExpression",
  "BinaryExpression",
  "UnaryExpression",
  "ParenthesizedExpression",
]);
const PARTS = new Set([...READ, ...WORDS, "None", "Boolean", "ArithOp", ".", "[", "]", "(", ")", ":", ","]);
/** Their names live in a scope of their own, or are no values of this program. */
const CLOSED =
  /^(?:Lambda|.*Comprehension)Expression$|^(?:Import|Scope|Delete)Statement$|^(?:Decorator|TypeDef|TypeParamList)$/;

function isExpression(node: SyntaxNode): boolean {
  return READ.has(node.name) && isPure(node);
}

function isPure(node: SyntaxNode): boolean {
  return PARTS.has(node.name) && children(node).every(isPure);
}

/** The expression that ends with the word under the cursor, if it can be read without an effect. */
function readable(source: PythonText, node: SyntaxNode, statement: SyntaxNode): SyntaxNode | undefined {
  if (isClosed(node, statement) || isDefinedName(node)) return undefined;
  const found = WORDS.has(node.name) && node.name !== "VariableName" ? node.parent : node;
  if (!found || !isExpression(found)) return undefined;
  return isCalled(found) ? differentiated(source, found) : found;
}

function isCalled(node: SyntaxNode): boolean {
  return node.parent?.name === "CallExpression" && node.nextSibling?.name === "ArgList";
}

/** Of `loss.backward()` the loss; of other calls what they return is meant, which has no name yet. */
function differentiated(source: PythonText, called: SyntaxNode): SyntaxNode | undefined {
  const owner = source.of(called).endsWith(".backward") ? called.firstChild : undefined;
  return owner && isExpression(owner) ? owner : undefined;
}

function isClosed(node: SyntaxNode, statement: SyntaxNode): boolean {
  for (const each of ancestors(node)) {
    if (CLOSED.test(each.name)) return true;
    if (each.from === statement.from && each.to === statement.to) break;
  }
  return CLOSED.test(statement.name);
}

/** The name of a function, a class or a keyword argument. */
function isDefinedName(node: SyntaxNode): boolean {
  const parent = node.parent?.name ?? "";
  if (parent === "ArgList") return node.nextSibling?.name === "AssignOp";
  return parent === "ClassDefinition" || parent === "FunctionDefinition";
}

/** Loop variables, parameters and what `with` gives a name: they have their value from the first line of the body. */
function bindsBeforeBody(source: PythonText, name: SyntaxNode, statement: SyntaxNode): boolean {
  const words = children(statement).filter((each) => each.to <= name.from);
  const last = words.map((each) => source.of(each)).filter((each) => /^\w+$/.test(each));
  switch (statement.name) {
    case "FunctionDefinition":
      return name.parent?.name === "ParamList" && name.prevSibling?.name !== "AssignOp";
    case "ForStatement":
      return last.includes("for") && !last.includes("in");
    case "WithStatement":
      return last.at(-1) === "as" || name.parent?.prevSibling?.name === "as";
    default:
      return false;
  }
}

function lineHead(statement: SyntaxNode): SyntaxNode {
  return statement.parent?.name === "StatementGroup" ? statement.parent : statement;
}

/** What an assignment gives a value, with tuples taken apart; `_` is what nobody looks at. */
function assigned(source: PythonText, statement: SyntaxNode): SyntaxNode[] {
  if (statement.name !== "AssignStatement" && statement.name !== "UpdateStatement") return [];
  const parts = children(statement);
  const last = parts.findLastIndex((each) => each.name === "AssignOp" || each.name === "UpdateOp");
  return parts.slice(0, Math.max(last, 0)).flatMap((each) => targets(source, each));
}

function targets(source: PythonText, node: SyntaxNode): SyntaxNode[] {
  if (["TupleExpression", "ArrayExpression", "ParenthesizedExpression"].includes(node.name)) {
    return children(node).flatMap((each) => targets(source, each));
  }
  const isTarget = node.name === "VariableName" || node.name === "MemberExpression";
  return isTarget && isPure(node) && source.of(node) !== "_" ? [node] : [];
}

/** False where the right side is a literal, or an instance of a class: `loss = nn.CrossEntropyLoss()`. */
function givesATensor(source: PythonText, statement: SyntaxNode): boolean {
  const right = children(statement).findLast((each) => each.name !== "Comment");
  if (!right) return false;
  if (right.name === "CallExpression" && right.firstChild) {
    return !/^[A-Z]/.test(lastWord(source.of(right.firstChild)));
  }
  return !["Number", "None", "Boolean", "String", "ArrayExpression", "DictionaryExpression"].includes(right.name);
}

const TELLING =
  /(?:^|_)(?:loss(?:es)?|logits?|grads?|gradients?|nll)(?:_(?:norm|sum|mean|total|scaled|per_\w+|[a-z]|\d+))?\d*$/i;

function tells(source: PythonText, node: SyntaxNode): boolean {
  return TELLING.test(lastWord(source.of(node)));
}

/** `logits` of `outputs.logits` and of `outputs["logits"]`. */
function lastWord(expression: string): string {
  return /(\w+)\W*$/.exec(expression.replace(/\[[\d\s:,-]*\]$/, ""))?.[1] ?? "";
}
