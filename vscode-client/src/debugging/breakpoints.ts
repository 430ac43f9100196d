import {
  CodeAction,
  CodeActionKind,
  commands,
  debug,
  languages,
  Location,
  Position,
  Range,
  SourceBreakpoint,
  window,
} from "vscode";
import type { CodeActionProvider, Disposable, TextDocument, TextEditor, Uri } from "vscode";
import { joined, type Effect } from "./joining";
import { mayTell, mentionsTorch, notFinite, shapeMessage, torchIn } from "./conditions";
import type { NothingToWatch, WatchedValue } from "./watchedValue";

type Kind = "breakWhenNotFinite" | "logShapeHere";

const TITLES: Record<Kind, string> = {
  breakWhenNotFinite: "Break when this is NaN or infinite",
  logShapeHere: "Log shape, dtype and device here",
};
const KINDS = Object.keys(TITLES) as Kind[];

const WHY_NOT: Record<NothingToWatch, string> = {
  noValue: "Put the cursor on a variable, an attribute or an item, or select an expression that calls nothing.",
  nothingAfter:
    "Nothing runs after this assignment where its value could be looked at; add a line behind it, `pass` suffices.",
};

/** The two commands, and the code actions that offer them on what is called a loss, logits or a gradient. */
export function registerBreakpoints(): Disposable[] {
  return [
    ...KINDS.map((kind) => commands.registerTextEditorCommand(`llmLint.${kind}`, (editor) => void place(kind, editor))),
    languages.registerCodeActionsProvider({ language: "python" }, offered, {
      providedCodeActionKinds: [CodeActionKind.Empty.append("debug")],
    }),
  ];
}

const offered: CodeActionProvider = {
  async provideCodeActions(document, range) {
    // Before anything is parsed: the menu is asked for wherever the cursor comes to stand.
    const lines = document.getText(new Range(range.start.line, 0, range.end.line + 1, 0));
    if (!mayTell(lines) || !mentionsTorch(document.getText())) return [];
    const value = await valueAt(document, range);
    if (typeof value === "string" || !value.isTelling) return [];
    return KINDS.map((kind) => {
      const action = new CodeAction(TITLES[kind], CodeActionKind.Empty.append("debug"));
      action.command = { command: `llmLint.${kind}`, title: TITLES[kind] };
      return action;
    });
  },
};

async function valueAt(document: TextDocument, range: Range): Promise<WatchedValue | NothingToWatch> {
  const { PythonText, watchedValue } = await import("./reading");
  return watchedValue(new PythonText(document.getText()), document.offsetAt(range.start), document.offsetAt(range.end));
}

async function place(kind: Kind, editor: TextEditor): Promise<void> {
  const { document, selection } = editor;
  const value = await valueAt(document, selection);
  if (typeof value === "string") {
    void window.showInformationMessage(WHY_NOT[value]);
    return;
  }
  const torch = torchIn(document.getText());
  const added =
    kind === "breakWhenNotFinite"
      ? { condition: notFinite(value.expressions, torch) }
      : { logMessage: shapeMessage(value.expressions, torch) };
  if (!(await addAt(document.uri, value.line, added))) return;
  const what = value.expressions.map((each) => `\`${each}\``).join(kind === "breakWhenNotFinite" ? " or " : " and ");
  const does = kind === "breakWhenNotFinite" ? `stops when ${what} is NaN or infinite` : `logs ${what}`;
  window.setStatusBarMessage(`Line ${value.line + 1} ${does}`, 5000);
}

/** False where the user keeps what is there. */
async function addAt(uri: Uri, line: number, added: Effect): Promise<boolean> {
  const [present, ...more] = debug.breakpoints.filter(
    (each): each is SourceBreakpoint => each instanceof SourceBreakpoint && isAt(each.location, uri, line),
  );
  const effect = present ? joined(present, added) : added;
  if (!effect && !(await replaces(line))) return false;
  const { condition, logMessage } = effect ?? added;
  debug.removeBreakpoints(present ? [present, ...more] : []);
  const location = new Location(uri, new Position(line, 0));
  debug.addBreakpoints([new SourceBreakpoint(location, true, condition, present?.hitCondition, logMessage)]);
  return true;
}

function isAt(location: Location, uri: Uri, line: number): boolean {
  return location.uri.toString() === uri.toString() && location.range.start.line === line;
}

async function replaces(line: number): Promise<boolean> {
  const message = `Line ${line + 1} has a breakpoint of another kind already, and a line can have only one.`;
  return (await window.showWarningMessage(message, "Replace it")) !== undefined;
}
