import { window } from "vscode";
import type { ExtensionContext } from "vscode";

export function activate(context: ExtensionContext): void {
  context.subscriptions.push(window.createOutputChannel("llm-lint", { log: true }));
}
