/** What the palette offers under "LLM Lint". What goes wrong here pops up: somebody is waiting for it. */

import { commands, env, Range, window, workspace } from "vscode";
import type { Disposable, LogOutputChannel, TextDocument } from "vscode";
import type { CodeAction, Command, LanguageClient } from "vscode-languageclient/node";
import { DEBUG_INFORMATION } from "./debugInformation";
import { EXPLAIN, PROBE, RULES } from "./server/protocol";
import type { Server } from "./server/server";
import type { Probe } from "./shapes/probe";

const FIX_ALL = "source.fixAll.llm-lint";

/** One rule, as the server lists it. */
interface Rule {
  readonly code: string;
  readonly name: string;
  readonly severity: string;
  readonly default: boolean;
}

export function registerCommands(server: Server, probe: Probe, channel: LogOutputChannel): Disposable[] {
  const register = (name: string, run: (...args: unknown[]) => Promise<void>): Disposable =>
    commands.registerCommand(`llmLint.${name}`, async (...args: unknown[]) => {
      try {
        await run(...args);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        channel.error(message);
        const chosen = await window.showErrorMessage(`llm-lint: ${message}`, "Show logs");
        if (chosen !== undefined) {
          channel.show();
        }
      }
    });
  return [
    register("restart", async () => {
      await server.restart("restart, as the user asked");
      if (server.state.kind === "failed") {
        throw new Error(server.state.why);
      }
    }),
    register("showLogs", () => {
      channel.show();
      return Promise.resolve();
    }),
    register("showDebugInformation", async () => {
      await window.showTextDocument(await workspace.openTextDocument(DEBUG_INFORMATION), { preview: true });
    }),
    register("fixAll", async () => {
      const document = activeDocument();
      await fixAll(await running(server), document);
    }),
    register("checkShapes", async () => {
      const document = activeDocument();
      const client = await running(server);
      // It runs what is on the disk.
      if (document.isUntitled || (document.isDirty && !(await document.save()))) {
        throw new Error("the probe runs the file as it is saved: save it first");
      }
      const args = [{ uri: client.code2ProtocolConverter.asUri(document.uri) }];
      await probe.during(args, () => execute(client, PROBE, args));
    }),
    register("openRuleDocumentation", async (code) => {
      const client = await running(server);
      const chosen = typeof code === "string" ? code : await chooseRule(client);
      if (chosen !== undefined) {
        await execute(client, EXPLAIN, [chosen]);
      }
    }),
    register("copy", async (text) => {
      await env.clipboard.writeText(String(text));
    }),
  ];
}

/** Somebody may be quicker than the server, since a command activates the extension too. */
async function running(server: Server): Promise<LanguageClient> {
  const client = await server.clientOnceStarted();
  if (client === undefined) {
    throw new Error(`the server does not run: ${"why" in server.state ? server.state.why : "it has crashed"}`);
  }
  return client;
}

function activeDocument(): TextDocument {
  // In a notebook no cell need have the focus.
  const cells = window.activeNotebookEditor?.notebook.getCells().map((cell) => cell.document) ?? [];
  const documents = [...(window.activeTextEditor ? [window.activeTextEditor.document] : []), ...cells];
  const document = documents.find((each) => each.languageId === "python");
  if (document === undefined) {
    throw new Error("open a Python file or a notebook first");
  }
  return document;
}

function execute(client: LanguageClient, command: string, args: unknown[]): Promise<unknown> {
  return client.sendRequest("workspace/executeCommand", { command, arguments: args });
}

async function chooseRule(client: LanguageClient): Promise<string | undefined> {
  const rules = (await execute(client, RULES, [])) as Rule[];
  const items = rules.map((rule) => ({
    label: rule.code,
    description: rule.name,
    detail: `${rule.severity}, ${rule.default ? "on" : "off"} by default`,
  }));
  const chosen = await window.showQuickPick(items, {
    title: "Open rule documentation",
    placeHolder: "A code or a name",
    matchOnDescription: true,
  });
  return chosen?.label;
}

/** All safe fixes of a document, or of the notebook of a cell. */
async function fixAll(client: LanguageClient, document: TextDocument): Promise<void> {
  const isCell = document.uri.scheme === "vscode-notebook-cell";
  const whole = new Range(0, 0, document.lineCount, 0);
  const actions = await client.sendRequest<(Command | CodeAction)[] | null>("textDocument/codeAction", {
    textDocument: client.code2ProtocolConverter.asTextDocumentIdentifier(document),
    range: client.code2ProtocolConverter.asRange(whole),
    context: { diagnostics: [], only: [isCell ? `notebook.${FIX_ALL}` : FIX_ALL] },
  });
  const action = actions?.find((each): each is CodeAction => "kind" in each);
  const resolved =
    action?.edit === undefined && action !== undefined
      ? await client.sendRequest<CodeAction>("codeAction/resolve", action)
      : action;
  const edit = await client.protocol2CodeConverter.asWorkspaceEdit(resolved?.edit);
  if (edit === undefined || edit.size === 0) {
    void window.showInformationMessage("llm-lint: there is nothing here that has a safe fix");
    return;
  }
  if (!(await workspace.applyEdit(edit))) {
    throw new Error("the fixes could not be applied: the text has changed meanwhile");
  }
}
