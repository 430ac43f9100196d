/** The report on what the extension and its server work with, as a document that can't be changed. */

import { EventEmitter, extensions, Uri, version, workspace } from "vscode";
import type { Disposable, ExtensionContext, TextDocumentContentProvider } from "vscode";
import { ENVIRONMENTS_ID, PYTHON_ID } from "./pythonEnvironments";
import { DEBUG_INFORMATION_COMMAND } from "./server/protocol";
import type { Server } from "./server/server";

const SCHEME = "llm-lint";

export const DEBUG_INFORMATION = Uri.parse(`${SCHEME}:debug information.txt`);

export class DebugInformation implements TextDocumentContentProvider, Disposable {
  private readonly changed = new EventEmitter<Uri>();
  private readonly registration = workspace.registerTextDocumentContentProvider(SCHEME, this);

  readonly onDidChange = this.changed.event;

  constructor(
    private readonly context: ExtensionContext,
    private readonly server: Server,
  ) {}

  dispose(): void {
    this.registration.dispose();
    this.changed.dispose();
  }

  /** What it says is outdated. */
  refresh(): void {
    this.changed.fire(DEBUG_INFORMATION);
  }

  async provideTextDocumentContent(): Promise<string> {
    const manifest = this.context.extension.packageJSON as { version: string };
    const { command, state, steps } = this.server;
    const pythonExtensions = [ENVIRONMENTS_ID, PYTHON_ID].map((id) => {
      const found = extensions.getExtension<unknown>(id)?.packageJSON as { version: string } | undefined;
      return `${id}: ${found?.version ?? "not installed"}`;
    });
    return [
      `llm-lint extension ${manifest.version}, VS Code ${version}, Node ${process.versions.node}, ${process.platform}`,
      `trusted: ${workspace.isTrusted}`,
      ...pythonExtensions,
      "",
      "how the server was chosen:",
      ...steps.map((step) => `  ${step}`),
      "",
      command === undefined ? "no server" : `server: ${[command.command, ...command.arguments, "server"].join(" ")}`,
      "",
      await this.ofServer(`it does not run: ${"why" in state ? state.why : state.kind}`),
      "",
    ].join("\n");
  }

  private async ofServer(otherwise: string): Promise<string> {
    try {
      const said: unknown = await this.server.client?.sendRequest("workspace/executeCommand", {
        command: DEBUG_INFORMATION_COMMAND,
      });
      return typeof said === "string" ? said : otherwise;
    } catch (error) {
      return `the server does not answer: ${String(error)}`;
    }
  }
}
