/** The workbench with the extension, on the example project: the shortest way to see it. Ends with Ctrl+C. */

import { join } from "node:path";
import { CodeServer, NEWEST, PYTHON, ROOT } from "./codeServer.ts";

const server = new CodeServer(NEWEST);
const stop = (): void => void server.stop().then(() => process.exit());
process.once("SIGINT", stop);
process.once("SIGTERM", stop);

try {
  // With the checkout's own environment, shapes can be checked too.
  await server.start(Number(process.env["PORT"] ?? 8080), { "llmLint.interpreter": PYTHON });
  console.log(`\n  ${server.pageOf(join(ROOT, "examples"))}\n\nCtrl+C ends it.`);
} catch (error) {
  await server.stop();
  throw error;
}
