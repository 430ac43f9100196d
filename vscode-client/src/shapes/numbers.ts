/** Numbers as people compare them. */

/** 124439808 is 124.4 M. */
export function count(value: number): string {
  return scaled(value, ["", " K", " M", " G", " T", " P"]);
}

/** In units of 1000, as the cards of checkpoints have it: 497759232 is 497.8 MB. */
export function bytes(value: number): string {
  return scaled(value, [" B", " KB", " MB", " GB", " TB", " PB"]);
}

function scaled(value: number, units: readonly string[]): string {
  let left = value;
  let unit = 0;
  // What would be rounded to 1000 is 1 of the next unit.
  while (Math.abs(left) >= (unit === 0 ? 1000 : 999.95) && unit < units.length - 1) {
    left /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? String(left) : left.toFixed(1)}${units[unit] ?? ""}`;
}
