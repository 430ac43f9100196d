import { expect, test } from "vitest";
import { joined } from "../../../src/debugging/joining";

test.each([
  ["two conditions", { condition: "a > 1" }, { condition: "b" }, { condition: "(a > 1) or b" }],
  ["a condition and itself", { condition: "a or b" }, { condition: "b" }, { condition: "a or b" }],
  ["two messages", { logMessage: "{a}" }, { logMessage: "{b}" }, { logMessage: "{a}, {b}" }],
  ["a message and itself", { logMessage: "{a}" }, { logMessage: "{a}" }, { logMessage: "{a}" }],
])("%s become one", (_, present, added, expected) => {
  expect(joined(present, added)).toEqual(expected);
});

test.each([
  ["a breakpoint that always stops, and a condition", {}, { condition: "a" }],
  ["a message, and a condition", { logMessage: "a" }, { condition: "a" }],
  ["a condition, and a message", { condition: "a" }, { logMessage: "a" }],
  ["a message on a condition, and one without", { condition: "a", logMessage: "a" }, { logMessage: "b" }],
])("%s can't be one", (_, present, added) => {
  expect(joined(present, added)).toBeUndefined();
});
