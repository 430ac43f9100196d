/** All that reads Python. It is loaded when first asked for: the grammar is larger than the rest of the extension. */

export { PythonText } from "./syntax";
export { mentions, readSummaries, summariesQuestion } from "./tensorsInView";
export { watchedValue } from "./watchedValue";
