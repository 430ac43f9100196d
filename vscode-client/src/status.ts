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

/** The server's item; a problem is what keeps a setting from being followed, or what the server complains of. */
export function describeServer(state: ServerState, problem: string | undefined): Shown {
  switch (state.kind) {
    case "starting":
      return { text: "llm-lint", detail: "starting", severity: "information", busy: true };
    case "running": {
      const python = state.python === undefined ? "" : `, ${shortPath(state.python)}`;
      const detail = problem ?? `${ORIGINS[state.origin] ?? state.origin}${python}`;
      return {
        text: `llm-lint ${state.version}`,
        detail,
        severity: problem === undefined ? "information" : "warning",
        busy: false,
      };
    }
    case "stopped":
      return { text: "llm-lint is off", detail: state.why, severity: "information", busy: false };
    case "failed":
      return { text: "llm-lint does not run", detail: state.why, severity: "error", busy: false };
  }
}

/** The probe's item. */
export function describeProbe(state: ProbeState): Shown {
  switch (state.kind) {
    case "disconnected":
      return { text: "Probe: disconnected", detail: state.why, severity: "information", busy: false };
    case "connecting":
      return { text: "Probe: connecting", detail: state.target, severity: "information", busy: true };
    case "connected":
      return { text: "Probe: connected", detail: state.last, severity: "information", busy: false };
    case "failed":
      return { text: "Probe: failed", detail: state.why, severity: "error", busy: false };
  }
}

/** The end of a path, which tells environments apart; the item has little room. */
function shortPath(path: string): string {
  const parts = path.split(/[/\\]/);
  return parts.length <= 4 ? path : `…/${parts.slice(-3).join("/")}`;
}
