/** A result of the probe, as the server sends it: `docs/probe.md` describes it. */

export interface Outcome {
  readonly status: string;
  readonly result: ProbeResult;
}

export interface ProbeMessage extends Outcome {
  readonly uri: string;
  readonly name: string | null;
  /** Whether the user asked for it just now; otherwise a file was saved. */
  readonly asked: boolean;
}

export interface Place {
  readonly file: string | null;
  readonly line: number | null;
}

export interface Row extends Place {
  /** Dotted, as `named_modules` has it; empty for the model itself. */
  readonly name: string;
  readonly type: string;
  readonly calls: number | null;
  readonly in: unknown;
  readonly out: unknown;
  readonly dtype: string | null;
  readonly params: number | null;
  readonly flops: number | null;
}

export interface Failure {
  readonly message: string;
  readonly op?: string | null;
  readonly operands?: readonly string[];
  readonly frames?: readonly (Place & { readonly function?: string; readonly tensors?: Record<string, string> })[];
}

export interface ProbeResult {
  /** A class of the file, or a model of a library by its checkpoint; null where all classes of a file were checked. */
  readonly target?: string | { readonly checkpoint?: string; readonly class?: string } | null;
  /** The class that was run, where the target was run as a part of it. */
  readonly via?: string;
  /** Of every class, where a whole file was checked. */
  readonly classes?: readonly Outcome[];
  readonly rows?: readonly Row[];
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly outputs?: unknown;
  readonly totals?: {
    readonly params?: number | null;
    readonly flops?: number | null;
    readonly bytes?: Readonly<Record<string, number | null>>;
  };
  readonly assumptions?: readonly {
    readonly what: string;
    readonly value: unknown;
    readonly source: string;
    readonly line?: number | null;
  }[];
  readonly error?: Failure | null;
  readonly notices?: readonly (Place & { readonly kind: string; readonly message: string })[];
  readonly paste?: string | null;
  /** Why nothing was run, where that is no error of the program. */
  readonly problem?: string;
  readonly missing?: unknown;
}

/** What was sent, if it is a result at all. */
export function readMessage(sent: unknown): ProbeMessage | undefined {
  if (typeof sent !== "object" || sent === null) {
    return undefined;
  }
  const { uri, name, asked, status, result } = sent as Record<string, unknown>;
  if (typeof uri !== "string" || typeof status !== "string") {
    return undefined;
  }
  return {
    uri,
    name: typeof name === "string" ? name : null,
    asked: asked === true,
    status,
    result: typeof result === "object" && result !== null ? result : {},
  };
}

/** The outcomes that are in a message: one, or one for each class of a file. */
export function outcomes({ status, result }: Outcome): readonly Outcome[] {
  return result.classes ?? [{ status, result }];
}

/** What was run. */
export function nameOf({ target, via }: ProbeResult, otherwise: string): string {
  const name = typeof target === "object" ? (target?.checkpoint ?? target?.class) : target;
  return `${name ?? otherwise}${via === undefined ? "" : ` (inside ${via})`}`;
}
