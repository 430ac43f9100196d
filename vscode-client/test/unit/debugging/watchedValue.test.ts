import { describe, expect, test } from "vitest";
import { PythonText } from "../../../src/debugging/syntax";
import { watchedValue } from "../../../src/debugging/watchedValue";

/** The program may hold `|` for the cursor, or two for a selection. The line is given by its text. */
function watch(program: string): string {
  const [before = "", between = "", ...rest] = program.split("|");
  const text = program.replaceAll("|", "");
  const from = before.length;
  const found = watchedValue(new PythonText(text), from, rest.length > 0 ? from + between.length : from);
  if (typeof found === "string") return found;
  const line = text.split("\n")[found.line]?.trim() ?? "no such line";
  return `${found.expressions.join(" and ")} at: ${line}`;
}

function isTelling(program: string): boolean {
  const from = program.indexOf("|");
  const found = watchedValue(new PythonText(program.replace("|", "")), from, from);
  return typeof found !== "string" && found.isTelling;
}

describe("what is assigned is asked for on the line that runs afterwards", () => {
  test.each([
    ["the next statement", "lo|ss = f(x)\nloss.backward()", "loss at: loss.backward()"],
    ["with the cursor in the call", "loss = crite|rion(x)\nstep()", "loss at: step()"],
    ["an attribute", "self.lo|ss = f(x)\nstep()", "self.loss at: step()"],
    ["an item", 'out["lo|ss"] = f(x)\nstep()', 'out["loss"] at: step()'],
    ["with an annotation", "loss|: Tensor = f(x)\nstep()", "loss at: step()"],
    ["added to", "total_loss| += f(x)\nstep()", "total_loss at: step()"],
    ["all of a tuple", "loss, (logits, _) = mod|el(x)\nstep()", "loss and logits at: step()"],
    ["all of a chain", "a = loss| = f(x)\nstep()", "a and loss at: step()"],
    ["over several lines", "loss| = f(\n    x,\n)\n# why\n\nstep()", "loss at: step()"],
    ["not a comment, a literal or a bare annotation", 'loss| = f()\n# a\n"doc"\nx: int\nstep()', "loss at: step()"],
    ["after a line of two statements", "loss| = f(); y = 1\nstep()", "loss at: step()"],
    ["in a half-typed file", "loss| = f(x)\nstep(\n", "loss at: step("],
  ])("%s", (_, program, expected) => {
    expect(watch(program)).toBe(expected);
  });
});

describe("the end of a block leads", () => {
  test.each([
    ["to the head of the loop", "for x in data:\n    loss| = f(x)\ndone()", "loss at: for x in data:"],
    ["to the body of an endless one", "while True:\n    a = b\n    loss| = f(x)", "loss at: a = b"],
    ["past a loop's else", "for x in y:\n    a()\nelse:\n    loss| = f()\ndone()", "loss at: done()"],
    ["past the other branches", "if a:\n    loss| = f(x)\nelif b:\n    c()\nelse:\n    d()\ndone()", "loss at: done()"],
    ["out of with", "with autocast():\n    loss| = f(x)\nloss.backward()", "loss at: loss.backward()"],
    [
      "out of two blocks",
      "for x in y:\n    with a:\n        if b:\n            loss| = f(x)\n",
      "loss at: for x in y:",
    ],
    [
      "out of a case",
      "match x:\n    case 1:\n        loss| = f()\n    case _:\n        g()\ndone()",
      "loss at: done()",
    ],
    [
      "from try to else",
      "try:\n    loss| = f()\nexcept E:\n    a()\nelse:\n    b()\nfinally:\n    c()",
      "loss at: b()",
    ],
    ["from except to finally", "try:\n    a()\nexcept E:\n    loss| = f()\nfinally:\n    c()", "loss at: c()"],
    ["out of finally", "try:\n    a()\nfinally:\n    loss| = f()\ndone()", "loss at: done()"],
    ["nowhere in a function", "def f(x):\n    self.loss| = f(x)\n\ndone()", "nothingAfter"],
    ["nowhere in a file", "loss| = f(x)\n", "nothingAfter"],
  ])("%s", (_, program, expected) => {
    expect(watch(program)).toBe(expected);
  });
});

describe("what is used is asked for on the line that uses it", () => {
  test.each([
    ["a name", "print(lo|ss)", "loss at: print(loss)"],
    ["at the end of a word", "print(loss|)", "loss at: print(loss)"],
    ["an attribute", "f(out.logi|ts.sum())", "out.logits at: f(out.logits.sum())"],
    ["only as far as the cursor", "f(o|ut.logits)", "out at: f(out.logits)"],
    ["an item", 'f(out["lo|ss"])', 'out["loss"] at: f(out["loss"])'],
    ["in an assignment", "loss = f(logi|ts)\nstep()", "logits at: loss = f(logits)"],
    ["the loss whose gradients are computed", "loss.back|ward()", "loss at: loss.backward()"],
    [
      "what is selected",
      "g(|out.logits[:, -1] / scale|)",
      "out.logits[:, -1] / scale at: g(out.logits[:, -1] / scale)",
    ],
    ["with blanks around", "g(| loss |)", "loss at: g( loss )"],
    ["in what is returned", "def f():\n    return lo|ss", "loss at: return loss"],
    ["in a condition", "if lo|ss > 3:\n    a()", "loss at: if loss > 3:"],
    ["over several lines", "print(\n    lo|ss,\n)", "loss at: print("],
    ["what is looped over", "for x in los|ses:\n    a()", "losses at: for x in losses:"],
  ])("%s", (_, program, expected) => {
    expect(watch(program)).toBe(expected);
  });
});

describe("what a block gives a name has its value in the block", () => {
  test.each([
    ["a parameter", 'def f(self, lo|ss: Tensor = None):\n    """Doc."""\n    a()', "loss at: a()"],
    ["a loop variable", "for i, lo|ss in x:\n    a()", "loss at: a()"],
    ["the name after as", "with f() as lo|ss:\n    a()", "loss at: a()"],
  ])("%s", (_, program, expected) => {
    expect(watch(program)).toBe(expected);
  });
});

test.each([
  ["a call, which would run twice", "return |f(loss)|"],
  ["the name of a function", "def lo|ss():\n    pass"],
  ["the name of a keyword", "f(lo|ss=1)"],
  ["the variable of a comprehension", "[lo|ss for loss in x]"],
  ["a lambda's parameter", "f(lambda loss: lo|ss)"],
  ["an import", "from x import lo|ss"],
  ["a type", "def f(x: Lo|ss): pass"],
  ["a comment", "# lo|ss\n"],
  ["nothing at all", "|"],
])("%s is no value to watch", (_, program) => {
  expect(watch(program)).toBe("noValue");
});

describe("only names of losses, logits and gradients tell", () => {
  test.each([
    "lo|ss = f(x)\na()",
    "print(out.logi|ts)",
    "print(p.gr|ad)",
    "grad_no|rm = clip_grad_norm_(p)\na()",
    "loss_per_tok|en = f(x)\na()",
    'f(out["lo|ss"])',
    "loss, y = mod|el(x)\na()",
  ])("%s", (program) => {
    expect(isTelling(program)).toBe(true);
  });
  test.each([
    "x| = f(x)\na()",
    "loss| = nn.CrossEntropyLoss()\na()",
    "loss| = 0.0\na()",
    "losses| = []\na()",
    "loss_fn| = f\na()",
    "gradient_checkpointing| = a\nb()",
    "grad_accum_steps| = a\nb()",
    "glossary| = a\nb()",
  ])("not %s", (program) => {
    expect(isTelling(program)).toBe(false);
  });
});

test("emoji and Windows line ends move nothing", () => {
  const text = 'print("🔥")\r\nloss = f(x)\r\nstep()\r\n';
  const at = text.indexOf("loss");
  expect(watchedValue(new PythonText(text), at, at)).toMatchObject({ expressions: ["loss"], line: 2 });
});

test("no cursor in any prefix of a program raises", () => {
  const program =
    "class A:\n    def f(self, x):\n        for loss, (y) in x:\n            with a as b: self.z[0] = loss = -1\n";
  for (let end = 0; end <= program.length; end += 1) {
    const source = new PythonText(program.slice(0, end));
    for (let at = 0; at <= end; at += 1) expect(() => watchedValue(source, at, at)).not.toThrow();
  }
});
