// Opens iptables mode on a node's network.
import { PointsmanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Family } from '../../model/address.ts';
import { createIptablesBackend, type IptablesBackend } from './backend.ts';
import { createPrograms, type Variant } from './programs.ts';
import { chooseVariant } from './variant.ts';

export interface OpenOptions {
  /** Path of a network namespace; without it the process's own. */
  readonly namespace?: string;
  readonly families: readonly Family[];
  /** Where programs are looked for, as in PATH. */
  readonly path: string;
  /** Without it the one that is in use on this node. */
  readonly variant?: Variant;
  readonly masqueradeBit: number;
  readonly localhostNodePorts: boolean;
  /** Whether nf_conntrack_tcp_be_liberal is off: then packets that conntrack cannot place are dropped. */
  readonly dropInvalid: boolean;
  readonly watchEveryMs: number;
  readonly log: Logger;
}

/** MASQUERADE has --random-fully from this version on. */
const RANDOM_FULLY = [1, 6, 2] as const;

/** Throws E_KERNEL_FEATURE when there is no iptables. */
export async function openIptablesBackend(options: OpenOptions): Promise<IptablesBackend> {
  const { log } = options;
  const programs = createPrograms(options.path, options.namespace);
  const choice =
    options.variant === undefined
      ? await chooseVariant(programs)
      : { variant: options.variant, because: 'it was asked for' };
  if (choice === undefined)
    throw new PointsmanError('E_KERNEL_FEATURE', 'no iptables programs were found on PATH', {
      hint: 'install the package iptables',
    });
  const { variant } = choice;
  log.info('Using the iptables programs of one variant', { ...choice });
  const { out } = await programs.run('IPv4', variant, 'check', ['--version']);
  return createIptablesBackend({ ...options, programs, variant, randomFully: atLeast(out, RANDOM_FULLY) });
}

function atLeast(text: string, wanted: readonly number[]): boolean {
  const found = /v(\d+)\.(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number) ?? [];
  for (const [index, part] of wanted.entries()) {
    const own = found[index] ?? 0;
    if (own !== part) return own > part;
  }
  return true;
}
