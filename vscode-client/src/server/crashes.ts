const WINDOW = 3 * 60_000;
const LIMIT = 5;

/** Decides whether a server that crashed is worth starting again: not after five times in three minutes. */
export class Crashes {
  private times: number[] = [];

  /** Takes in a crash, at a time in milliseconds. */
  isHopeless(now: number): boolean {
    this.times = [...this.times.filter((time) => now - time < WINDOW), now];
    return this.times.length >= LIMIT;
  }
}
