// The way into the kernel, as the daemon opens it.
import type { Backend } from '../backends/backend.ts';
import type { Family } from '../model/address.ts';
import type { Log } from '../observe/log.ts';

export interface DataPath extends AsyncDisposable {
  readonly backend: Backend;
  /** How often the kernel thread was started anew. */
  restarts(): number;
}

/** Opens a mode's data path for the families of the node. It is not probed yet. */
export type OpenDataPath = (options: {
  readonly families: readonly Family[];
  readonly log: Log;
}) => Promise<DataPath>;
