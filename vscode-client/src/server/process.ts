/** The server's process: started, listened to, ended. */

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { homedir } from "node:os";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { ServerCommand } from "./resolution";

/** Time for what was written before the end to arrive. */
const LAST_WORDS = 500;

export class ServerProcess {
  private child: ChildProcess | undefined;
  private closed: Promise<void> = Promise.resolve();

  /** The last line that it wrote to its log. */
  lastWords: string | undefined;

  constructor(private readonly server: ServerCommand) {}

  /** A new process; rejects where there is no such program. */
  async start(): Promise<ChildProcess> {
    const args = [...this.server.arguments, "server"];
    const child = spawn(this.server.command, args, { windowsHide: true, cwd: homedir() });
    this.lastWords = undefined;
    await once(child, "spawn");
    this.child = child;
    this.closed = closed(child);
    return child;
  }

  /** Hand on what it writes, line by line. */
  hear(stderr: Readable, log: (line: string) => void): void {
    createInterface({ input: stderr }).on("line", (line) => {
      if (line.trim() !== "") {
        this.lastWords = line;
      }
      log(line);
    });
  }

  /** End it where it has not ended by itself after some milliseconds. */
  endAfter(milliseconds: number): void {
    const { child } = this;
    setTimeout(() => child?.kill("SIGKILL"), milliseconds).unref();
  }

  /** End it now. */
  async end(): Promise<void> {
    this.child?.kill("SIGKILL");
    await this.closed;
  }
}

/** Ended, and heard to its end; but a child of its own may keep its streams open for long. */
async function closed(child: ChildProcess): Promise<void> {
  const isClosed = new Promise((resolve) => child.once("close", resolve));
  await new Promise((resolve) => child.once("exit", resolve));
  await Promise.race([isClosed, new Promise((resolve) => setTimeout(resolve, LAST_WORDS))]);
}
