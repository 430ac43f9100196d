import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, type Locator, type Page } from "@playwright/test";
import { RESULTS } from "./codeServer.ts";

/** The page as somebody uses it: by keyboard where that is surer, since menus come and go on a busy machine. */
export class Workbench {
  readonly page: Page;
  readonly folder: string;

  constructor(page: Page, folder: string) {
    this.page = page;
    this.folder = folder;
  }

  /** Of the editor that is in front. */
  get lines(): Locator {
    return this.page.locator(".editor-instance .view-lines").first();
  }

  get squiggles(): Locator {
    return this.page.locator(".monaco-editor").locator(".squiggly-warning, .squiggly-error, .squiggly-info");
  }

  get lenses(): Locator {
    return this.page.locator(".monaco-editor .codelens-decoration");
  }

  get problems(): Locator {
    return this.page.locator(".markers-panel");
  }

  /** The rows of the view Shapes. */
  get shapes(): Locator {
    return this.page.locator(".part.panel .tree-explorer-viewlet-tree-view .monaco-list-row");
  }

  get notifications(): Locator {
    return this.page.locator(".notifications-toasts");
  }

  async isReady(): Promise<void> {
    await this.page
      .locator(".monaco-workbench .explorer-folders-view .monaco-list-row")
      .first()
      .waitFor({ timeout: 90_000 });
  }

  async openFile(path: string): Promise<void> {
    await this.#retry(async () => {
      await this.#type("Control+P", path, (row) => row.getByText(path.split("/").at(-1) ?? "", { exact: true }));
      await this.page.locator(`.tab.active[data-resource-name="${path.split("/").at(-1)}"]`).waitFor({ timeout: 5000 });
    });
    await this.page.locator(".editor-instance").first().waitFor();
  }

  /** By its title in the command palette. */
  async run(title: string): Promise<void> {
    await this.#retry(() => this.#type("F1", title, (row) => row.getByText(title)));
  }

  /** Takes an entry of the list that is open. */
  async pick(label: string): Promise<void> {
    const row = this.page.locator(".quick-input-list .monaco-list-row", { hasText: label });
    await row.first().click();
    await row.first().waitFor({ state: "hidden" });
  }

  /** Puts the cursor before a line and a column, both from 1. */
  async goTo(line: number, column = 1): Promise<void> {
    await this.#retry(() => this.#type("Control+G", `${line},${column}`, (row) => row.getByText(`${line}`)));
    await expect(this.page.locator(".statusbar-item", { hasText: `Ln ${line}, Col ${column}` })).toBeVisible();
  }

  /** Opens the menu of code actions at the cursor until it offers this one, and takes it. */
  async takeCodeAction(title: string | RegExp, screenshot: string, taken: () => Promise<void>): Promise<void> {
    await this.#retry(async () => {
      const menu = this.page.locator(".action-widget");
      // Without a menu, Escape would leave the cell of a notebook.
      if (await menu.isVisible()) await this.page.keyboard.press("Escape");
      await this.page.keyboard.press("Control+.");
      const row = menu.locator(".monaco-list-row", { hasText: title });
      await row.waitFor({ timeout: 4000 });
      // By keyboard: in older workbenches something invisible lies over the menu and swallows clicks.
      const focused = menu.locator(".monaco-list-row.focused", { hasText: title });
      for (let step = 0; step < 12 && !(await focused.isVisible()); step += 1) {
        await this.page.keyboard.press("ArrowDown");
      }
      await focused.waitFor({ timeout: 4000 });
      await this.screenshot(screenshot);
      await this.page.keyboard.press("Enter");
      await taken();
    });
  }

  get hover(): Locator {
    return this.page.locator(".monaco-hover:visible");
  }

  /** What is known of the text at the cursor. */
  async showHover(): Promise<void> {
    await this.#retry(async () => {
      await this.page.keyboard.press("Control+K");
      await this.page.keyboard.press("Control+I");
      await this.hover.waitFor({ timeout: 5000 });
    });
  }

  /** With one of the configurations that need no launch.json; until the program stands still. */
  async startDebugging(configuration: string): Promise<void> {
    await this.run("Debug: Select and Start Debugging");
    await this.pick("Python Debugger");
    const all = this.page.locator(".quick-input-list .monaco-list-row");
    await expect(all).toContainText([/Python: this file/, /torchrun, N processes/, /attach/]);
    await this.screenshot("configurations");
    await this.pick(configuration);
    await expect(this.page.locator(".debug-top-stack-frame-line").first()).toBeVisible();
  }

  async stopDebugging(): Promise<void> {
    await this.page.keyboard.press("Shift+F5");
    await expect(this.page.locator(".debug-toolbar")).toBeHidden();
  }

  async save(): Promise<void> {
    await this.page.keyboard.press("Control+S");
  }

  /** Until the file on the disk has this text, or is as wanted. */
  async expectOnDisk(path: string, wanted: string | ((text: string) => boolean)): Promise<void> {
    const read = (): string => readFileSync(join(this.folder, path), "utf8");
    if (typeof wanted === "string") await expect.poll(read).toBe(wanted);
    else await expect.poll(() => wanted(read())).toBe(true);
  }

  /** As another program would, beside the editor. */
  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }

  async screenshot(name: string): Promise<void> {
    await this.page.screenshot({ path: join(RESULTS, "screenshots", `${name}.png`) });
  }

  async #type(keys: string, text: string, wanted: (row: Locator) => Locator): Promise<void> {
    const widget = this.page.locator(".quick-input-widget");
    await this.page.keyboard.press("Escape");
    await this.page.keyboard.press(keys);
    const box = widget.locator("input[type=text]");
    await box.waitFor({ timeout: 5000 });
    const typed = `${/^[>:]/.exec(await box.inputValue())?.[0] ?? ""}${text}`;
    await box.fill(typed);
    await wanted(widget.locator(".monaco-list-row.focused")).first().waitFor({ timeout: 5000 });
    await this.page.keyboard.press("Enter");
    // What was chosen may ask something in its turn.
    await expect
      .poll(async () => (await box.isVisible()) && (await box.inputValue()) === typed, { timeout: 5000 })
      .toBe(false);
  }

  async #retry(attempt: () => Promise<void>): Promise<void> {
    await expect(attempt).toPass({ intervals: [200, 500, 1000], timeout: 90_000 });
  }
}
