import { homedir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { collect, expandPath, serverSettings } from "../../src/settings";

it("sends the server all settings but those that only the extension reads", () => {
  const names = serverSettings([
    "llmLint.path",
    "llmLint.enable",
    "llmLint.codeLens.checkShapes",
    "llmLint.trace.server",
  ]);
  expect(names).toEqual(["enable", "codeLens.checkShapes"]);
  expect(collect(names, (name) => (name === "enable" ? false : undefined))).toEqual({ enable: false });
});

it.each([
  ["", ""],
  ["  ", ""],
  ["python3.12", "python3.12"],
  ["${workspaceFolder}/.venv", "/w/.venv"],
  [".venv/bin/python", join("/w", ".venv/bin/python")],
  ["~/envs/a", `${homedir()}/envs/a`],
  ["${userHome}/b", `${homedir()}/b`],
  ["${env:VENV}/bin", "/v/bin"],
  ["${env:NOTHING}/bin", "/bin"],
])("%j in a path means %j", (value, path) => {
  expect(expandPath(value, "/w", { VENV: "/v" })).toBe(path);
});
