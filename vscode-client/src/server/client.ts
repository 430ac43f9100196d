/** The language client, as quiet as errors in the background should be. */

import { commands, Uri } from "vscode";
import type { Diagnostic, LogOutputChannel } from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  MessageType,
  RevealOutputChannelOn,
  ShowMessageNotification,
  vsdiag,
} from "vscode-languageclient/node";
import type { ClientCapabilities, LanguageClientOptions, Middleware, StaticFeature } from "vscode-languageclient/node";
import { Crashes } from "./crashes";
import { EXPLAIN } from "./protocol";
import type { ServerProcess } from "./process";

const CELL = "vscode-notebook-cell";

/** What a client tells while it runs. */
export interface ClientEvents {
  /** The server has something to say that nobody asked for. */
  complained(message: string): void;
  /** It answers the user. */
  answered(message: string): void;
  /** It is gone for good; what it said last, if anything. */
  died(lastWords: string | undefined): void;
  /** A command of the server, however it was called. */
  execute(command: string, args: unknown[], next: () => PromiseLike<unknown>): PromiseLike<unknown>;
}

/** Errors are in the log, and the status item shows that there is one; the library would also pop them up. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/** A client that is not started yet. */
export function createClient(
  process: ServerProcess,
  initializationOptions: unknown,
  channel: LogOutputChannel,
  trace: LogOutputChannel | undefined,
  events: ClientEvents,
): LanguageClient {
  const crashes = new Crashes();
  const options: LanguageClientOptions = {
    documentSelector: [
      { scheme: "file", language: "python" },
      { scheme: "untitled", language: "python" },
      { scheme: CELL, language: "python" },
      { scheme: "file", pattern: "**/pyproject.toml" },
      { scheme: "file", pattern: "**/llm-lint.toml" },
    ],
    initializationOptions,
    outputChannel: channel,
    ...(trace && { traceOutputChannel: trace }),
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    diagnosticCollectionName: "llm-lint",
    diagnosticPullOptions: { onChange: true, onSave: true },
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => {
        if (client.initializeResult !== undefined && !crashes.isHopeless(Date.now())) {
          return { action: CloseAction.Restart, handled: true };
        }
        events.died(process.lastWords);
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    },
    stdioOptions: {
      stdout: () => undefined,
      stderr: (input) => {
        process.hear(input, (line) => {
          log(channel, line);
        });
      },
    },
    middleware: middleware(events),
  };
  const client = new QuietClient("llmLint", "llm-lint", () => process.start(), options);
  client.registerFeature(TAKES_PROBE_RESULTS);
  client.onNotification(ShowMessageNotification.type, ({ type, message }) => {
    if (type === MessageType.Error || type === MessageType.Warning) {
      events.complained(message);
    } else {
      events.answered(message);
    }
  });
  return client;
}

/** With this, the server sends the results of the probe as notifications. */
const TAKES_PROBE_RESULTS: StaticFeature = {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    capabilities.experimental = { ...(capabilities.experimental as object | undefined), probeResults: true };
  },
  initialize: () => undefined,
  getState: () => ({ kind: "static" }),
  clear: () => undefined,
};

function middleware(events: ClientEvents): Middleware {
  return {
    provideDiagnostics: async (document, previousResultId, token, next) => {
      // The server pushes those of notebooks; asking for each cell would only hold up other documents
      // (https://github.com/microsoft/vscode-languageserver-node/issues/1837).
      if ((document instanceof Uri ? document : document.uri).scheme === CELL) {
        return { kind: vsdiag.DocumentDiagnosticReportKind.full, items: [] };
      }
      const report = await next(document, previousResultId, token);
      if (report !== null && report !== undefined && "items" in report) {
        report.items.forEach(link);
      }
      return report;
    },
    provideWorkspaceDiagnostics: (resultIds, token, reporter, next) =>
      next(resultIds, token, (chunk) => {
        for (const report of chunk?.items ?? []) {
          if ("items" in report) {
            report.items.forEach(link);
          }
        }
        reporter(chunk);
      }),
    handleDiagnostics: (uri, diagnostics, next) => {
      diagnostics.forEach(link);
      next(uri, diagnostics);
    },
    executeCommand: (command, args: unknown[], next) =>
      events.execute(command, args, () => Promise.resolve(next(command, args) as unknown)),
    window: {
      showDocument: async (params, token, next) => {
        if (!params.uri.endsWith(".md")) {
          return next(params, token);
        }
        await commands.executeCommand("markdown.showPreview", Uri.parse(params.uri));
        return { success: true };
      },
    },
  };
}

/** The code leads to the rule's page, which the server has, where it is published nowhere. */
function link(diagnostic: Diagnostic): void {
  if (typeof diagnostic.code === "string") {
    const target = Uri.parse(`command:${EXPLAIN}?${encodeURIComponent(JSON.stringify([diagnostic.code]))}`);
    diagnostic.code = { value: diagnostic.code, target };
  }
}

/** A line that the server wrote to its log. */
function log(channel: LogOutputChannel, line: string): void {
  const [, level = "", text = line] = /^\S+ \S+ (DEBUG|INFO|WARNING|ERROR|CRITICAL) (.*)$/.exec(line) ?? [];
  switch (level) {
    case "DEBUG":
      channel.debug(text);
      break;
    case "INFO":
      channel.info(text);
      break;
    case "WARNING":
      channel.warn(text);
      break;
    default:
      channel.error(text);
  }
}
