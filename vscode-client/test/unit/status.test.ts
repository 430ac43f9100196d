import { expect, it } from "vitest";
import { stateAfter } from "../../src/shapes/probe";
import { describeProbe, describeServer } from "../../src/status";

it("names the version, where llm-lint comes from and the interpreter", () => {
  const shown = describeServer(
    { kind: "running", version: "0.1.0", origin: "bundled", python: "/home/a/b/.venv/bin/python" },
    undefined,
  );
  expect(shown).toEqual({
    text: "llm-lint 0.1.0",
    detail: "bundled, …/.venv/bin/python",
    severity: "information",
    busy: false,
  });
});

const LONG = "/data/environment-for-fine-tuning-language-models-with-deepspeed";

it.each([
  [`${LONG}/bin/python`, "bundled, …/bin/python"],
  ["C:\\Users\\me\\project\\.venv\\Scripts\\python.exe", "bundled, C:…/.venv/Scripts/python.exe"],
  ["/usr/bin/python3", "bundled, /usr/bin/python3"],
  [`${"long".repeat(20)}.exe`, "bundled, longlonglonglonglonglonglonglong…"],
])("leaves of the path %s what there is room for", (python, detail) => {
  const shown = describeServer({ kind: "running", version: "0.1.0", origin: "bundled", python }, undefined);
  expect(shown.detail).toBe(detail);
});

it("leaves of a reason what there is room for", () => {
  const { text, detail } = describeServer({ kind: "failed", why: `${LONG}/a/bin/python can't be run: ENOENT` }, "");
  expect(detail).toBe("…/a/bin/python can't be run: ENOENT");
  expect(text.length + describeServer({ kind: "failed", why: "why ".repeat(50) }, "").detail.length).toBe(56);
});

it("is a warning while the server runs but has something to complain of", () => {
  const shown = describeServer(
    { kind: "running", version: "0.1.0", origin: "path", python: undefined },
    "odd settings",
  );
  expect(shown).toMatchObject({ detail: "odd settings", severity: "warning" });
});

it("is an error with its reason when there is no server", () => {
  expect(describeServer({ kind: "failed", why: "no Python" }, undefined)).toMatchObject({
    text: "llm-lint does not run",
    detail: "no Python",
    severity: "error",
  });
});

it("is busy only while something happens", () => {
  expect(describeServer({ kind: "starting" }, undefined).busy).toBe(true);
  expect(describeServer({ kind: "stopped", why: "off" }, undefined).busy).toBe(false);
  expect(describeProbe({ kind: "connecting", target: "GPT" }).busy).toBe(true);
  expect(describeProbe({ kind: "connected", last: "GPT: ok" }).busy).toBe(false);
});

const message = { uri: "file:///m.py", name: "GPT", asked: true, result: {} };

it.each(["ok", "user_error", "needs_args", "timeout"])("a run that ends in %s leaves the probe connected", (status) => {
  expect(stateAfter({ ...message, status }).kind).toBe("connected");
});

it.each([
  ["no_torch", "the interpreter has no torch"],
  ["crash", "it crashed; the log has more"],
])("a run that ends in %s is a failure of the probe", (status, why) => {
  expect(describeProbe(stateAfter({ ...message, status }))).toMatchObject({ severity: "error", detail: why });
});

it("after a whole file it says how many of its classes run", () => {
  const classes = [
    { status: "ok", result: { target: "GPT" } },
    { status: "user_error", result: { target: "Head" } },
  ];
  const state = stateAfter({ ...message, name: null, status: "user_error", result: { classes } });
  expect(describeProbe(state).detail).toBe("the file: 1 of 2 classes run");
});
