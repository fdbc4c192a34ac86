// The one error class of Pointsman and the catalogue of its codes.

/** Every error code, with what it means to an operator. A new code gets its line here. */
export const ERROR_CODES = {
  E_USAGE: 'a flag, argument or command is wrong',
  E_CONFIG: 'a configuration file is wrong',
  E_KUBECONFIG: 'the kubeconfig or the in-cluster credentials cannot be used',
  E_API: 'the API server answered with an error',
  E_API_UNREACHABLE: 'the API server cannot be reached',
  E_API_MALFORMED: 'the API server sent something that is no valid answer',
  E_CREDENTIAL_PLUGIN: 'an exec credential plugin failed',
  E_SYSCALL: 'a system call failed',
  E_PERMISSION: 'the kernel refuses the operation to this process',
  E_NETLINK: 'the kernel refused a netlink request',
  E_NETLINK_LOST: 'the outcome of a netlink request is unknown',
  E_KERNEL_FEATURE: 'the kernel lacks something that the mode needs',
  E_KERNEL_THREAD: 'the kernel thread died or does not answer',
  E_MALFORMED: 'bytes that should follow a protocol do not',
  E_LAB: 'the lab cannot do what was asked',
  E_BIND: 'a server port cannot be opened',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Details of an error: plain values only, so that a log line can carry them. */
export type Facts = Readonly<Record<string, string | number | boolean | undefined>>;

export interface ErrorOptions {
  /** What the operator can do about it, one sentence without a full stop. */
  readonly hint?: string;
  readonly facts?: Facts;
  readonly cause?: unknown;
}

/** A broken promise: `message` says what failed and why, `hint` what to do. Expected outcomes are values instead. */
export class PointsmanError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly facts: Facts;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PointsmanError';
    this.code = code;
    this.hint = options.hint;
    this.facts = options.facts ?? {};
  }
}

/** The error in one line as the command line prints it: `what failed: why (what to do)`. */
export function oneLine(error: unknown): string {
  const message = (error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ');
  const hint = error instanceof PointsmanError ? error.hint : undefined;
  return hint === undefined ? message : `${message} (${hint})`;
}
