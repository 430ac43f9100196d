/** The commands of the server, and what it tells by itself: what `docs/editors.md` and `docs/probe.md` promise. */

export const EXPLAIN = "llm-lint.explain";
export const PROBE = "llm-lint.probe";
export const RULES = "llm-lint.rules";
export const DEBUG_INFORMATION_COMMAND = "llm-lint.debugInformation";
export const PROBE_RESULT = "llm-lint/probeResult";
