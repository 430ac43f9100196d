import { PYTHON } from "./codeServer.ts";
import { expect, test } from "./fixtures.ts";
import { MODULE } from "./programs.ts";

test("the lens above a module runs the probe, and its shapes are shown as a tree", async ({ open }) => {
  const workbench = await open({ "model.py": MODULE }, { "llmLint.interpreter": PYTHON });
  await workbench.openFile("model.py");
  await workbench.lenses.getByText("Check shapes").click();
  await expect(workbench.shapes.filter({ hasText: "Classifier" }).first()).toBeVisible();
  await expect(workbench.shapes.filter({ hasText: "layers" }).first()).toContainText("[2, 13, 8] → [2, 13, 3]");
  await expect(workbench.lenses).toContainText("195 parameters");
  await workbench.screenshot("shapes");
});
