import { commands, debug, DebugConfigurationProviderTriggerKind, extensions, window, workspace } from "vscode";
import type { DebugConfiguration, Disposable, WorkspaceFolder } from "vscode";
import { pythonConfigurations, withPythonConfigurations } from "./configurations";

const PROCESSES = "llmLint.pickProcessCount";

/** Debug configurations for the open file, which need no launch.json; and a command that writes them there. */
export function registerLaunching(): Disposable[] {
  return [
    debug.registerDebugConfigurationProvider(
      "debugpy",
      { provideDebugConfigurations: () => pythonConfigurations(`\${command:${PROCESSES}}`) },
      DebugConfigurationProviderTriggerKind.Dynamic,
    ),
    commands.registerCommand(PROCESSES, pickProcessCount),
    commands.registerCommand("llmLint.addDebugConfigurations", addDebugConfigurations),
  ];
}

async function pickProcessCount(): Promise<string | undefined> {
  return window.showInputBox({
    title: "torchrun",
    prompt: "Number of processes on this machine: one for each GPU",
    value: "2",
    validateInput: (text) => (/^[1-9]\d*$/.test(text.trim()) ? undefined : "A whole number, 1 or more"),
  });
}

async function addDebugConfigurations(): Promise<void> {
  const folder = await pickFolder();
  const processes = folder && (await pickProcessCount());
  if (!folder || processes === undefined) return;
  const launch = workspace.getConfiguration("launch", folder);
  const present = launch.get<DebugConfiguration[]>("configurations") ?? [];
  await launch.update("configurations", withPythonConfigurations(present, Number(processes)));
  if (extensions.getExtension("ms-python.debugpy")) return;
  void window.showInformationMessage(
    "launch.json is written. To use it, install the extension Python Debugger (ms-python.debugpy).",
  );
}

async function pickFolder(): Promise<WorkspaceFolder | undefined> {
  const [first, ...more] = workspace.workspaceFolders ?? [];
  if (!first) {
    void window.showInformationMessage("Open a folder first: launch.json is written into its .vscode folder.");
  }
  return more.length > 0 ? window.showWorkspaceFolderPick() : first;
}
