// The data paths that the scenario tables run against. A new mode joins by a line.
import type { Backend, Mode } from '../../src/backends/backend.ts';
import { openNftablesBackend } from '../../src/backends/nftables/open.ts';
import { silentLogger } from '../../src/base/log.ts';

export const MODES: Readonly<Partial<Record<Mode, (namespace: string) => Promise<Backend>>>> = {
  nftables: (namespace) => openNftablesBackend({ namespace, families: ['IPv4', 'IPv6'], log: silentLogger }),
};
