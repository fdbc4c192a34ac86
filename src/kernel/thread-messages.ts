// What the main thread and the kernel thread say to each other.
import { type ErrorCode, type Facts, PointsmanError } from '../base/errors.ts';
import type { Pack } from './netlink/arena.ts';
import type { NetlinkFailure } from './netlink/error.ts';
import type { Consistency } from './netlink/query.ts';

/** A netfilter subsystem or a netlink protocol. */
export type KernelProtocol = 'nftables' | 'route';

/** What the thread is started with. */
export interface ThreadStart {
  /** Memory of the control block. */
  readonly control: SharedArrayBuffer;
  /** Path of the network namespace in which sockets are opened; the process's own without. */
  readonly namespace?: string;
}

/** A command with an answer. Its bytes are transferred. */
export type ThreadCommand =
  | { readonly kind: 'transact'; readonly batch: Uint8Array }
  | {
      readonly kind: 'dump';
      readonly protocol: KernelProtocol;
      readonly request: Uint8Array;
      /** Other commands wait, so that this process itself does not change what is dumped. */
      readonly exclusive: boolean;
    }
  | { readonly kind: 'request'; readonly protocol: KernelProtocol; readonly request: Uint8Array }
  | {
      readonly kind: 'subscribe';
      readonly subscription: number;
      readonly protocol: KernelProtocol;
      readonly groups: readonly number[];
    }
  | { readonly kind: 'unsubscribe'; readonly subscription: number };

export type ToThread =
  | { readonly kind: 'command'; readonly id: number; readonly command: ThreadCommand }
  | { readonly kind: 'stop' };

/** The answer to a command. */
export type ThreadAnswer =
  | {
      readonly kind: 'committed';
      readonly generation?: number;
      readonly kernelMs: number;
      /** Of the socket that sent the batch. */
      readonly portId: number;
    }
  /** `batch` comes back, so that failures can be explained by it. */
  | { readonly kind: 'refused'; readonly failures: readonly NetlinkFailure[]; readonly batch: Uint8Array }
  | { readonly kind: 'unknown'; readonly because: string }
  | { readonly kind: 'answers'; readonly pack: Pack; readonly consistency: Consistency }
  | { readonly kind: 'done' };

export type FromThread =
  /** `wakeFd` is the eventfd on which the thread waits. */
  | { readonly kind: 'ready'; readonly wakeFd: number }
  /** The thread cannot start, and ends. */
  | { readonly kind: 'unready'; readonly error: ErrorMessage }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: ThreadAnswer }
  | { readonly kind: 'error'; readonly id: number; readonly error: ErrorMessage }
  | { readonly kind: 'events'; readonly subscription: number; readonly pack: Pack }
  | { readonly kind: 'lost'; readonly subscription: number };

/** A PointsmanError on its way between threads; structured clone would make it a plain Error. */
export interface ErrorMessage {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string | undefined;
  readonly facts: Facts;
}

export function errorToMessage({ code, message, hint, facts }: PointsmanError): ErrorMessage {
  return { code, message, hint, facts };
}

export function errorFromMessage({ code, message, hint, facts }: ErrorMessage): PointsmanError {
  return new PointsmanError(code, message, { facts, ...(hint !== undefined && { hint }) });
}
