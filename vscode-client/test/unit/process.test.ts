import { expect, it } from "vitest";
import { ServerProcess } from "../../src/server/process";

/** A program that gets `server` as its last argument, as llm-lint does. */
function program(text: string): ServerProcess {
  return new ServerProcess({
    command: process.execPath,
    arguments: ["-e", text],
    origin: "setting",
    python: undefined,
  });
}

it("remembers the last words of a server that ends, and forgets them when it starts again", async () => {
  const server = program("console.error('first'); console.error('last'); console.error(' ')");
  const child = await server.start();
  const heard: string[] = [];
  server.hear(child.stderr ?? process.stdin, (line) => heard.push(line));
  await new Promise((resolve) => child.once("close", resolve));
  expect(heard).toEqual(["first", "last", " "]);
  expect(server.lastWords).toBe("last");
  await server.start();
  expect(server.lastWords).toBeUndefined();
  await server.end();
});

it("ends a server that does not want to", async () => {
  const server = program("process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)");
  const child = await server.start();
  await server.end();
  expect(child.signalCode ?? child.exitCode).not.toBeNull();
});

it("does not wait for a child that holds the streams of a server that was ended", async () => {
  const server = program(
    "require('child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 20000)'], {stdio: 'inherit'});" +
      "setInterval(() => {}, 1000)",
  );
  const child = await server.start();
  await new Promise((resolve) => setTimeout(resolve, 500));
  await server.end();
  expect(child.signalCode ?? child.exitCode).not.toBeNull();
});

it("says which program is not there", async () => {
  const server = new ServerProcess({
    command: "/nowhere/llm-lint",
    arguments: [],
    origin: "setting",
    python: undefined,
  });
  await expect(server.start()).rejects.toThrow("/nowhere/llm-lint");
  await server.end();
});
