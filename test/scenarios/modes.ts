// The data paths that the scenario tables run against. A new mode joins by a line.
import type { Backend } from '../../src/backends/backend.ts';
import { openIptablesBackend } from '../../src/backends/iptables/open.ts';
import type { Variant } from '../../src/backends/iptables/programs.ts';
import { openNftablesBackend } from '../../src/backends/nftables/open.ts';
import { silentLogger } from '../../src/base/log.ts';

/** iptables mode runs over both of its kernel interfaces. */
export type ModeName = 'nftables' | 'iptables' | 'iptables-legacy';

const iptables =
  (variant: Variant) =>
  (namespace: string): Promise<Backend> =>
    openIptablesBackend({
      namespace,
      families: ['IPv4', 'IPv6'],
      path: process.env.PATH ?? '',
      variant,
      masqueradeBit: 14,
      localhostNodePorts: true,
      dropInvalid: true,
      watchEveryMs: 3_600_000,
      log: silentLogger,
    });

export const MODES: Readonly<Record<ModeName, (namespace: string) => Promise<Backend>>> = {
  nftables: (namespace) => openNftablesBackend({ namespace, families: ['IPv4', 'IPv6'], log: silentLogger }),
  iptables: iptables('nft'),
  'iptables-legacy': iptables('legacy'),
};
