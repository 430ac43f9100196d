/** The server's life: chosen, started, told of settings, started anew where another one is to be chosen. */

import { isDeepStrictEqual } from "node:util";
import { EventEmitter, window, workspace } from "vscode";
import type {
  ConfigurationScope,
  Disposable,
  ExtensionContext,
  LogOutputChannel,
  Uri,
  WorkspaceConfiguration,
} from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import type { PythonEnvironments } from "../pythonEnvironments";
import { collect, expandPath, serverSettings } from "../settings";
import type { ServerState } from "../status";
import type { ClientEvents } from "./client";
import { ServerProcess } from "./process";
import { inspectPython, interpreterAt, isFile, programsOnPath } from "./programs";
import { INTERPRETER_SETTING, resolveServer } from "./resolution";
import type { Interpreter, Resolution, ServerCommand } from "./resolution";
import { Serial } from "./serial";

/** Read when the server starts; a change of one of them starts it again. */
const AT_START = ["diagnosticMode", "trace.server"];

/** So long only a server that hangs takes to begin. */
const PATIENCE = 60_000;

/** A server that was told to end does so within this time. */
const GRACE = 2_000;

/** What a running server was started with. */
interface Started {
  readonly command: ServerCommand;
  readonly atStart: unknown;
}

export interface ServerEvents extends Pick<ClientEvents, "answered" | "execute"> {
  /** What keeps a setting from being followed, or what the server complains of; undefined once that is over. */
  showProblem(problem: string | undefined): void;
}

export class Server implements Disposable {
  private readonly changed = new EventEmitter<ServerState>();
  private readonly started = new EventEmitter<LanguageClient>();
  private readonly serial = new Serial(() => this.follow());
  private readonly launcher: string;
  private readonly names: string[];
  private current: { readonly client: LanguageClient; readonly process: ServerProcess } | undefined;
  private startedWith: Started | undefined;
  private isForced = false;
  private isDisposed = false;
  private trace: LogOutputChannel | undefined;

  readonly onDidChangeState = this.changed.event;
  /** A client that is about to be started, for those who listen to its notifications. */
  readonly onWillStart = this.started.event;
  private problem: string | undefined;

  /** How the last choice came about. */
  steps: string[] = [];
  state: ServerState = { kind: "starting" };

  constructor(
    context: ExtensionContext,
    private readonly environments: PythonEnvironments,
    private readonly channel: LogOutputChannel,
    private readonly events: ServerEvents,
  ) {
    this.launcher = context.asAbsolutePath("launcher/launch.py");
    const manifest = context.extension.packageJSON as {
      contributes: { configuration: { properties: Record<string, unknown> } };
    };
    this.names = serverSettings(Object.keys(manifest.contributes.configuration.properties));
  }

  dispose(): void {
    this.isDisposed = true;
    this.trace?.dispose();
    this.changed.dispose();
    this.started.dispose();
  }

  /** The client, while the server runs. */
  get client(): LanguageClient | undefined {
    return this.current?.client.isRunning() === true ? this.current.client : undefined;
  }

  /** The client, when a start that is going on has come to its end; undefined where it failed. */
  async clientOnceStarted(): Promise<LanguageClient | undefined> {
    while (this.state.kind === "starting") {
      await new Promise<void>((resolve) => {
        const listening = this.onDidChangeState(() => {
          listening.dispose();
          resolve();
        });
      });
    }
    return this.client;
  }

  /** The program that runs, for those who want to run another command of it. */
  get command(): ServerCommand | undefined {
    return this.startedWith?.command;
  }

  /** Follow the settings as they are now: start, tell, start anew or stop, whatever that takes. */
  async refresh(reason: string): Promise<void> {
    this.channel.info(reason);
    await this.serial.run();
  }

  /** Start it again, whether or not anything changed. */
  async restart(reason: string): Promise<void> {
    this.isForced = true;
    if (this.state.kind === "starting") {
      // It may hang, and the new one is not begun before the old one has come to an end.
      void this.current?.process.end();
    }
    await this.refresh(reason);
  }

  async stop(): Promise<void> {
    const { current } = this;
    this.current = undefined;
    this.startedWith = undefined;
    try {
      await current?.client.dispose();
      current?.process.endAfter(GRACE);
    } catch {
      // It has crashed, or never began.
      await current?.process.end();
    }
  }

  /** What the server complained of may be mended; it would complain again. */
  forgetComplaints(): void {
    this.events.showProblem(this.problem);
  }

  private async follow(): Promise<void> {
    const isForced = this.isForced;
    this.isForced = false;
    if (this.isDisposed) {
      return;
    }
    try {
      await this.followSettings(isForced);
    } catch (error) {
      // Nobody waits for most rounds, so that it would be seen nowhere.
      this.channel.error(error instanceof Error ? error : String(error));
      this.show({ kind: "failed", why: error instanceof Error ? error.message : String(error) });
    }
  }

  private async followSettings(isForced: boolean): Promise<void> {
    if (!this.isEnabledAnywhere()) {
      await this.stop();
      this.show({ kind: "stopped", why: "switched off by the setting llmLint.enable" });
      return;
    }
    const { resolution, options } = await this.resolve();
    const command = resolution.server;
    this.problem = resolution.problem;
    this.forgetComplaints();
    const atStart = AT_START.map((name) => workspace.getConfiguration("llmLint").get(name));
    if (command === undefined) {
      await this.stop();
      this.show({ kind: "failed", why: resolution.problem ?? "there is no llm-lint to start" });
      return;
    }
    if (!isForced && this.client !== undefined && isDeepStrictEqual(this.startedWith, { command, atStart })) {
      this.channel.info("the server stays: it is the same");
      await this.client.sendNotification("workspace/didChangeConfiguration", { settings: options });
      return;
    }
    await this.stop();
    await this.start({ command, atStart }, options);
  }

  private async start(started: Started, options: unknown): Promise<void> {
    const { command } = started;
    this.show({ kind: "starting" });
    this.channel.info(`starting ${[command.command, ...command.arguments, "server"].join(" ")}`);
    // Loading the language client takes longer than all that activation does.
    const { createClient } = await import("./client");
    const process = new ServerProcess(command);
    const client = createClient(process, options, this.channel, this.traceChannel(), {
      ...this.events,
      complained: (message) => {
        this.channel.warn(message);
        this.events.showProblem(message);
      },
      died: (lastWords) => {
        this.show({ kind: "failed", why: lastWords ?? "it ended without a word" });
      },
    });
    this.current = { client, process };
    this.startedWith = started;
    this.started.fire(client);
    const patience = setTimeout(() => {
      this.channel.error(`the server does not answer within ${PATIENCE / 1000} seconds`);
      void process.end();
    }, PATIENCE);
    try {
      await client.start();
      if (!client.isRunning()) {
        // So the library ends a start during which the connection was lost.
        throw new Error("the connection was lost");
      }
    } catch (error) {
      // Its own words say more than that the connection is gone.
      await process.end();
      this.show({ kind: "failed", why: process.lastWords ?? (error instanceof Error ? error.message : String(error)) });
      this.channel.error(`the server did not start: ${String(error)}`);
      return;
    } finally {
      clearTimeout(patience);
    }
    const version = client.initializeResult?.serverInfo?.version ?? "of unknown version";
    this.channel.info(`llm-lint ${version} runs`);
    this.show({ kind: "running", version, origin: command.origin, python: command.python });
  }

  private show(state: ServerState): void {
    this.state = state;
    this.changed.fire(state);
  }

  private traceChannel(): LogOutputChannel | undefined {
    if (workspace.getConfiguration("llmLint").get<string>("trace.server") === "off") {
      return undefined;
    }
    return (this.trace ??= window.createOutputChannel("llm-lint trace", { log: true }));
  }

  private isEnabledAnywhere(): boolean {
    const scopes: (ConfigurationScope | undefined)[] = [undefined, ...(workspace.workspaceFolders ?? [])];
    return scopes.some((scope) => workspace.getConfiguration("llmLint", scope).get<boolean>("enable") !== false);
  }

  private async resolve(): Promise<{ resolution: Resolution; options: unknown }> {
    this.steps = [];
    const log = (step: string): void => {
      this.steps.push(step);
      this.channel.info(step);
    };
    const folders = (workspace.workspaceFolders ?? []).map((folder) => folder.uri);
    const [first] = folders;
    const avoid = workspace.isTrusted ? [] : folders.map((folder) => folder.fsPath);
    const onPath = (names: readonly string[]): Iterable<string> =>
      programsOnPath(names, process.env["PATH"] ?? "", avoid);
    const settings = workspace.getConfiguration("llmLint", first);
    const interpreter = workspace.isTrusted ? await this.interpreter(first, log) : undefined;
    const resolution = await resolveServer({
      trusted: workspace.isTrusted,
      importStrategy: text(settings, "importStrategy"),
      path: expandPath(text(settings, "path"), first?.fsPath),
      interpreter,
      launcher: this.launcher,
      program: (named) => [...(isFile(named) ? [named] : onPath([named]))][0],
      onPath,
      inspect: (python) => inspectPython(python, this.launcher, !workspace.isTrusted),
      log,
    });
    return { resolution, options: await this.options(folders, interpreter) };
  }

  /** The setting for a folder, else what a Python extension has selected for it. */
  private async interpreter(folder: Uri | undefined, log: (step: string) => void): Promise<Interpreter | undefined> {
    const set = text(workspace.getConfiguration("llmLint", folder), "interpreter");
    if (set.trim() !== "") {
      return { path: interpreterAt(expandPath(set, folder?.fsPath)), source: INTERPRETER_SETTING };
    }
    return this.environments.interpreter(folder, log);
  }

  /** What the server is told: for the whole session, and for each folder, of which the first one's interpreter is known. */
  private async options(folders: readonly Uri[], ofFirst: Interpreter | undefined): Promise<unknown> {
    const of = (folder: Uri | undefined, interpreter: Interpreter | undefined): Record<string, unknown> => {
      const settings = workspace.getConfiguration("llmLint", folder);
      const found = collect(this.names, (name) => settings.get<unknown>(name));
      return { ...found, interpreter: interpreter?.path ?? "" };
    };
    const settings = folders.map(async (folder, index) => {
      const quiet = (step: string): void => {
        this.channel.debug(step);
      };
      const isAsked = index > 0 && workspace.isTrusted;
      const interpreter = isAsked ? await this.interpreter(folder, quiet) : ofFirst;
      return { workspace: folder.toString(), ...of(folder, interpreter) };
    });
    return {
      globalSettings: { ...of(undefined, ofFirst), trusted: workspace.isTrusted },
      settings: await Promise.all(settings),
    };
  }
}

/** A setting that is to be a text; what a user has written may be anything. */
function text(settings: WorkspaceConfiguration, name: string): string {
  const value: unknown = settings.get(name);
  return typeof value === "string" ? value : "";
}
