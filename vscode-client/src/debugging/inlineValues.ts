import { debug, InlineValueText, languages, Range } from "vscode";
import type { Disposable, InlineValuesProvider } from "vscode";

/** While a Python program stands still, the shape, dtype and device of each tensor behind the line that mentions it. */
export function registerInlineValues(): Disposable {
  return languages.registerInlineValuesProvider({ language: "python" }, provider);
}

const provider: InlineValuesProvider = {
  async provideInlineValues(document, view, { frameId, stoppedLocation }, token) {
    const session = debug.activeDebugSession;
    if (session?.type !== "debugpy" && session?.type !== "python") return [];
    const { PythonText, mentions, readSummaries, summariesQuestion } = await import("./reading");
    const asked = mentions(new PythonText(document.getText()), view.start.line, stoppedLocation.end.line);
    if (asked.length === 0 || token.isCancellationRequested) return [];
    // The debugger shortens what it shows in a watch; what is copied it gives whole.
    const request = { expression: summariesQuestion(asked), frameId, context: "clipboard" };
    const answer = await session.customRequest("evaluate", request).then(resultOf, () => "");
    const summaries = readSummaries(answer);
    return asked.flatMap(({ expression, from, to }) => {
      const summary = summaries.get(expression);
      const range = new Range(document.positionAt(from), document.positionAt(to));
      return summary === undefined ? [] : [new InlineValueText(range, `${expression}: ${summary}`)];
    });
  },
};

function resultOf(answer: unknown): string {
  const result = (answer as { result?: unknown } | undefined)?.result;
  return typeof result === "string" ? result : "";
}
