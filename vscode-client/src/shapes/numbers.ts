/** Numbers in three digits, as `llm-lint probe` prints them. */

/** 124439808 is 124 M. */
export function amount(value: number): string {
  return scaled(value, 1000, ["", " k", " M", " G", " T", " P"]);
}

/** Of bytes: 497759232 is 475 MiB. */
export function size(value: number): string {
  return scaled(value, 1024, [" bytes", " KiB", " MiB", " GiB", " TiB"]);
}

function scaled(value: number, step: number, units: readonly string[]): string {
  let left = value;
  let unit = 0;
  while (left >= 999.5 && unit < units.length - 1) {
    left /= step;
    unit += 1;
  }
  const digits = unit === 0 || left >= 99.95 ? 0 : left >= 9.995 ? 1 : 2;
  return `${left.toFixed(digits)}${units[unit] ?? ""}`;
}
