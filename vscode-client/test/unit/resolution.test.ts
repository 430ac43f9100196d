import { describe, expect, it } from "vitest";
import { isSupported, resolveServer } from "../../src/server/resolution";
import type { Inspected, Surroundings } from "../../src/server/resolution";

const LAUNCHER = "/extension/launcher/launch.py";

/** A machine with these programs on PATH and these interpreters; everything else is not there. */
function machine(more: Partial<Surroundings> & { programs?: string[]; pythons?: Record<string, Partial<Inspected>> }) {
  const steps: string[] = [];
  const { programs = [], pythons = {}, ...rest } = more;
  const around: Surroundings = {
    trusted: true,
    importStrategy: "fromEnvironment",
    path: "",
    interpreter: undefined,
    launcher: LAUNCHER,
    program: (named) => programs.find((program) => program === named),
    onPath: (names) => programs.filter((program) => names.some((name) => program.endsWith(`/${name}`))),
    inspect: (python) => {
      const found = pythons[python];
      return Promise.resolve(
        found ? { version: "3.12.1", executable: python, llmLint: null, ...found } : `${python} can't be run`,
      );
    },
    log: (step) => steps.push(step),
    ...rest,
  };
  return { around, steps };
}

const SELECTED = { path: "/venv/bin/python", source: "the Python extension" };

describe("which llm-lint is started", () => {
  it("is the one of the setting, before all others", async () => {
    const { around, steps } = machine({
      path: "/opt/llm-lint",
      interpreter: SELECTED,
      programs: ["/opt/llm-lint", "/usr/bin/llm-lint"],
      pythons: { "/venv/bin/python": { llmLint: "0.1.0" } },
    });
    const { server, problem } = await resolveServer(around);
    expect(server).toEqual({ command: "/opt/llm-lint", arguments: [], origin: "setting", python: undefined });
    expect(problem).toBeUndefined();
    expect(steps).toEqual(["llmLint.path: /opt/llm-lint"]);
  });

  it("is that of the selected environment, before PATH", async () => {
    const { around } = machine({
      interpreter: SELECTED,
      programs: ["/usr/bin/llm-lint"],
      pythons: { "/venv/bin/python": { llmLint: "0.1.0" } },
    });
    const { server } = await resolveServer(around);
    expect(server?.origin).toBe("environment");
    expect([server?.command, ...(server?.arguments ?? [])]).toEqual(["/venv/bin/python", LAUNCHER, "installed"]);
  });

  it("is one on PATH where the environment has none", async () => {
    const { around } = machine({
      interpreter: SELECTED,
      programs: ["/usr/bin/llm-lint"],
      pythons: { "/venv/bin/python": {} },
    });
    expect((await resolveServer(around)).server?.command).toBe("/usr/bin/llm-lint");
  });

  it("is the bundled one in the end, run by the selected interpreter, and each step is logged", async () => {
    const { around, steps } = machine({ interpreter: SELECTED, pythons: { "/venv/bin/python": {} } });
    const { server } = await resolveServer(around);
    expect(server?.origin).toBe("bundled");
    expect([server?.command, ...(server?.arguments ?? [])]).toEqual(["/venv/bin/python", LAUNCHER, "bundled"]);
    expect(steps).toEqual([
      "llmLint.path is not set",
      "the Python extension: /venv/bin/python, Python 3.12.1",
      "the environment has no llm-lint",
      "PATH has no llm-lint",
      "the bundled llm-lint, run by /venv/bin/python, Python 3.12.1",
    ]);
  });

  it("is the bundled one where the setting says so, whatever is installed", async () => {
    const { around } = machine({
      importStrategy: "useBundled",
      interpreter: SELECTED,
      programs: ["/usr/bin/llm-lint"],
      pythons: { "/venv/bin/python": { llmLint: "0.1.0" } },
    });
    expect((await resolveServer(around)).server?.origin).toBe("bundled");
  });

  it("is run by a Python on PATH where the selected one is too old", async () => {
    const { around, steps } = machine({
      interpreter: SELECTED,
      programs: ["/usr/bin/python3"],
      pythons: { "/venv/bin/python": { version: "3.9.18" }, "/usr/bin/python3": {} },
    });
    const { server, problem } = await resolveServer(around);
    expect(server?.command).toBe("/usr/bin/python3");
    expect(problem).toBeUndefined();
    expect(steps).toContain("the Python extension: Python 3.9.18 is older than 3.10: /venv/bin/python");
  });
});

describe("a setting that can't be followed", () => {
  it("is a problem, and the next place is asked", async () => {
    const { around } = machine({ path: "/gone/llm-lint", programs: ["/usr/bin/llm-lint"] });
    const { server, problem } = await resolveServer(around);
    expect(server?.origin).toBe("path");
    expect(problem).toBe("llmLint.path: there is no program /gone/llm-lint");
  });

  it("is told of where it names an interpreter", async () => {
    const { around } = machine({
      interpreter: { path: "/gone/python", source: "llmLint.interpreter" },
      programs: ["/usr/bin/python3"],
      pythons: { "/usr/bin/python3": {} },
    });
    const { server, problem } = await resolveServer(around);
    expect(server?.origin).toBe("bundled");
    expect(problem).toBe("/gone/python can't be run");
  });
});

describe("in a workspace that is not trusted", () => {
  it("only the bundled llm-lint runs, isolated, and neither settings nor the environment are asked", async () => {
    const { around } = machine({
      trusted: false,
      path: "/workspace/llm-lint",
      interpreter: { path: "/workspace/.venv/bin/python", source: "llmLint.interpreter" },
      programs: ["/workspace/llm-lint", "/usr/bin/llm-lint", "/usr/bin/python3"],
      pythons: { "/workspace/.venv/bin/python": { llmLint: "0.1.0" }, "/usr/bin/python3": {} },
    });
    const { server } = await resolveServer(around);
    expect(server).toEqual({
      command: "/usr/bin/python3",
      arguments: ["-I", LAUNCHER, "bundled"],
      origin: "bundled",
      python: "/usr/bin/python3",
    });
  });
});

it("without a Python that is new enough there is no server, and the reason names the way out", async () => {
  const { around } = machine({
    programs: ["/usr/bin/python3"],
    pythons: { "/usr/bin/python3": { version: "3.8.10" } },
  });
  const { server, problem } = await resolveServer(around);
  expect(server).toBeUndefined();
  expect(problem).toBe("llm-lint needs Python 3.10 or newer, and none was found: select an interpreter");
});

it.each([
  ["3.10.0", true],
  ["3.14.0", true],
  ["4.0.0", true],
  ["3.9.20", false],
  ["2.7.18", false],
])("Python %s is supported: %s", (version, supported) => {
  expect(isSupported(version)).toBe(supported);
});
