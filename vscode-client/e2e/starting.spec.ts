import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "./fixtures.ts";
import { FAULTY } from "./programs.ts";

test("a command that activates the extension waits for the server", async ({ open }) => {
  const workbench = await open({ "notes.txt": "text" });
  await workbench.run("LLM Lint: Open rule documentation");
  await expect(workbench.page.locator(".quick-input-list .monaco-list-row", { hasText: "LLM101" })).toBeVisible();
  await expect(workbench.notifications.getByRole("dialog")).toHaveCount(0);
});

test("the status item says which llm-lint runs", async ({ open }) => {
  const workbench = await open({ "train.py": FAULTY });
  await workbench.openFile("train.py");
  await expect(workbench.squiggles).not.toHaveCount(0);
  const item = workbench.page.locator('.statusbar-item[id="status.languageStatus"]');
  await item.click();
  const shown = workbench.page.locator(".hover-language-status");
  await expect(shown.filter({ hasText: /llm-lint \d+\.\d+\.\d+/ })).toBeVisible();
  await expect(shown.filter({ hasText: "Probe: disconnected" })).toBeVisible();
  await workbench.screenshot("status");
});

test("settings of the wrong kind are passed over", async ({ open }) => {
  const workbench = await open(
    { "train.py": FAULTY },
    {
      "llmLint.path": 5,
      "llmLint.interpreter": null,
      "llmLint.importStrategy": ["useBundled"],
      "llmLint.diagnosticMode": {},
      "llmLint.trace.server": true,
    },
  );
  await workbench.openFile("train.py");
  await expect(workbench.squiggles).not.toHaveCount(0);
  await expect(workbench.notifications.getByRole("dialog")).toHaveCount(0);
});

test("the debug information names the server and its interpreter", async ({ open }) => {
  const workbench = await open({ "train.py": FAULTY });
  await workbench.openFile("train.py");
  await expect(workbench.squiggles).not.toHaveCount(0);
  await workbench.run("LLM Lint: Show debug information");
  await expect(workbench.lines).toContainText("bundled");
  await expect(workbench.lines).toContainText("python");
  await workbench.screenshot("debug-information");
});

test("in a workspace that is not trusted faults are shown and nothing of it is started", async ({
  open,
  codeServer,
}) => {
  const planted = '#!/bin/sh\ntouch "$(dirname "$0")/../../started"\nexec python3 "$@"\n';
  const workbench = await open(
    {
      "train.py": FAULTY,
      ".venv/pyvenv.cfg": "home = /usr/bin\n",
      ".venv/bin/python": planted,
      ".venv/bin/llm-lint": planted,
      ".vscode/settings.json": JSON.stringify({
        "llmLint.interpreter": "${workspaceFolder}/.venv",
        "llmLint.path": "${workspaceFolder}/.venv/bin/llm-lint",
      }),
    },
    { "security.workspace.trust.enabled": true, "security.workspace.trust.startupPrompt": "never" },
  );
  const started = join(workbench.folder, "started");
  await expect(workbench.page.locator(".statusbar-item", { hasText: "Restricted Mode" })).toBeVisible();
  await workbench.openFile("train.py");
  await expect(workbench.squiggles).not.toHaveCount(0);
  const [restricted] = codeServer.languageServers();
  expect(restricted).toBeDefined();
  expect(existsSync(started)).toBe(false);
  await expect(workbench.lenses).toHaveCount(0);
  await workbench.screenshot("untrusted");

  await workbench.run("Workspaces: Manage Workspace Trust");
  await workbench.page.locator(".workspace-trust-editor").getByRole("button", { name: "Trust", exact: true }).click();
  // Only to be seen: that the plant would have been started, had anybody trusted it before.
  await expect.poll(() => existsSync(started)).toBe(true);
});
