import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { inspectPython, interpreterAt, programsOnPath } from "../../src/server/programs";

const LAUNCHER = join(__dirname, "../../launcher/launch.py");
const ON_WINDOWS = process.platform === "win32";
const SUFFIX = ON_WINDOWS ? ".exe" : "";

function folder(): string {
  return mkdtempSync(join(tmpdir(), "llm-lint-"));
}

function program(path: string, text = ""): string {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

describe("programs on PATH", () => {
  it("are found name by name, in the order of PATH", () => {
    const [one, other] = [folder(), folder()];
    const python = program(join(one, `python${SUFFIX}`));
    const python3 = program(join(other, `python3${SUFFIX}`));
    expect([...programsOnPath(["python3", "python"], [one, other].join(delimiter), [])]).toEqual([python3, python]);
  });

  it("are passed over inside of a workspace, though a link leads there, or a relative entry", () => {
    const workspace = folder();
    mkdirSync(join(workspace, "bin"));
    program(join(workspace, "bin", `python3${SUFFIX}`));
    const link = join(folder(), "link");
    symlinkSync(join(workspace, "bin"), link, "junction");
    const path = [join(workspace, "bin"), link, "bin", ""].join(delimiter);
    expect([...programsOnPath(["python3"], path, [workspace])]).toEqual([]);
    expect([...programsOnPath(["python3"], path, [])]).not.toEqual([]);
  });
});

describe("an interpreter", () => {
  it("is found in a virtual environment that is named instead of it", () => {
    const environment = folder();
    const [inside, name] = ON_WINDOWS ? ["Scripts", "python.exe"] : ["bin", "python"];
    mkdirSync(join(environment, inside));
    const python = program(join(environment, inside, name));
    expect(interpreterAt(environment)).toBe(python);
    expect(interpreterAt(python)).toBe(python);
  });

  it("says what it is", async () => {
    const [python] = programsOnPath(["python3", "python"], process.env["PATH"] ?? "", []);
    const inspected = await inspectPython(python ?? "", LAUNCHER, true);
    expect(inspected).toMatchObject({ version: expect.stringMatching(/^3\.\d+\.\d+$/) as string });
  });

  it("that is not there, or is none, is said so in one line", async () => {
    expect(await inspectPython(join(folder(), "python"), LAUNCHER, false)).toMatch(/can't be run: .*ENOENT/);
    expect(await inspectPython(process.execPath, LAUNCHER, false)).not.toContain("\n");
  });

  it.skipIf(ON_WINDOWS)("that answers something else is none", async () => {
    const liar = program(join(folder(), "python"), "#!/bin/sh\necho hello\n");
    expect(await inspectPython(liar, LAUNCHER, false)).toMatch(/is no Python interpreter: it answers "hello/);
  });
});
