import { describe, expect, it } from "vitest";
import { bytes, count } from "../../src/shapes/numbers";
import { readMessage } from "../../src/shapes/result";
import type { ProbeResult, Row } from "../../src/shapes/result";
import { shapeTree } from "../../src/shapes/tree";
import type { ShapeNode } from "../../src/shapes/tree";

function row(name: string, type: string, more: Partial<Row> = {}): Row {
  const nothing = { file: null, line: null, calls: 1, in: null, out: null, dtype: null, params: null, flops: null };
  return { name, type, ...nothing, ...more };
}

function tree(result: ProbeResult, status = "ok"): ShapeNode {
  return shapeTree({ uri: "file:///w/model.py", name: "GPT", asked: true, status, result });
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
      "GPT | 1.5 M parameters, 2.0 G FLOPs",
      "  GPT | int64[2,16] → float32[2,16,100]  1.5 M",
      "    blocks.0 | Block  1.0 K",
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
      "    fp32 | 40.0 GB",
      "  assumptions | 1",
      "    batch | 2, first layer",
    ]);
  });

  it("is still a tree where the server sends a status and fields that are not known here", () => {
    const sent = { uri: "file:///m.py", name: "M", asked: false, status: "novel", result: { surprise: [1], rows: [] } };
    const message = readMessage(sent);
    expect(message && drawn(shapeTree(message))).toEqual(["M | novel"]);
  });
});

describe("what is sent", () => {
  it.each([null, undefined, 3, "text", {}, { uri: 1, status: "ok" }])("is no result: %j", (sent) => {
    expect(readMessage(sent)).toBeUndefined();
  });
});

it("numbers are short, and never 1000 of a unit", () => {
  expect([0, 999, 1000, 999_950, 124_439_808].map(count)).toEqual(["0", "999", "1.0 K", "1.0 M", "124.4 M"]);
  expect(bytes(497_759_232)).toBe("497.8 MB");
});
