/** What a breakpoint does: stops, stops on a condition, or logs instead of stopping. */
export interface Effect {
  readonly condition?: string | undefined;
  readonly logMessage?: string | undefined;
}

/**
 * One breakpoint that does both, because debuggers keep one for each line; undefined where there is none, since a
 * breakpoint stops or logs, and one without a condition always stops.
 */
export function joined(present: Effect, added: Effect): Effect | undefined {
  if (present.logMessage !== undefined || added.logMessage !== undefined) {
    const [before, more] = [present.logMessage, added.logMessage];
    if (before === undefined || more === undefined || present.condition !== added.condition) return undefined;
    return { ...present, logMessage: before.includes(more) ? before : `${before}, ${more}` };
  }
  const [before, more] = [present.condition, added.condition];
  if (before === undefined || more === undefined) return undefined;
  return { condition: before.includes(more) ? before : `(${before}) or ${more}` };
}
