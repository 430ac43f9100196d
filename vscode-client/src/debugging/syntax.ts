import type { SyntaxNode, Tree } from "@lezer/common";
import { parser } from "@lezer/python";

/** A Python file as it stands in the editor, whole or half-typed. Offsets count UTF-16 units, lines from zero. */
export class PythonText {
  readonly tree: Tree;
  readonly #lineStarts: number[];

  constructor(readonly text: string) {
    this.tree = parser.parse(text);
    this.#lineStarts = [0, ...Array.from(text.matchAll(/\r\n|\r|\n/g), (found) => found.index + found[0].length)];
  }

  of(node: SyntaxNode): string {
    return this.text.slice(node.from, node.to);
  }

  lineOf(offset: number): number {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#lineStarts[middle] ?? Infinity) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  startOf(line: number): number {
    return this.#lineStarts[line] ?? this.text.length;
  }
}

export function children(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) found.push(child);
  return found;
}

export function* ancestors(node: SyntaxNode): Generator<SyntaxNode> {
  for (let each: SyntaxNode | null = node; each; each = each.parent) yield each;
}

const BLOCKS = new Set(["Script", "Body", "StatementGroup"]);

/** The innermost statement around a node, simple or compound. */
export function statementOf(node: SyntaxNode): SyntaxNode | undefined {
  for (const each of ancestors(node)) {
    if (BLOCKS.has(each.name)) return undefined;
    if (each.parent && BLOCKS.has(each.parent.name) && isStatement(each)) return each;
  }
  return undefined;
}

/** Not punctuation, a comment or the rest of something half-typed. */
export function isStatement(node: SyntaxNode): boolean {
  return node.name.endsWith("Statement") || node.name.endsWith("Definition") || node.name === "StatementGroup";
}

/** The statements of a block. */
export function statements(block: SyntaxNode): SyntaxNode[] {
  return children(block).filter(isStatement);
}
