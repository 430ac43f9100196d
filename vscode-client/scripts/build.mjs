// Bundles the extension into one file; `--watch` for whoever works on it.
import { fileURLToPath } from "node:url";
import { build, context } from "esbuild";

const watch = process.argv.includes("--watch");
const options = {
  absWorkingDir: fileURLToPath(new URL("..", import.meta.url)),
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  bundle: true,
  // The editor brings this one.
  external: ["vscode"],
  platform: "node",
  format: "cjs",
  // VS Code 1.96 runs extensions on Node 20.
  target: "node20",
  minify: !watch,
  sourcemap: watch,
  logLevel: "warning",
};

if (watch) {
  await (await context(options)).watch();
} else {
  await build(options);
}
