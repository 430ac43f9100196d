import { window } from "vscode";
import type { ExtensionContext } from "vscode";
import { registerDebugging } from "./debugging/debugging";

export function activate(context: ExtensionContext): void {
  context.subscriptions.push(window.createOutputChannel("llm-lint", { log: true }), ...registerDebugging());
}
