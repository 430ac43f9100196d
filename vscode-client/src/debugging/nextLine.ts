import type { SyntaxNode } from "@lezer/common";
import { children, isStatement, statements, type PythonText } from "./syntax";

/**
 * The line on which the program stands once a statement is done, on the way where nothing raises or jumps; undefined
 * where the function or the module ends with it.
 */
export function lineAfter(source: PythonText, statement: SyntaxNode): number | undefined {
  const next = following(statement);
  if (next) return source.lineOf(next.from);
  const parent = statement.parent;
  if (!parent) return undefined;
  // `a = 1; b = 2` is one line: what follows is the line after.
  if (parent.name === "StatementGroup") return lineAfter(source, parent);
  return parent.name === "Body" && parent.parent ? lineAfterBlock(source, parent, parent.parent) : undefined;
}

/** The line of the first statement of a block that is run; undefined where there is none. */
export function firstLine(source: PythonText, block: SyntaxNode): number | undefined {
  const first = statements(block).find((each) => isRun(each));
  return first && source.lineOf(first.from);
}

function following(statement: SyntaxNode): SyntaxNode | undefined {
  for (let next = statement.nextSibling; next; next = next.nextSibling) {
    // The second half of a line that is one statement group has no line of its own.
    if (isStatement(next) && isRun(next) && statement.parent?.name !== "StatementGroup") return next;
  }
  return undefined;
}

/** The compiler leaves nothing of these on which a debugger could stop. */
function isRun(statement: SyntaxNode): boolean {
  if (statement.name === "ScopeStatement") return false;
  const only = statement.firstChild;
  if (statement.name === "ExpressionStatement" && only && !only.nextSibling) {
    return !["String", "ContinuedString", "Number", "None", "Boolean", "Ellipsis"].includes(only.name);
  }
  return statement.name !== "AssignStatement" || children(statement).some((each) => each.name === "AssignOp");
}

function lineAfterBlock(source: PythonText, block: SyntaxNode, owner: SyntaxNode): number | undefined {
  switch (owner.name) {
    case "ForStatement":
    case "WhileStatement":
      return clauseOf(source, block) === "else" ? lineAfter(source, owner) : lineOfNextRound(source, block, owner);
    case "TryStatement":
      return lineAfterTried(source, block, owner);
    case "IfStatement":
    case "WithStatement":
    case "MatchStatement":
      return lineAfter(source, owner);
    case "MatchClause":
      return owner.parent?.parent ? lineAfterBlock(source, owner.parent, owner.parent.parent) : undefined;
    default:
      return undefined;
  }
}

/** The word that opens the clause whose block this is: `for`, `else`, `except`, `finally`, ... */
function clauseOf(source: PythonText, block: SyntaxNode): string {
  for (let before = block.prevSibling; before; before = before.prevSibling) {
    const word = source.of(before);
    if (/^(?:if|elif|else|for|while|try|except|finally|with)$/.test(word)) return word;
  }
  return "";
}

function lineOfNextRound(source: PythonText, block: SyntaxNode, loop: SyntaxNode): number | undefined {
  // A test that can't fail is compiled away, and its line with it.
  const endless = /^while[\s(]*(?:True|1)[\s)]*:/.test(source.of(loop));
  return endless ? firstLine(source, block) : source.lineOf(loop.from);
}

function lineAfterTried(source: PythonText, block: SyntaxNode, statement: SyntaxNode): number | undefined {
  const blocks = children(statement).filter((each) => each.name === "Body");
  const named = (clause: string): SyntaxNode | undefined => blocks.find((each) => clauseOf(source, each) === clause);
  const clause = clauseOf(source, block);
  const orElse = clause === "try" ? named("else") : undefined;
  const next = orElse ?? (clause === "finally" ? undefined : named("finally"));
  return next ? firstLine(source, next) : lineAfter(source, statement);
}
