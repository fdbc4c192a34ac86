// The way into the kernel, as the daemon opens it.
import type { Backend } from '../backends/backend.ts';
import type { IptablesBackend } from '../backends/iptables/backend.ts';
import type { ProxyConfig } from '../config/proxy-config.ts';
import type { Conntrack } from '../kernel/conntrack/conntrack.ts';
import type { Family } from '../model/address.ts';
import type { Log } from '../observe/log.ts';
import type { SettingsAccess } from './conntrack-settings.ts';
import type { AddressSource } from './local-addresses.ts';

export interface DataPath extends AsyncDisposable {
  readonly backend: Backend;
  /** Opens the connection tracking table, on a kernel thread of its own. */
  openConntrack(): Promise<Conntrack & AsyncDisposable>;
  /** The addresses of this machine's interfaces. */
  readonly addresses: AddressSource;
  /** Of iptables mode: its rules, and restores of a change that failed. */
  readonly iptables?: Pick<IptablesBackend, 'ruleCounts' | 'partialFailures'>;
  /** How often the kernel thread was started anew. */
  restarts(): number;
}

/** Opens a mode's data path for the families of the node. It is not probed yet. */
export type OpenDataPath = (options: {
  readonly config: ProxyConfig;
  readonly settings: SettingsAccess;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly families: readonly Family[];
  readonly log: Log;
}) => Promise<DataPath>;
