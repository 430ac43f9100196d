/** A debug configuration as it stands in launch.json; the names of its fields are those of the debugger `debugpy`. */
export interface PythonConfiguration {
  readonly type: "debugpy";
  readonly name: string;
  readonly request: "launch" | "attach";
  readonly [field: string]: unknown;
}

/** For the file that is open: run it, run it in several processes, or join one that runs already. */
export function pythonConfigurations(processes: number | string): PythonConfiguration[] {
  const launch = { type: "debugpy", request: "launch", console: "integratedTerminal" } as const;
  return [
    { ...launch, name: "Python: this file", program: "${file}" },
    {
      ...launch,
      name: typeof processes === "number" ? `torchrun, ${processes} processes` : "torchrun, N processes",
      // What `torchrun` runs; as a module it needs no program of that name on the PATH.
      module: "torch.distributed.run",
      args: ["--standalone", `--nproc-per-node=${processes}`, "${file}"],
      subProcess: true,
    },
    {
      type: "debugpy",
      name: "attach",
      request: "attach",
      // Of a program started by `python -m debugpy --listen 5678 --wait-for-client FILE`.
      connect: { host: "localhost", port: 5678 },
      justMyCode: false,
    },
  ];
}

/** The entries of launch.json with ours behind them; what has the same name stays as its owner wrote it. */
export function withPythonConfigurations(
  present: readonly Readonly<Record<string, unknown>>[],
  processes: number,
): Readonly<Record<string, unknown>>[] {
  const names = new Set(present.map((each) => each["name"]));
  return [...present, ...pythonConfigurations(processes).filter((each) => !names.has(each.name))];
}
