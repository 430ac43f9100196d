/** The task that lints a whole folder, the files that are not open too; its problems go to the Problems view. */

import { ProcessExecution, Task, tasks, TaskScope, workspace } from "vscode";
import type { Disposable, TaskDefinition, TaskProvider, WorkspaceFolder } from "vscode";
import type { Server } from "./server/server";

const TYPE = "llm-lint";

export function registerTasks(server: Server): Disposable {
  const task = (definition: TaskDefinition, folder: WorkspaceFolder | undefined): Task | undefined => {
    const { command } = server;
    if (command === undefined) {
      return undefined;
    }
    const path = typeof definition["path"] === "string" ? definition["path"] : ".";
    const args = [...command.arguments, "check", "--output-format", "concise", path];
    const execution = new ProcessExecution(command.command, args, folder && { cwd: folder.uri.fsPath });
    const scope = folder ?? TaskScope.Workspace;
    const made = new Task(
      definition,
      scope,
      `check ${path === "." ? "the whole folder" : path}`,
      TYPE,
      execution,
      "$llm-lint",
    );
    made.detail = "llm-lint check, the files that are not open too";
    return made;
  };
  const provider: TaskProvider = {
    provideTasks: () => (workspace.workspaceFolders ?? []).flatMap((folder) => task({ type: TYPE }, folder) ?? []),
    resolveTask: (asked) => {
      const folder = typeof asked.scope === "object" ? asked.scope : workspace.workspaceFolders?.[0];
      const made = task(asked.definition, folder);
      if (made === undefined) {
        return undefined;
      }
      // What is resolved must be the definition that was asked for.
      made.definition = asked.definition;
      return made;
    },
  };
  return tasks.registerTaskProvider(TYPE, provider);
}
