import { test as plain } from "@playwright/test";
import { CodeServer, type Settings } from "./codeServer.ts";
import { Workbench } from "./workbench.ts";

export interface Options {
  /** Of code-server. */
  release: string;
}

interface Shared extends Options {
  codeServer: CodeServer;
}

interface Own {
  /** Opens a folder with these files in a page of its own. */
  open: (files: Readonly<Record<string, string>>, settings?: Settings) => Promise<Workbench>;
}

export const test = plain.extend<Own, Shared>({
  release: ["", { scope: "worker", option: true }],
  codeServer: [
    async ({ release }, use) => {
      const server = new CodeServer(release);
      await server.start();
      await use(server);
      await server.stop();
    },
    { scope: "worker", timeout: 180_000 },
  ],
  open: async ({ codeServer, page }, use) => {
    await page.route(
      (address) => address.hostname !== "127.0.0.1",
      (route) => route.abort(),
    );
    await use(async (files, settings = {}) => {
      codeServer.configure(settings);
      const folder = codeServer.workspace(files);
      await page.goto(codeServer.pageOf(folder));
      const workbench = new Workbench(page, folder);
      await workbench.isReady();
      return workbench;
    });
  },
});

export { expect } from "@playwright/test";
