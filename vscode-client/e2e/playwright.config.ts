import { join } from "node:path";
import { defineConfig } from "@playwright/test";
import { CACHE, NEWEST, OLDEST, RESULTS } from "./codeServer.ts";
import type { Options } from "./fixtures.ts";

const chromium = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

export default defineConfig<object, Options>({
  testDir: ".",
  outputDir: join(RESULTS, "failures"),
  // One code-server for each project, and one page at a time: the machine has other things to do.
  workers: 1,
  fullyParallel: false,
  // Not a limit on speed: it ends what hangs.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  // A page that has lost its focus to a loaded machine gets a second chance; the reporter says so.
  retries: 1,
  reporter: [["list"]],
  use: {
    viewport: { width: 1280, height: 800 },
    actionTimeout: 30_000,
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: chromium,
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
    },
  },
  projects: [
    { name: "newest", testIgnore: "readme.spec.ts", use: { release: NEWEST } },
    { name: "oldest", testMatch: "short.spec.ts", use: { release: OLDEST } },
    { name: "readme", testMatch: "readme.spec.ts", use: { release: NEWEST } },
  ],
  metadata: { cache: CACHE },
});
