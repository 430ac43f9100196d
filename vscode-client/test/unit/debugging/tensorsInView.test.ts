import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { PythonText } from "../../../src/debugging/syntax";
import { mentions, readSummaries, summariesQuestion } from "../../../src/debugging/tensorsInView";

const PROGRAM = `\
import torch
scale = torch.ones(2)

class Model:
    def forward(self, x):
        y = x @ self.weight
        z = [x for q in y]
        def inner():
            return hidden
        return y + batch['ids'] + outs[0].loss + f(x)[1]

    def other(self, elsewhere):
        return elsewhere
`;

function mentioned(first: number, stopped: number): string[] {
  return mentions(new PythonText(PROGRAM), first, stopped).map(({ expression, from, to }) => {
    expect(PROGRAM.slice(from, to).replaceAll("'", '"')).toBe(expression);
    return expression;
  });
}

describe("what is mentioned", () => {
  test("is what the function around the line speaks of, down to that line", () => {
    expect(mentioned(0, 5)).toEqual(["forward", "self", "x", "y", "x", "self.weight", "self"]);
  });

  test("is nothing of a function inside, and no part of an expression that the frame has no name for", () => {
    expect(mentioned(9, 9)).toEqual(["y", 'batch["ids"]', "batch", "outs[0]", "outs", "f", "x"]);
  });

  test("is what the module says outside of functions and classes", () => {
    expect(mentioned(0, 1)).toEqual(["torch", "scale", "torch.ones", "torch"]);
  });
});

/** A stand-in for torch, with what the question may touch; whatever else it touches raises. */
const FRAME = `\
import sys, types, collections
torch = types.ModuleType("torch")
class Tensor:
    def __init__(self, *shape): self.shape = shape; self.dtype = "torch.bfloat16"; self.device = "cuda:0"
    def __repr__(self): raise SystemExit("its numbers were asked for")
class Lazy(Tensor):
    shape = property(lambda self: 1 / 0, lambda self, value: None)
    def materialize(self): pass
class Model:
    def __init__(self): self.scale = Tensor(1); self._parameters = {"weight": Tensor(2, 3)}; self._buffers = {"mask": None}
    def __getattr__(self, name): raise SystemExit(f"{name} was asked for")
    loss = property(lambda self: sys.exit("a property was run"))
torch.Tensor = Tensor
sys.modules["torch"] = torch
`;

function ask(statements: string, expressions: readonly string[]): Map<string, string> {
  const question = summariesQuestion(expressions.map((expression) => ({ expression, from: 0, to: 0 })));
  // As a debugger does it: the names of the frame are no globals.
  const program = `${FRAME}
def frame(self=Model()):
    ${statements}
    return dict(locals())
print(repr(eval(sys.stdin.read(), {}, frame())))
`;
  const done = spawnSync(process.env["PYTHON"] ?? "python3", ["-c", program], { input: question, encoding: "utf8" });
  expect(done.stderr).toBe("");
  return readSummaries(done.stdout.trim());
}

describe("the question", () => {
  test("is answered with shape, dtype and device", () => {
    expect(ask("x = Tensor(2, 16, 768)", ["x"])).toEqual(new Map([["x", "[2, 16, 768] bfloat16 cuda:0"]]));
  });

  test("reaches into dictionaries, lists, objects and modules, and runs no property", () => {
    const found = ask('batch = collections.UserDict({"ids": Tensor(4), 3: 4}); pair = (1, Tensor())', [
      "batch",
      "pair",
      "self",
    ]);
    expect([...found]).toEqual(
      expect.arrayContaining([
        ['batch["ids"]', "[4] bfloat16 cuda:0"],
        ["pair[1]", "[] bfloat16 cuda:0"],
        ["self.scale", "[1] bfloat16 cuda:0"],
        ["self.weight", "[2, 3] bfloat16 cuda:0"],
      ]),
    );
  });

  test("leaves out what nobody mentions, what is no tensor, and what has no shape yet", () => {
    expect(ask("x = Tensor(1); y = 3; z = Lazy()", ["y", "z"])).toEqual(new Map());
  });

  test("is answered without torch too", () => {
    expect(ask('x = 1; del sys.modules["torch"]', ["x"])).toEqual(new Map());
  });
});

test.each(["NameError: name 'x' is not defined", "'zz'", "", "{}"])("%s is no answer", (answer) => {
  expect(readSummaries(answer)).toEqual(new Map());
});
