import type { Disposable } from "vscode";
import { registerBreakpoints } from "./breakpoints";
import { registerInlineValues } from "./inlineValues";
import { registerLaunching } from "./launching";

/** What helps to debug a training script; it needs neither the server nor the probe. */
export function registerDebugging(): Disposable[] {
  return [...registerBreakpoints(), registerInlineValues(), ...registerLaunching()];
}
