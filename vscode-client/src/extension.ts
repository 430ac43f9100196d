import { extensions, window, workspace } from "vscode";
import type { ExtensionContext } from "vscode";
import { registerCommands } from "./commands";
import { DebugInformation } from "./debugInformation";
import { registerDebugging } from "./debugging/debugging";
import { PythonEnvironments } from "./pythonEnvironments";
import { PROBE } from "./server/protocol";
import { Server } from "./server/server";
import { Probe } from "./shapes/probe";
import { ShapesView } from "./shapes/view";
import { StatusItems } from "./statusItems";
import { registerTasks } from "./tasks";

let server: Server | undefined;

/** Registers everything; the server is chosen and started afterwards, so that nobody waits for it. */
export function activate(context: ExtensionContext): void {
  const channel = window.createOutputChannel("llm-lint", { log: true });
  const status = new StatusItems();
  const shapes = new ShapesView();
  const environments = new PythonEnvironments();
  const probe = new Probe(
    (state) => {
      status.showProbe(state);
    },
    (message) => void shapes.show(message),
  );
  const started = new Server(context, environments, channel, {
    answered: (message) => void window.showInformationMessage(message),
    execute: (command, args, next) => (command === PROBE ? probe.during(args, next) : next()),
    showProblem: (problem) => {
      status.showProblem(problem);
    },
  });
  server = started;
  const information = new DebugInformation(context, started);
  const refresh = (reason: string) => () => void started.refresh(reason);
  context.subscriptions.push(
    channel,
    status,
    shapes,
    environments,
    started,
    information,
    ...registerCommands(started, probe, channel),
    registerTasks(started),
    ...registerDebugging(),
    started.onDidChangeState((state) => {
      status.showServer(state);
      information.refresh();
    }),
    started.onWillStart((client) => {
      probe.listen(client);
    }),
    environments.onDidChange(refresh("another interpreter was selected")),
    extensions.onDidChange(refresh("extensions were installed or removed")),
    workspace.onDidChangeWorkspaceFolders(refresh("the folders of the workspace changed")),
    workspace.onDidGrantWorkspaceTrust(() => void started.restart("the workspace is trusted now")),
    workspace.onDidSaveTextDocument((document) => {
      if (/(?:pyproject|llm-lint)\.toml$/.test(document.uri.path)) {
        started.forgetComplaints();
      }
    }),
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("llmLint")) {
        void started.refresh("the settings changed");
      }
    }),
  );
  setImmediate(refresh("the first start"));
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
