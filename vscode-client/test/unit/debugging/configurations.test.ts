import { expect, test } from "vitest";
import { pythonConfigurations, withPythonConfigurations } from "../../../src/debugging/configurations";

test("there is one for the file, one for several processes, one to attach", () => {
  expect(pythonConfigurations(4).map(({ name, request }) => [name, request])).toEqual([
    ["Python: this file", "launch"],
    ["torchrun, 4 processes", "launch"],
    ["attach", "attach"],
  ]);
  expect(pythonConfigurations(4)[1]?.["args"]).toEqual(["--standalone", "--nproc-per-node=4", "${file}"]);
});

test("what stands in launch.json stays, and nothing is written twice", () => {
  const own = { name: "attach", type: "debugpy", port: 1 };
  const once = withPythonConfigurations([own], 2);
  expect(once.map((each) => each["name"])).toEqual(["attach", "Python: this file", "torchrun, 2 processes"]);
  expect(once[0]).toBe(own);
  expect(withPythonConfigurations(once, 2)).toEqual(once);
});
