/** The editor's settings, for us and for the server. */

import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Those that only the extension itself reads; all others are the server's. */
const OWN: ReadonlySet<string> = new Set(["importStrategy", "path", "trace.server"]);

/** Reads one setting by its name below `llmLint`. */
export type Read = (name: string) => unknown;

/** The names below `llmLint` that the server takes, of all that `package.json` declares. */
export function serverSettings(declared: Iterable<string>): string[] {
  return [...declared].map((name) => name.replace(/^llmLint\./, "")).filter((name) => !OWN.has(name));
}

/** What the server is sent for one place, as it stands in the settings. */
export function collect(names: readonly string[], read: Read): Record<string, unknown> {
  const entries = names.map((name): [string, unknown] => [name, read(name)]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** Variables as `settings.json` may hold them in paths. */
export function expandPath(
  value: string,
  folder: string | undefined,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string {
  let path = value.trim();
  if (path === "") {
    return "";
  }
  if (folder !== undefined) {
    path = path.replaceAll("${workspaceFolder}", folder);
  }
  path = path
    .replaceAll("${userHome}", homedir())
    .replace(/\$\{env:([^}]+)\}/g, (_, name: string) => environment[name] ?? "")
    .replace(/^~(?=$|[/\\])/, () => homedir());
  // A bare name is looked up on PATH.
  const isName = !/[/\\]/.test(path);
  return isAbsolute(path) || isName || folder === undefined ? path : join(folder, path);
}
