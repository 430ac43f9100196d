import { beforeEach, describe, expect, it, vi } from "vitest";
import { ENVIRONMENTS_ID, PYTHON_ID, PythonEnvironments } from "../../src/pythonEnvironments";
import { EventEmitter, installed } from "./vscode";

/** The interfaces of the two extensions, as far as they are asked, with one interpreter selected, or none. */
function environmentsExtension(executable: string | undefined, changed = new EventEmitter<unknown>()) {
  const environment = executable === undefined ? undefined : { execInfo: { run: { executable } } };
  return { getEnvironment: () => Promise.resolve(environment), onDidChangeEnvironment: changed.event };
}

function pythonExtension(executable: string | undefined) {
  const environment = executable === undefined ? undefined : { executable: { uri: { fsPath: executable } } };
  return {
    environments: {
      getActiveEnvironmentPath: () => ({ path: "python" }),
      resolveEnvironment: () => Promise.resolve(environment),
      onDidChangeActiveEnvironmentPath: new EventEmitter<unknown>().event,
    },
  };
}

function install(id: string, api: unknown): void {
  installed.set(id, () => Promise.resolve(api));
}

async function asked() {
  const steps: string[] = [];
  const interpreter = await new PythonEnvironments().interpreter(undefined, (step) => steps.push(step));
  return { interpreter, steps };
}

beforeEach(() => {
  installed.clear();
});

describe("the selected interpreter", () => {
  it("is that of the Python Environments extension, before that of the Python extension", async () => {
    install(ENVIRONMENTS_ID, environmentsExtension("/envs/python"));
    install(PYTHON_ID, pythonExtension("/python/python"));
    expect((await asked()).interpreter).toEqual({ path: "/envs/python", source: "the Python Environments extension" });
  });

  it("is that of the Python extension where the other has none selected, or is switched off", async () => {
    install(PYTHON_ID, pythonExtension("/python/python"));
    for (const api of [environmentsExtension(undefined), undefined]) {
      install(ENVIRONMENTS_ID, api);
      expect((await asked()).interpreter?.path).toBe("/python/python");
    }
  });

  it("is none without both, and the log says so", async () => {
    expect(await asked()).toEqual({
      interpreter: undefined,
      steps: ["the Python Environments extension is not installed", "the Python extension is not installed"],
    });
  });

  it("is none where an extension fails, and the log says why", async () => {
    installed.set(ENVIRONMENTS_ID, () => Promise.reject(new Error("no luck")));
    install(PYTHON_ID, { environments: undefined });
    const { interpreter, steps } = await asked();
    expect(interpreter).toBeUndefined();
    expect(steps[0]).toBe("the Python Environments extension does not answer: no luck");
    expect(steps[1]).toMatch(/^the Python extension does not answer: /);
  });

  it("is not waited for without end", async () => {
    vi.useFakeTimers();
    let answer: (api: unknown) => void = () => undefined;
    installed.set(ENVIRONMENTS_ID, () => new Promise((resolve) => (answer = resolve)));
    const environments = new PythonEnvironments();
    let times = 0;
    environments.onDidChange(() => (times += 1));
    const steps: string[] = [];
    const first = environments.interpreter(undefined, (step) => steps.push(step));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await first).toBeUndefined();
    expect(steps[0]).toBe("the Python Environments extension does not answer: not within 15 seconds");
    // But it is told of, should it come after all.
    answer(environmentsExtension("/envs/python"));
    await vi.advanceTimersByTimeAsync(0);
    expect(times).toBe(1);
    vi.useRealTimers();
  });
});

it("another selection is told of, once, however often the interpreter was asked for", async () => {
  const changed = new EventEmitter<unknown>();
  install(ENVIRONMENTS_ID, environmentsExtension("/envs/python", changed));
  const environments = new PythonEnvironments();
  let times = 0;
  environments.onDidChange(() => (times += 1));
  await environments.interpreter(undefined, () => undefined);
  await environments.interpreter(undefined, () => undefined);
  changed.fire(undefined);
  expect(times).toBe(1);
});
