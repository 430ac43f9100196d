import { expect, test } from "./fixtures.ts";
import { DIVERGING } from "./programs.ts";

test("a program started without launch.json stops at the NaN, shows what its tensors are, and logs shapes", async ({
  open,
}) => {
  const workbench = await open({ "train.py": DIVERGING });
  const { page } = workbench;
  await workbench.openFile("train.py");
  await workbench.goTo(8, 10);
  await workbench.run("LLM Lint: Log shape, dtype and device here");
  await page.locator(".codicon-debug-breakpoint-log").first().waitFor();
  await workbench.goTo(9, 10);
  await workbench.run("LLM Lint: Break when this is NaN or infinite");
  await page.locator(".codicon-debug-breakpoint-conditional").first().waitFor();

  await workbench.startDebugging("Python: this file");
  const line = (text: string) => workbench.lines.locator(".view-line", { hasText: text });
  await expect(line("logits = model")).toContainText("logits: [4, 2] float32 cpu");
  await expect(line("loss = logits")).toContainText("loss: [] float32 cpu");
  await workbench.screenshot("stopped");
  await workbench.run("Debug Console: Focus on Debug Console View");
  await expect(page.locator(".repl")).toContainText("logits: [4, 2] torch.float32 cpu");
  await workbench.screenshot("logged");
  await workbench.stopDebugging();
});

test("launch.json is written on request, beside what stands in it", async ({ open }) => {
  const own =
    '{\n  // mine\n  "version": "0.2.0",\n  "configurations": [{ "name": "attach", "type": "debugpy", "request": "attach" }]\n}\n';
  const workbench = await open({ "train.py": DIVERGING, ".vscode/launch.json": own });
  await workbench.openFile("train.py");
  await workbench.run("LLM Lint: Write debug configurations into launch.json");
  await workbench.page.locator(".quick-input-widget input").fill("8");
  await workbench.page.keyboard.press("Enter");
  await workbench.expectOnDisk(".vscode/launch.json", (text) =>
    /mine[^]*"attach"[^]*"Python: this file"[^]*--nproc-per-node=8/.test(text),
  );
});
