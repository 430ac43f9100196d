import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/unit/**/*.test.ts"],
    // There is no such module outside of an editor; what tests need of it is written down in one place.
    alias: { vscode: fileURLToPath(new URL("./test/unit/vscode.ts", import.meta.url)) },
  },
});
