import { describe, expect, it } from "vitest";
import { amount, size } from "../../src/shapes/numbers";
import { readMessage } from "../../src/shapes/result";
import type { ProbeResult, Row } from "../../src/shapes/result";
import { shapeTrees } from "../../src/shapes/tree";
import type { ShapeNode } from "../../src/shapes/tree";

function row(name: string, type: string, more: Partial<Row> = {}): Row {
  const nothing = { file: null, line: null, calls: 1, in: null, out: null, dtype: null, params: null, flops: null };
  return { name, type, ...nothing, ...more };
}

function tree(result: ProbeResult, status = "ok"): ShapeNode {
  const trees = shapeTrees({ uri: "file:///w/model.py", name: "GPT", asked: true, status, result });
  expect(trees.length).toBe(1);
  return trees.reduce((first) => first);
}

/** A tree as text: one line for each node, indented. */
function drawn(node: ShapeNode, depth = 0): string[] {
  const line = `${"  ".repeat(depth)}${[node.label, node.description].filter((part) => part !== "").join(" | ")}`;
  return [line, ...node.children.flatMap((child) => drawn(child, depth + 1))];
}

describe("the tree of a result", () => {
  it("has the modules below each other, with what goes in and out", () => {
    const rows = [
      row("", "GPT", { params: 1_500_000, in: "int64[2,16]", out: "float32[2,16,100]" }),
      row("blocks.0", "Block", { params: 1000 }),
      row("blocks.0.attn", "Attention", { in: "float32[2,16,8]", out: "float32[2,16,8]" }),
      row("blocks.1", "Block"),
      row("head", "Linear", { file: "/w/model.py", line: 12 }),
    ];
    expect(drawn(tree({ rows, totals: { params: 1_500_000, flops: 2_000_000_000 } }))).toEqual([
      "GPT | 1.50 M parameters, 2.00 GFLOP",
      "  GPT | int64[2,16] → float32[2,16,100]  1.50 M",
      "    blocks.0 | Block  1.00 k",
      "      attn | Attention  float32[2,16,8] → float32[2,16,8]",
      "    blocks.1 | Block",
      "    head | Linear",
    ]);
  });

  it("leads to the line of a module", () => {
    const [head] = tree({ rows: [row("head", "Linear", { file: "/w/model.py", line: 12 })] }).children;
    expect(head?.place).toEqual({ file: "/w/model.py", line: 12 });
  });

  it("begins with what failed, where, and with which shapes", () => {
    const frames = [
      { file: "/w/train.py", line: 3, function: "main", tensors: {} },
      { file: "/w/model.py", line: 9, function: "forward", tensors: { x: "float32[2,768]" } },
    ];
    const failed = tree(
      { error: { message: "the inner sizes differ", op: "matmul", operands: ["[2,768]", "[512,10]"], frames } },
      "user_error",
    );
    expect(drawn(failed)).toEqual([
      "GPT | fails",
      "  the inner sizes differ",
      "    [2,768] | matmul",
      "    [512,10] | matmul",
      "    forward | model.py:9",
      "      x | float32[2,768]",
      "    main | train.py:3",
    ]);
    expect(failed.children[0]?.place).toEqual({ file: "/w/model.py", line: 9 });
  });

  it("offers the line to paste where arguments are needed", () => {
    const asks = tree({ paste: "# probe: GPT(config)(idx=int[2,16])" }, "needs_args");
    expect(asks.description).toBe("needs arguments");
    expect(asks.children[0]?.copies).toBe("# probe: GPT(config)(idx=int[2,16])");
  });

  it("says what was assumed, and how much memory the weights take", () => {
    const result: ProbeResult = {
      assumptions: [{ what: "batch", value: 2, source: "first_layer" }],
      totals: { params: 10, bytes: { fp32: 40_000_000_000, kv_cache: null } },
    };
    expect(drawn(tree(result)).slice(1)).toEqual([
      "  memory | 1",
      "    fp32 | 37.3 GiB",
      "  assumptions | 1",
      "    batch | 2, first layer",
    ]);
  });

  it("says why nothing was run, and what a model was run as a part of", () => {
    expect(drawn(tree({ target: "Head", via: "GPT", problem: "no way is known" }, "needs_args"))).toEqual([
      "Head (inside GPT) | needs arguments",
      "  no way is known",
    ]);
  });

  it("is one for each class where a whole file was checked, and one for a model of a library", () => {
    const classes = [
      { status: "ok", result: { target: "GPT" } },
      { status: "ok", result: { target: { checkpoint: "gpt2", class: "AutoModel" } } },
    ];
    const trees = shapeTrees({ uri: "file:///m.py", name: null, asked: true, status: "ok", result: { classes } });
    expect(trees.map((each) => each.label)).toEqual(["GPT", "gpt2"]);
  });

  it("is still a tree where the server sends a status and fields that are not known here", () => {
    const sent = { uri: "file:///m.py", name: "M", asked: false, status: "novel", result: { surprise: [1], rows: [] } };
    const message = readMessage(sent);
    expect(message && shapeTrees(message).flatMap((each) => drawn(each))).toEqual(["M | novel"]);
  });
});

describe("what is sent", () => {
  it.each([null, undefined, 3, "text", {}, { uri: 1, status: "ok" }])("is no result: %j", (sent) => {
    expect(readMessage(sent)).toBeUndefined();
  });
});

it("numbers have three digits, as the command line prints them", () => {
  expect([0, 999, 1000, 10_788_929, 124_439_808].map(amount)).toEqual(["0", "999", "1.00 k", "10.8 M", "124 M"]);
  expect([512, 43_155_716].map(size)).toEqual(["512 bytes", "41.2 MiB"]);
});
