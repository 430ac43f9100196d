import { expect, test } from "./fixtures.ts";
import { FAULTY, LEAKING, MODULE, notebook, REPAIRED } from "./programs.ts";

test("saving applies the safe fixes, where the user wants that", async ({ open }) => {
  const workbench = await open(
    { "train.py": LEAKING },
    { "[python]": { "editor.codeActionsOnSave": { "source.fixAll.llm-lint": "explicit" } } },
  );
  await workbench.openFile("train.py");
  await expect(workbench.squiggles).not.toHaveCount(0);
  await workbench.save();
  await workbench.expectOnDisk("train.py", LEAKING.replace("total += loss", "total += loss.detach()"));
  await expect(workbench.squiggles).toHaveCount(0);
});

test("Fix all applies the safe fixes without saving", async ({ open }) => {
  const workbench = await open({ "train.py": LEAKING + FAULTY });
  await workbench.openFile("train.py");
  await expect(workbench.squiggles).not.toHaveCount(0);
  await workbench.run("LLM Lint: Fix all");
  await expect(workbench.lines).toContainText("total += loss.detach()");
  await workbench.expectOnDisk("train.py", LEAKING + FAULTY);
});

test("a card on a model is shown over its id", async ({ open }) => {
  const workbench = await open({ "train.py": FAULTY });
  await workbench.openFile("train.py");
  await expect(workbench.squiggles).not.toHaveCount(0);
  await workbench.goTo(7, 60);
  await workbench.showHover();
  await expect(workbench.hover).toContainText("bert-base-uncased");
  await expect(workbench.hover).toContainText("30,522");
  await expect(workbench.hover).not.toContainText("`");
  await workbench.screenshot("hover");
});

test("the code of a problem opens the page on its rule", async ({ open }) => {
  const workbench = await open({ "train.py": FAULTY });
  await workbench.openFile("train.py");
  await workbench.run("Problems: Focus on Problems View");
  await workbench.problems.locator("a", { hasText: "LLM101" }).click();
  await expect(workbench.page.locator(".tab", { hasText: "tokenizer-of-another-model" })).toBeVisible();
  const preview = workbench.page.frameLocator("iframe.webview").frameLocator("iframe");
  await expect(preview.getByText("the ids of another vocabulary")).toBeVisible();
  await workbench.screenshot("rule");
});

test("the cells of a notebook are one program, each with its squiggles and fixes", async ({ open }) => {
  const [head = "", body = ""] = FAULTY.split("\n\n\n");
  const workbench = await open({ "train.ipynb": notebook(head, body, "main()") });
  await workbench.openFile("train.ipynb");
  const cell = workbench.page.locator(".notebookOverlay .cell.code", { hasText: "bert-base-cased" });
  await expect(cell.locator(".squiggly-warning, .squiggly-error")).not.toHaveCount(0);
  await workbench.screenshot("notebook");
  await cell.locator(".view-line", { hasText: "bert-base-cased" }).click();
  await workbench.page.keyboard.press("End");
  for (let step = 0; step < 5; step += 1) await workbench.page.keyboard.press("ArrowLeft");
  await workbench.takeCodeAction(/bert-base-uncased/, "notebook-fix", async () => {
    await expect(cell).toHaveCount(0, { timeout: 4000 });
  });
  await workbench.save();
  await workbench.expectOnDisk("train.ipynb", (text) => !text.includes("bert-base-cased") && text.includes("no_grad"));
});

test("a changed setting takes effect at once", async ({ open }) => {
  const workbench = await open({ "train.py": FAULTY, "model.py": MODULE });
  await workbench.openFile("train.py");
  await expect(workbench.squiggles).not.toHaveCount(0);
  await expect(workbench.lenses).toContainText("Check shapes");
  workbench.write(".vscode/settings.json", JSON.stringify({ "llmLint.codeLens.checkShapes": false }));
  await expect(workbench.lenses).toHaveCount(0);
  await expect(workbench.squiggles).not.toHaveCount(0);
  workbench.write(".vscode/settings.json", JSON.stringify({ "llmLint.enable": false }));
  await expect(workbench.squiggles).toHaveCount(0);
  workbench.write(".vscode/settings.json", "{}");
  await expect(workbench.squiggles).not.toHaveCount(0);
});

test("a changed llm-lint.toml takes effect at once", async ({ open }) => {
  const workbench = await open({ "train.py": FAULTY, "llm-lint.toml": "" });
  await workbench.openFile("train.py");
  await expect(workbench.squiggles).not.toHaveCount(0);
  workbench.write("llm-lint.toml", 'ignore = ["LLM101"]\n');
  await expect(workbench.squiggles).toHaveCount(0);
});

test("a server that is killed comes back, and one that is restarted is another", async ({ open, codeServer }) => {
  const workbench = await open({ "train.py": FAULTY });
  await workbench.openFile("train.py");
  await expect(workbench.squiggles).not.toHaveCount(0);
  // Those of pages that were closed need a moment to go.
  await expect.poll(() => codeServer.languageServers().length).toBe(1);
  const [first = 0] = codeServer.languageServers();
  process.kill(first, "SIGKILL");
  await expect.poll(() => codeServer.languageServers().filter((each) => each !== first).length).toBe(1);
  const [second] = codeServer.languageServers();
  await workbench.goTo(6, 56);
  await workbench.takeCodeAction(/bert-base-uncased/, "fix-after-crash", async () => {
    await expect(workbench.lines).not.toContainText("bert-base-cased", { timeout: 4000 });
  });
  await expect(workbench.squiggles).toHaveCount(0);
  await workbench.run("LLM Lint: Restart server");
  await expect.poll(() => codeServer.languageServers().filter((each) => each !== second).length).toBe(1);
  await expect.poll(() => codeServer.languageServers()).not.toContain(second);
  await workbench.page.keyboard.press("Control+Z");
  await expect(workbench.squiggles).not.toHaveCount(0);
  await expect(workbench.notifications.getByRole("dialog")).toHaveCount(0);
});

test("what was repaired on the disk by somebody else is no longer reported", async ({ open }) => {
  const workbench = await open({ "train.py": FAULTY });
  await workbench.openFile("train.py");
  await expect(workbench.squiggles).not.toHaveCount(0);
  workbench.write("train.py", REPAIRED);
  await expect(workbench.squiggles).toHaveCount(0);
});
