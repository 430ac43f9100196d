/** A result of the probe, as the server sends it: `docs/probe.md` describes it. */

export interface ProbeMessage {
  readonly uri: string;
  readonly name: string | null;
  /** Whether the user asked for it just now; otherwise a file was saved. */
  readonly asked: boolean;
  readonly status: string;
  readonly result: ProbeResult;
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
  readonly target?: string;
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
