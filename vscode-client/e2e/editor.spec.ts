/** `make editor`: the shortest way to see the product. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { CACHE, ROOT } from "./codeServer.ts";
import { expect, test } from "./fixtures.ts";
import { Workbench } from "./workbench.ts";

test("the address that is printed leads to the faults of the example", async ({ page }) => {
  const script = join(ROOT, "vscode-client", "e2e", "serve.ts");
  const serving = spawn(join(CACHE, "node"), [script], {
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(serving, "exit");
  try {
    await page.goto(await printedAddress(serving.stdout));
    const workbench = new Workbench(page, join(ROOT, "examples"));
    await workbench.isReady();
    await workbench.openFile("tone.py");
    await expect(workbench.squiggles).not.toHaveCount(0);
    await workbench.screenshot("editor");
  } finally {
    serving.kill("SIGINT");
    await ended;
  }
});

async function printedAddress(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const [address] = /http:\S+/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error("no address was printed");
}
