/**
 * The interpreter that is selected for a folder: by the Python Environments extension, else by the Python extension. Both
 * are optional.
 */

import type { PythonExtension } from "@vscode/python-extension";
import type { PythonEnvironmentApi } from "@vscode/python-environments";
import { EventEmitter, extensions } from "vscode";
import type { Disposable, Uri } from "vscode";
import type { Interpreter } from "./server/resolution";

export const ENVIRONMENTS_ID = "ms-python.vscode-python-envs";
export const PYTHON_ID = "ms-python.python";

/** Long enough for them to start on a busy machine; after that we go without, until they tell of a change. */
const PATIENCE = 15_000;

type Log = (step: string) => void;

export class PythonEnvironments implements Disposable {
  private readonly changed = new EventEmitter<void>();
  private readonly listening = new Map<string, Disposable>();

  /** Another interpreter is selected, for some folder. */
  readonly onDidChange = this.changed.event;

  dispose(): void {
    for (const each of this.listening.values()) {
      each.dispose();
    }
    this.changed.dispose();
  }

  /** The interpreter that is selected for a folder, or for the workspace. */
  async interpreter(folder: Uri | undefined, log: Log): Promise<Interpreter | undefined> {
    return (await this.ofEnvironmentsExtension(folder, log)) ?? (await this.ofPythonExtension(folder, log));
  }

  private async ofEnvironmentsExtension(folder: Uri | undefined, log: Log): Promise<Interpreter | undefined> {
    return this.ask("Python Environments", ENVIRONMENTS_ID, log, async (exported) => {
      const api = exported as PythonEnvironmentApi;
      this.listen(ENVIRONMENTS_ID, () =>
        api.onDidChangeEnvironment(() => {
          this.changed.fire();
        }),
      );
      const environment = await api.getEnvironment(folder);
      return environment?.execInfo.run.executable;
    });
  }

  private async ofPythonExtension(folder: Uri | undefined, log: Log): Promise<Interpreter | undefined> {
    return this.ask("Python", PYTHON_ID, log, async (exported) => {
      const api = exported as PythonExtension;
      this.listen(PYTHON_ID, () =>
        api.environments.onDidChangeActiveEnvironmentPath(() => {
          this.changed.fire();
        }),
      );
      const active = api.environments.getActiveEnvironmentPath(folder);
      const environment = await api.environments.resolveEnvironment(active);
      return environment?.executable.uri?.fsPath;
    });
  }

  private listen(id: string, listen: () => Disposable): void {
    if (!this.listening.has(id)) {
      this.listening.set(id, listen());
    }
  }

  /** Whatever goes wrong in another extension, we go on without it. */
  private async ask(
    name: string,
    id: string,
    log: Log,
    question: (api: unknown) => Promise<string | undefined>,
  ): Promise<Interpreter | undefined> {
    const extension = extensions.getExtension<unknown>(id);
    if (extension === undefined) {
      log(`the ${name} extension is not installed`);
      return undefined;
    }
    const answer = Promise.resolve(extension.activate()).then((api) => (api === undefined ? undefined : question(api)));
    let path: string | undefined;
    try {
      path = await inTime(answer, () => {
        this.changed.fire();
      });
    } catch (error) {
      log(`the ${name} extension does not answer: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
    if (path === undefined) {
      log(`the ${name} extension has no interpreter selected`);
      return undefined;
    }
    return { path, source: `the ${name} extension` };
  }
}

/** What is answered in time; an answer that comes later is told of. */
async function inTime<T>(answer: Promise<T>, onLateAnswer: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`not within ${PATIENCE / 1000} seconds`));
      void answer.then(onLateAnswer, () => undefined);
    }, PATIENCE);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
