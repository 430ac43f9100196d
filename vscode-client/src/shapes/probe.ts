/** The probe as the client sees it: when it runs, what came of it. */

import type { Disposable } from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { PROBE_RESULT } from "../server/protocol";
import type { ProbeState } from "../status";
import { nameOf, outcomes, readMessage } from "./result";
import type { ProbeMessage } from "./result";

/** Ends of a run after which the probe itself is in order, whatever the program did. */
const BROKEN: Readonly<Record<string, string>> = {
  no_torch: "the interpreter has no torch",
  crash: "it crashed; the log has more",
};

export class Probe {
  private state: ProbeState = { kind: "disconnected", why: "nothing was checked yet" };

  constructor(
    private readonly showState: (state: ProbeState) => void,
    private readonly showResult: (message: ProbeMessage) => void,
  ) {}

  /** Hear of results. */
  listen(client: LanguageClient): Disposable {
    this.set({ kind: "disconnected", why: "nothing was checked yet" });
    return client.onNotification(PROBE_RESULT, (sent: unknown) => {
      this.take(sent);
    });
  }

  /** A run that the user asked for, from its beginning to its end. */
  async during(args: readonly unknown[], run: () => PromiseLike<unknown>): Promise<unknown> {
    const before = this.state;
    this.set({ kind: "connecting", target: targetOf(args) });
    try {
      const answer = await run();
      // Nothing was run, and the server has said why.
      if (this.state.kind === "connecting") {
        this.take(answer);
      }
      if (this.state.kind === "connecting") {
        this.set(before);
      }
      return answer;
    } catch (error) {
      this.set({ kind: "failed", why: error instanceof Error ? error.message : String(error) });
      throw error;
    }
  }

  private take(sent: unknown): void {
    const message = readMessage(sent);
    if (message !== undefined) {
      this.set(stateAfter(message));
      this.showResult(message);
    }
  }

  private set(state: ProbeState): void {
    this.state = state;
    this.showState(state);
  }
}

/** What the end of a run says of the probe. */
export function stateAfter(message: ProbeMessage): ProbeState {
  const why = BROKEN[message.status];
  if (why !== undefined) {
    return { kind: "failed", why: message.result.error?.message ?? why };
  }
  const name = message.name ?? "the file";
  const ended = outcomes(message);
  const [first] = ended;
  if (ended.length === 1 && first !== undefined) {
    return { kind: "connected", last: `${nameOf(first.result, name)}: ${first.status.replaceAll("_", " ")}` };
  }
  const fine = ended.filter((each) => each.status === "ok").length;
  return { kind: "connected", last: `${name}: ${fine} of ${ended.length} classes run` };
}

function targetOf(args: readonly unknown[]): string {
  const [first] = args;
  const name = typeof first === "object" && first !== null ? (first as { name?: unknown }).name : undefined;
  return typeof name === "string" ? name : "the file";
}
