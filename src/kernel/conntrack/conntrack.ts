// The connection tracking table as callers use it: flows of a protocol, and how to end one.
import { PointsmanError } from '../../base/errors.ts';
import type { KernelClient } from '../client.ts';
import { createNetlinkWriter } from '../netlink/writer.ts';
import { ENOENT } from '../sys/errno.ts';
import {
  type Flow,
  type FlowFamily,
  flowsOf,
  IPS_SEEN_REPLY,
  writeFlowDelete,
  writeFlowDump,
} from './flows.ts';

export interface FlowQuery {
  readonly family: FlowFamily;
  /** IPPROTO_*. */
  readonly protocol: number;
  /** Only those that nobody answered so far. */
  readonly unanswered?: boolean;
}

export interface Conntrack {
  /**
   * The flows at one time, a dump's datagram at a time, so that a caller can pause in between. Rejects as
   * `KernelClient.dump` does.
   */
  flows(query: FlowQuery): AsyncGenerator<readonly Flow[], void, undefined>;
  /** Ends one flow; false when it was gone already. Rejects with E_NETLINK. */
  end(flow: Flow): Promise<boolean>;
}

export function createConntrack(client: Pick<KernelClient, 'dump' | 'request'>): Conntrack {
  return {
    async *flows({ family, protocol, unanswered = false }) {
      const writer = createNetlinkWriter(128);
      writeFlowDump(writer, family, protocol, 1, unanswered);
      for (const datagram of await client.dump('nftables', writer.finish())) {
        const flows = [...flowsOf(datagram)];
        // A kernel without the filter sends everything.
        yield flows.filter(
          (flow) => flow.protocol === protocol && !(unanswered && (flow.status & IPS_SEEN_REPLY) !== 0),
        );
      }
    },
    async end(flow) {
      const writer = createNetlinkWriter(128);
      writeFlowDelete(writer, flow, 1);
      try {
        await client.request('nftables', writer.finish());
        return true;
      } catch (error) {
        if (error instanceof PointsmanError && error.facts.errno === ENOENT) return false;
        throw error;
      }
    },
  };
}
