/** The name by which a file's own lines know torch, or an expression that needs none. */
export function torchIn(text: string): string {
  for (const [, imported = ""] of text.matchAll(/^import[ \t]+([^#\r\n;]+)/gm)) {
    for (const each of imported.split(",")) {
      const [, dotted = "", name] = /^\s*([\w.]+)(?:\s+as\s+(\w+))?\s*$/.exec(each) ?? [];
      if (dotted === "torch") return name ?? "torch";
      if (dotted.startsWith("torch.") && name === undefined) return "torch";
    }
  }
  return '__import__("torch")';
}

export function mentionsTorch(text: string): boolean {
  return /\b(?:torch|transformers)\b/.test(text);
}

/** Whether a line can have what is called a loss, logits or a gradient. */
export function mayTell(line: string): boolean {
  return /loss|logit|grad|nll/i.test(line);
}

/** A Python expression that is true once one of the values has a NaN or an infinity. */
export function notFinite(expressions: readonly string[], torch: string): string {
  return expressions.map((each) => notFiniteValue(each, torch)).join(" or ");
}

function notFiniteValue(expression: string, torch: string): string {
  if (holdsSeveral(expression)) {
    return `any(not each.isfinite().all() for each in ${tensorsOf(expression, torch)})`;
  }
  // `as_tensor` is for what `.item()` made a number.
  const check = `not ${torch}.isfinite(${torch}.as_tensor(${expression})).all()`;
  return mayBeNone(expression) ? `${expression} is not None and ${check}` : check;
}

/** A log message that names shape, dtype and device; what is between braces is evaluated in the program. */
export function shapeMessage(expressions: readonly string[], torch: string): string {
  return expressions.map((each) => `${each}: ${shapeOf(each, torch)}`).join(", ");
}

function shapeOf(expression: string, torch: string): string {
  if (holdsSeveral(expression)) {
    return `{[(list(each.shape), each.dtype, str(each.device)) for each in ${tensorsOf(expression, torch)}]}`;
  }
  const value = isOneOperand(expression) ? expression : `(${expression})`;
  return `{list(${value}.shape)} {${value}.dtype} {${value}.device}`;
}

/** Whether a dot behind it belongs to all of it. */
function isOneOperand(expression: string): boolean {
  return /^[\w.]+$/u.test(expression.replace(/\[[^[\]]*\]/g, ""));
}

/** By its name a batch, a model's output, or several of something. */
function holdsSeveral(expression: string): boolean {
  return /(?:^|[._])(?:batch|encod(?:ed|ings?)|features|inputs|examples?|outputs?|out|results?|res|preds?|losses|grads|gradients|states|hidden_states|past_key_values|attentions|\w*_dict)$/i.test(
    expression,
  );
}

/** Every tensor inside of whatever nesting of tuples, lists, dictionaries and model outputs; also of a bare tensor. */
function tensorsOf(expression: string, torch: string): string {
  return `filter(${torch}.is_tensor, ${torch}.utils._pytree.tree_flatten(${expression})[0])`;
}

/** Gradients before the first backward pass, and the loss of a model that was given no labels. */
function mayBeNone(expression: string): boolean {
  return /(?:\.(?:grad|loss)|\[["'](?:grad|loss)["']\])$/.test(expression);
}
