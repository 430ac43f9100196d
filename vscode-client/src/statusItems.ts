/** The language status items: beside the language of a Python file, and nowhere else. */

import { languages, LanguageStatusSeverity } from "vscode";
import type { Disposable, DocumentSelector, LanguageStatusItem } from "vscode";
import { describeProbe, describeServer } from "./status";
import type { ProbeState, ServerState, Shown } from "./status";

const SELECTOR: DocumentSelector = [{ language: "python" }, { pattern: "**/llm-lint.toml" }];

const SEVERITIES = {
  information: LanguageStatusSeverity.Information,
  warning: LanguageStatusSeverity.Warning,
  error: LanguageStatusSeverity.Error,
};

export class StatusItems implements Disposable {
  private readonly server: LanguageStatusItem;
  private readonly probe: LanguageStatusItem;
  private state: ServerState = { kind: "starting" };
  private problem: string | undefined;

  constructor() {
    this.server = languages.createLanguageStatusItem("llmLint.server", SELECTOR);
    this.server.name = "llm-lint";
    this.server.command = { command: "llmLint.showLogs", title: "Show logs" };
    this.probe = languages.createLanguageStatusItem("llmLint.probe", SELECTOR);
    this.probe.name = "llm-lint probe";
    this.probe.command = { command: "llmLint.checkShapes", title: "Check shapes" };
    this.showProbe({ kind: "disconnected", why: "nothing was checked yet" });
    this.update();
  }

  dispose(): void {
    this.server.dispose();
    this.probe.dispose();
  }

  showServer(state: ServerState): void {
    this.state = state;
    this.update();
  }

  /** What keeps a setting from being followed, or what the server complains of; undefined once it is over. */
  showProblem(problem: string | undefined): void {
    this.problem = problem;
    this.update();
  }

  showProbe(state: ProbeState): void {
    apply(this.probe, describeProbe(state));
  }

  private update(): void {
    apply(this.server, describeServer(this.state, this.problem));
  }
}

function apply(item: LanguageStatusItem, shown: Shown): void {
  item.text = shown.text;
  item.detail = shown.detail;
  item.severity = SEVERITIES[shown.severity];
  item.busy = shown.busy;
}
