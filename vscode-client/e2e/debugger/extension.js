const { DebugAdapterExecutable, debug } = require("vscode");

exports.activate = (context) => {
  const adapter = new DebugAdapterExecutable(process.env.LLM_LINT_TEST_PYTHON, ["-m", "debugpy.adapter"]);
  context.subscriptions.push(
    debug.registerDebugAdapterDescriptorFactory("debugpy", { createDebugAdapterDescriptor: () => adapter }),
  );
};
