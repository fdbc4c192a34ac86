// Opens nftables mode on a node's network.
import type { Logger } from '../../base/log.ts';
import { createKernelClient } from '../../kernel/client.ts';
import type { Family } from '../../model/address.ts';
import type { Backend } from '../backend.ts';
import { createNftablesBackend } from './backend.ts';
import { createNetlinkPort } from './netlink-port.ts';
import { TABLE_NAME } from './ruleset.ts';

export interface OpenOptions {
  /** Path of a network namespace; without it the process's own. */
  readonly namespace?: string;
  readonly families: readonly Family[];
  readonly log: Logger;
  /** The kernel thread died and was started again: the backend must reconcile. */
  readonly onRestart?: (because: string) => void;
}

/** Starts the kernel thread and the data path on it. Closing the backend stops the thread. */
export async function openNftablesBackend({
  namespace,
  families,
  log,
  onRestart,
}: OpenOptions): Promise<Backend> {
  const client = await createKernelClient({
    log,
    ...(namespace === undefined ? {} : { namespace }),
    ...(onRestart === undefined ? {} : { onRestart }),
  });
  return createNftablesBackend({ nft: createNetlinkPort(client, TABLE_NAME), families, log });
}
