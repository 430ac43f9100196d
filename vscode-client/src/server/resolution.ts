/**
 * Which llm-lint is started: the one of the setting `llmLint.path`, else of the selected interpreter's environment, else
 * on PATH, else the one that came with the extension.
 */

export type Origin = "setting" | "environment" | "path" | "bundled";

/** An interpreter that was chosen, and who chose it. */
export interface Interpreter {
  readonly path: string;
  readonly source: string;
}

/** What an interpreter says of itself. */
export interface Inspected {
  readonly version: string;
  readonly executable: string;
  /** The version of llm-lint that is installed there, if any. */
  readonly llmLint: string | null;
}

/** What the choice depends on. */
export interface Surroundings {
  readonly trusted: boolean;
  readonly importStrategy: string;
  /** The setting `llmLint.path`; empty where it is not set. */
  readonly path: string;
  /** Undefined where nobody chose one. */
  readonly interpreter: Interpreter | undefined;
  /** The script that starts llm-lint with a given interpreter. */
  readonly launcher: string;
  /** The program that a setting means: a path, or a name on PATH. */
  program(named: string): string | undefined;
  /** The programs of one of these names on PATH, outside of the workspace. */
  onPath(names: readonly string[]): Iterable<string>;
  /** What an interpreter says of itself, or why it can't. */
  inspect(python: string): Promise<Inspected | string>;
  log(step: string): void;
}

/** A program and the arguments that come before the name of a command of llm-lint. */
export interface ServerCommand {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly origin: Origin;
  /** The interpreter that runs it; undefined where the program is not started by us with one. */
  readonly python: string | undefined;
}

export interface Resolution {
  /** Undefined where llm-lint can't be started at all. */
  readonly server: ServerCommand | undefined;
  /** What the user should know: a setting that can't be followed, or why there is no server. */
  readonly problem: string | undefined;
}

/** The source of an interpreter that a setting names. */
export const INTERPRETER_SETTING = "llmLint.interpreter";

const OLDEST = [3, 10] as const;

/** Whether llm-lint runs on this version of Python. */
export function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

/** Goes through the places in order and logs each step. */
export async function resolveServer(around: Surroundings): Promise<Resolution> {
  if (!around.trusted) {
    around.log("the workspace is not trusted: only the bundled llm-lint, run by a Python outside of the workspace");
    return bundled(around, undefined, undefined);
  }
  const server = named(around);
  if (server !== undefined) {
    return { server, problem: undefined };
  }
  const unusable = around.path === "" ? undefined : `llmLint.path: there is no program ${around.path}`;
  around.log(unusable ?? "llmLint.path is not set");
  const { usable, wrong } = await selected(around);
  const problem = unusable ?? wrong;
  if (around.importStrategy === "useBundled") {
    around.log("llmLint.importStrategy is useBundled: neither the environment nor PATH is asked");
    return bundled(around, usable, problem);
  }
  const found = installed(around, usable);
  return found === undefined ? bundled(around, usable, problem) : { server: found, problem };
}

function named(around: Surroundings): ServerCommand | undefined {
  const program = around.path === "" ? undefined : around.program(around.path);
  if (program === undefined) {
    return undefined;
  }
  around.log(`llmLint.path: ${program}`);
  return { command: program, arguments: [], origin: "setting", python: undefined };
}

/** The selected interpreter, if llm-lint runs on it; what is wrong with it is a problem where a setting names it. */
async function selected(around: Surroundings): Promise<{ usable?: Inspected; wrong?: string }> {
  const chosen = around.interpreter;
  if (chosen === undefined) {
    return {};
  }
  const inspected = await supported(around, chosen.path);
  if (typeof inspected === "object") {
    around.log(`${chosen.source}: ${chosen.path}, Python ${inspected.version}`);
    return { usable: inspected };
  }
  around.log(`${chosen.source}: ${inspected}`);
  return chosen.source === INTERPRETER_SETTING ? { wrong: inspected } : {};
}

async function supported(around: Surroundings, python: string): Promise<Inspected | string> {
  const inspected = await around.inspect(python);
  return typeof inspected === "string" || isSupported(inspected.version)
    ? inspected
    : `Python ${inspected.version} is older than 3.10: ${python}`;
}

function installed(around: Surroundings, inspected: Inspected | undefined): ServerCommand | undefined {
  if (inspected?.llmLint != null) {
    around.log(`the environment has llm-lint ${inspected.llmLint}`);
    const python = inspected.executable;
    return { command: python, arguments: [around.launcher, "installed"], origin: "environment", python };
  }
  around.log(
    inspected === undefined ? "no interpreter is selected that llm-lint runs on" : "the environment has no llm-lint",
  );
  for (const program of around.onPath(["llm-lint"])) {
    around.log(`PATH: ${program}`);
    return { command: program, arguments: [], origin: "path", python: undefined };
  }
  around.log("PATH has no llm-lint");
  return undefined;
}

async function bundled(
  around: Surroundings,
  usable: Inspected | undefined,
  problem: string | undefined,
): Promise<Resolution> {
  const inspected = usable ?? (await pythonOnPath(around));
  if (inspected === undefined) {
    const reason = "llm-lint needs Python 3.10 or newer, and none was found: select an interpreter";
    around.log(reason);
    return { server: undefined, problem: problem ?? reason };
  }
  around.log(`the bundled llm-lint, run by ${inspected.executable}, Python ${inspected.version}`);
  // Isolated: neither the variables of the environment nor the user's own packages have a say.
  const isolated = around.trusted ? [] : ["-I"];
  const server: ServerCommand = {
    command: inspected.executable,
    arguments: [...isolated, around.launcher, "bundled"],
    origin: "bundled",
    python: inspected.executable,
  };
  return { server, problem };
}

async function pythonOnPath(around: Surroundings): Promise<Inspected | undefined> {
  for (const python of around.onPath(["python3", "python"])) {
    const inspected = await supported(around, python);
    if (typeof inspected === "object") {
      return inspected;
    }
    around.log(`PATH: ${inspected}`);
  }
  return undefined;
}
