/** What the status items say. */

export type ServerState =
  | { readonly kind: "stopped"; readonly why: string }
  | { readonly kind: "starting" }
  | { readonly kind: "running"; readonly version: string; readonly origin: string; readonly python: string | undefined }
  | { readonly kind: "failed"; readonly why: string };

export type ProbeState =
  | { readonly kind: "disconnected"; readonly why: string }
  | { readonly kind: "connecting"; readonly target: string }
  | { readonly kind: "connected"; readonly last: string }
  | { readonly kind: "failed"; readonly why: string };

export interface Shown {
  readonly text: string;
  readonly detail: string;
  readonly severity: "information" | "warning" | "error";
  readonly busy: boolean;
}

const ORIGINS: Readonly<Record<string, string>> = {
  setting: "of llmLint.path",
  environment: "of the environment",
  path: "on PATH",
  bundled: "bundled",
};

/** So many characters of text and detail fit into the pop-up beside the command; the log has the rest. */
const ROOM = 56;

/** The server's item; a problem is what keeps a setting from being followed, or what the server complains of. */
export function describeServer(state: ServerState, problem: string | undefined): Shown {
  switch (state.kind) {
    case "starting":
      return shown("llm-lint", "starting", "information", true);
    case "running": {
      const python = state.python === undefined ? "" : `, ${state.python}`;
      const detail = problem ?? `${ORIGINS[state.origin] ?? state.origin}${python}`;
      return shown(`llm-lint ${state.version}`, detail, problem === undefined ? "information" : "warning");
    }
    case "stopped":
      return shown("llm-lint is off", state.why, "information");
    case "failed":
      return shown("llm-lint does not run", state.why, "error");
  }
}

/** The probe's item. */
export function describeProbe(state: ProbeState): Shown {
  switch (state.kind) {
    case "disconnected":
      return shown("Probe: disconnected", state.why, "information");
    case "connecting":
      return shown("Probe: connecting", state.target, "information", true);
    case "connected":
      return shown("Probe: connected", state.last, "information");
    case "failed":
      return shown("Probe: failed", state.why, "error");
  }
}

function shown(text: string, detail: string, severity: Shown["severity"], busy = false): Shown {
  const room = ROOM - text.length;
  const short = detail.replace(/(?:[/\\][^/\\\s`'"]+){4,}/g, shortPath);
  return { text, detail: short.length <= room ? short : `${short.slice(0, room - 1).trimEnd()}…`, severity, busy };
}

/** The end of a path, which tells environments apart: as many of its folders as have a little room. */
function shortPath(path: string): string {
  const parts = path.split(/[/\\]/);
  const three = parts.slice(-3).join("/");
  return `…/${three.length <= ROOM / 2 ? three : parts.slice(-2).join("/")}`;
}
