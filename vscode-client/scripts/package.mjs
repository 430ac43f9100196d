// Makes dist/llm-lint.vsix: bundles the server and the extension, and keeps to the sizes that we promise.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createVSIX } from "@vscode/vsce";

const KILOBYTE = 1000;

const client = fileURLToPath(new URL("..", import.meta.url));
process.chdir(client);

/** One with pip: that of the checkout, else whichever is there. */
function python() {
  const inCheckout = ["../.venv/bin/python", "../.venv/Scripts/python.exe"].find((path) => existsSync(path));
  return process.env.PYTHON ?? inCheckout ?? (process.platform === "win32" ? "python" : "python3");
}

// What an older build has left would be packaged with it.
rmSync("dist", { recursive: true, force: true });
execFileSync(python(), ["../scripts/bundle_server.py"], { stdio: "inherit" });
execFileSync(process.execPath, ["scripts/build.mjs"], { stdio: "inherit" });
await createVSIX({
  packagePath: "dist/llm-lint.vsix",
  dependencies: false,
  allowMissingRepository: true,
  rewriteRelativeLinks: false,
});

const scripts = readdirSync("dist").filter((name) => name.endsWith(".js"));
const parts = [
  { what: "what activation loads", files: ["extension.js"], limit: 50 },
  { what: "the extension", files: scripts, limit: 600 },
  { what: "llm-lint.vsix", files: ["llm-lint.vsix"], limit: 6000 },
];
for (const { what, files, limit } of parts) {
  const size = files.reduce((sum, name) => sum + statSync(`dist/${name}`).size, 0) / KILOBYTE;
  console.log(`${what}: ${Math.round(size)} KB of ${limit} KB`);
  if (size > limit) {
    console.error("package: larger than promised");
    process.exitCode = 1;
  }
}
