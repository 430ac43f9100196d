// Bundles the extension: one file for what activation needs, and one for each module that is imported when it is first
// asked for, since the editor compiles the whole of a file that it loads. `--watch` for whoever works on it.
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build, context } from "esbuild";

const watch = process.argv.includes("--watch");

/** Whatever is imported by `import()` stays in a file of its own. */
const apart = {
  name: "apart",
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ kind, path }) =>
      kind === "dynamic-import" ? { path: `./${basename(path)}.js`, external: true } : undefined,
    );
  },
};

const options = {
  absWorkingDir: fileURLToPath(new URL("..", import.meta.url)),
  // The extension, and what it imports later.
  entryPoints: ["src/extension.ts", "src/server/client.ts", "src/debugging/reading.ts"],
  entryNames: "[name]",
  outdir: "dist",
  bundle: true,
  // The editor brings this one.
  external: ["vscode"],
  plugins: [apart],
  platform: "node",
  format: "cjs",
  // VS Code 1.96 runs extensions on Node 20.
  target: "node20",
  // A real import() would be answered by another loader, to which the editor doesn't give `vscode`.
  supported: { "dynamic-import": false },
  minify: !watch,
  sourcemap: watch,
  logLevel: "warning",
};

if (watch) {
  await (await context(options)).watch();
} else {
  await build(options);
}
