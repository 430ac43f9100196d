/** Programs on this machine: where they lie, and what a Python interpreter says of itself. */

import { execFile } from "node:child_process";
import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join, relative } from "node:path";
import type { Inspected } from "./resolution";

const PATIENCE = 15_000;

export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/**
 * The programs of these names on PATH, name by name, in its order.
 *
 * What lies in one of the folders to avoid is passed over, and so is a relative entry of PATH, which may mean one.
 */
export function* programsOnPath(
  names: readonly string[],
  path: string,
  avoid: readonly string[],
  platform: NodeJS.Platform = process.platform,
): Generator<string> {
  const suffix = platform === "win32" ? ".exe" : "";
  for (const name of names) {
    for (const folder of path.split(delimiter)) {
      const program = join(folder, name + suffix);
      if (isAbsolute(folder) && isFile(program) && !isInside(program, avoid) && !isInside(real(program), avoid)) {
        yield program;
      }
    }
  }
}

function real(path: string): string {
  return join(realpathSync(dirname(path)), path.slice(dirname(path).length + 1));
}

function isInside(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => {
    const way = relative(folder, path);
    return way !== "" && !way.startsWith("..") && !isAbsolute(way);
  });
}

/** The interpreter that a path means: itself, or that of a virtual environment. */
export function interpreterAt(path: string, platform: NodeJS.Platform = process.platform): string {
  if (!isFolder(path)) {
    return path;
  }
  const within = platform === "win32" ? ["Scripts/python.exe", "python.exe"] : ["bin/python", "bin/python3"];
  return within.map((each) => join(path, each)).find(isFile) ?? path;
}

/** What an interpreter says of itself, or why it can't. */
export async function inspectPython(python: string, launcher: string, isolated: boolean): Promise<Inspected | string> {
  return new Promise((resolve) => {
    const options = { timeout: PATIENCE, windowsHide: true, cwd: homedir() };
    execFile(python, [...(isolated ? ["-I"] : []), launcher, "inspect"], options, (error, stdout, stderr) => {
      if (error !== null) {
        const said = stderr.trim().split("\n").at(-1);
        resolve(`${python} can't be run: ${said === undefined || said === "" ? error.message : said}`);
        return;
      }
      try {
        resolve(JSON.parse(stdout) as Inspected);
      } catch {
        resolve(`${python} is no Python interpreter: it answers ${JSON.stringify(stdout.slice(0, 100))}`);
      }
    });
  });
}
