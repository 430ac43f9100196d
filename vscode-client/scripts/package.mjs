// Makes dist/llm-lint.vsix: bundles the server and the extension, and keeps to the sizes that we promise.
import { execFileSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createVSIX } from "@vscode/vsce";

const KILOBYTE = 1000;
const LIMITS = { "dist/extension.js": 600 * KILOBYTE, "dist/llm-lint.vsix": 6000 * KILOBYTE };

const client = fileURLToPath(new URL("..", import.meta.url));
process.chdir(client);

/** One with pip: that of the checkout, else whichever is there. */
function python() {
  const inCheckout = ["../.venv/bin/python", "../.venv/Scripts/python.exe"].find((path) => existsSync(path));
  return process.env.PYTHON ?? inCheckout ?? (process.platform === "win32" ? "python" : "python3");
}

execFileSync(python(), ["../scripts/bundle_server.py"], { stdio: "inherit" });
execFileSync(process.execPath, ["scripts/build.mjs"], { stdio: "inherit" });
await createVSIX({
  packagePath: "dist/llm-lint.vsix",
  dependencies: false,
  allowMissingRepository: true,
  rewriteRelativeLinks: false,
});

let isTooLarge = false;
for (const [path, limit] of Object.entries(LIMITS)) {
  const { size } = statSync(path);
  console.log(`${path}: ${Math.round(size / KILOBYTE)} KB of ${limit / KILOBYTE} KB`);
  isTooLarge ||= size > limit;
}
if (isTooLarge) {
  console.error("package: larger than promised");
  process.exitCode = 1;
}
