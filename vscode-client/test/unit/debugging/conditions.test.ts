import { describe, expect, test } from "vitest";
import { notFinite, shapeMessage, torchIn } from "../../../src/debugging/conditions";

describe("torch is known by the name that the file gives it", () => {
  test.each([
    ["import torch", "torch"],
    ["import os, torch  # why", "torch"],
    ["import torch as th", "th"],
    ["import torch.nn.functional", "torch"],
    ["import torch.nn as nn", '__import__("torch")'],
    ["from torch import nn", '__import__("torch")'],
    ["def f():\n    import torch", '__import__("torch")'],
    ["import torchvision", '__import__("torch")'],
    ["", '__import__("torch")'],
  ])("%s", (text, expected) => {
    expect(torchIn(text)).toBe(expected);
  });
});

describe("the condition", () => {
  test("is short for a value", () => {
    expect(notFinite(["loss"], "torch")).toBe("not torch.isfinite(torch.as_tensor(loss)).all()");
  });
  test("is true for one of several", () => {
    expect(notFinite(["loss", "logits"], "torch")).toBe(
      "not torch.isfinite(torch.as_tensor(loss)).all() or not torch.isfinite(torch.as_tensor(logits)).all()",
    );
  });
  test.each(["p.grad", "out.loss", 'out["loss"]'])("waits until there is %s", (expression) => {
    expect(notFinite([expression], "th")).toBe(
      `${expression} is not None and not th.isfinite(th.as_tensor(${expression})).all()`,
    );
  });
  test.each(["outputs", "self.batch", "state_dict", "losses"])("looks into %s", (expression) => {
    expect(notFinite([expression], "torch")).toContain(`tree_flatten(${expression})[0]`);
  });
});

describe("the log message", () => {
  test("names shape, dtype and device", () => {
    expect(shapeMessage(["x"], "torch")).toBe("x: {list(x.shape)} {x.dtype} {x.device}");
  });
  test.each([
    ["x % 2", "x % 2: {list((x % 2).shape)} {(x % 2).dtype} {(x % 2).device}"],
    [
      'x["a b"][:, -1]',
      'x["a b"][:, -1]: {list(x["a b"][:, -1].shape)} {x["a b"][:, -1].dtype} {x["a b"][:, -1].device}',
    ],
  ])("is about all of %s", (expression, expected) => {
    expect(shapeMessage([expression], "torch")).toBe(expected);
  });
  test("has no brace that the debugger would take for its own", () => {
    for (const each of shapeMessage(["loss", "outputs"], "torch").split(/[{}]/)) expect(each).not.toMatch(/[{}]/);
    expect(shapeMessage(["outputs"], "torch").match(/[{}]/g)).toEqual(["{", "}"]);
  });
});
