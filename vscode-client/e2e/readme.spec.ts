/** The pictures in the README; `npm run screenshots` takes them anew. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PYTHON, ROOT } from "./codeServer.ts";
import { expect, test } from "./fixtures.ts";
import { DIVERGING, MODULE } from "./programs.ts";
import type { Workbench } from "./workbench.ts";

test.use({ viewport: { width: 1100, height: 620 } });

function example(name: string): Record<string, string> {
  return { [name]: readFileSync(join(ROOT, "examples", "support-bot", name), "utf8") };
}

async function picture(workbench: Workbench, name: string): Promise<void> {
  await workbench.page.mouse.move(0, 0);
  await workbench.page.screenshot({ path: join(ROOT, "vscode-client", "media", "screenshots", `${name}.png`) });
}

test("problems", async ({ open }) => {
  const workbench = await open(example("support_bot/tone.py"));
  await workbench.openFile("support_bot/tone.py");
  await workbench.run("Problems: Focus on Problems View");
  // To the line that it is about.
  await workbench.problems.locator(".monaco-list-row", { hasText: "LLM101" }).dblclick();
  await expect(workbench.squiggles).not.toHaveCount(0);
  await workbench.page.keyboard.press("Control+B");
  await picture(workbench, "problems");
});

test("notebook", async ({ open }) => {
  const workbench = await open(example("notebooks/probe.ipynb"));
  await workbench.openFile("notebooks/probe.ipynb");
  await workbench.run("Problems: Focus on Problems View");
  await workbench.problems.locator(".monaco-list-row", { hasText: "LLM" }).first().dblclick();
  await expect(workbench.squiggles).not.toHaveCount(0);
  await picture(workbench, "notebook");
});

test("card", async ({ open }) => {
  const workbench = await open(example("support_bot/serve.py"));
  await workbench.openFile("support_bot/serve.py");
  await expect(workbench.squiggles).not.toHaveCount(0);
  await workbench.page.keyboard.press("Control+B");
  await workbench.goTo(8, 25);
  await workbench.showHover();
  await expect(workbench.hover).toContainText("context length");
  await picture(workbench, "card");
});

test("stopped", async ({ open }) => {
  const workbench = await open({ "train.py": DIVERGING });
  await workbench.openFile("train.py");
  await workbench.goTo(9, 10);
  await workbench.run("LLM Lint: Break when this is NaN or infinite");
  await workbench.page.locator(".codicon-debug-breakpoint-conditional").first().waitFor();
  await workbench.startDebugging("Python: this file");
  await expect(workbench.lines).toContainText("loss: [] float32 cpu");
  await picture(workbench, "stopped");
  await workbench.stopDebugging();
});

test("shapes", async ({ open }) => {
  const workbench = await open({ "model.py": MODULE }, { "llmLint.interpreter": PYTHON });
  await workbench.openFile("model.py");
  await workbench.lenses.getByText("Check shapes").click();
  await expect(workbench.shapes.filter({ hasText: "layers" }).first()).toBeVisible();
  await picture(workbench, "shapes");
});
