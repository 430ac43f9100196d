/** What every supported VS Code must do; run in the oldest one too. */

import { expect, test } from "./fixtures.ts";
import { DIVERGING, FAULTY, MODULE, REPAIRED } from "./programs.ts";

test("the extension is not activated where there is nothing for it, and costs little where there is", async ({
  open,
}) => {
  const workbench = await open({ "notes.txt": "text", "train.py": FAULTY, "pyproject.toml": "[project]\n" });
  const running = workbench.page.locator(".runtime-extensions-editor .extension", { hasText: "llm-lint" });
  // The slowest stand first, and only rows that are seen are there.
  await workbench.page.setViewportSize({ width: 1280, height: 2000 });
  await workbench.openFile("notes.txt");
  await workbench.run("Developer: Show Running Extensions");
  await expect(workbench.page.locator(".runtime-extensions-editor .extension").first()).toBeVisible();
  await expect(running).toHaveCount(0);
  await workbench.openFile("train.py");
  await expect(workbench.squiggles).not.toHaveCount(0);
  await workbench.run("Developer: Show Running Extensions");
  await expect(running).toBeVisible();
  await workbench.screenshot("running");
  const [, took] = /Activation: (\d+)\s*ms/.exec(await running.innerText()) ?? [];
  expect(took, "the time of activation is shown").toBeDefined();
  // Printed, not judged: what else the machine does has more to say about it than we.
  console.log(`    activated in ${took} ms; promised are less than 50 on a machine that does nothing else`);
});

test("a fault is underlined, listed with its code, repaired and saved", async ({ open }) => {
  const workbench = await open({ "train.py": FAULTY });
  const { problems, squiggles } = workbench;
  await workbench.openFile("train.py");
  await expect(squiggles).not.toHaveCount(0);
  await workbench.run("Problems: Focus on Problems View");
  await expect(problems).toContainText("tokenizer `bert-base-cased`");
  // A link, which opens the rule's page.
  await expect(problems.locator("a", { hasText: "LLM101" })).toBeVisible();
  await workbench.screenshot("problem");
  await workbench.goTo(6, 56);
  await workbench.takeCodeAction(/bert-base-uncased/, "fix", async () => {
    await expect(workbench.lines).not.toContainText("bert-base-cased", { timeout: 4000 });
  });
  await expect(squiggles).toHaveCount(0);
  await expect(problems).not.toContainText("LLM101");
  await workbench.save();
  await workbench.expectOnDisk("train.py", REPAIRED);
  await workbench.screenshot("repaired");
});

test("a lens stands above a module", async ({ open }) => {
  const workbench = await open({ "model.py": MODULE });
  await workbench.openFile("model.py");
  await expect(workbench.lenses).toContainText("Check shapes");
});

test("a breakpoint for NaN stands in the Breakpoints view, set from the menu of code actions", async ({ open }) => {
  const workbench = await open({ "train.py": DIVERGING });
  await workbench.openFile("train.py");
  await workbench.goTo(9, 10);
  await workbench.takeCodeAction("Break when this is NaN or infinite", "breakpoint-menu", async () => {
    await workbench.page.locator(".codicon-debug-breakpoint-conditional").first().waitFor({ timeout: 4000 });
  });
  await workbench.run("View: Show Run and Debug");
  const breakpoint = workbench.page.locator(".debug-breakpoints .breakpoint");
  await expect(breakpoint).toContainText("train.py");
  await expect(breakpoint).toContainText("10");
  await workbench.screenshot("breakpoint");
});
