// Ends tracked connections that stick to an endpoint that is gone. Off the way of syncs: on a kernel thread of its own,
// which ends when it was not needed for a while.
import { sleep as sleepFor } from '../base/backoff.ts';
import type { Logger } from '../base/log.ts';
import { createSlicer } from '../base/slicer.ts';
import type { Conntrack } from '../kernel/conntrack/conntrack.ts';
import type { Flow } from '../kernel/conntrack/flows.ts';
import { type Address, addressText, type Family } from '../model/address.ts';
import type { Protocol } from '../model/service.ts';
import type { FrontendKey } from '../model/service-port.ts';
import { type FlowScope, type FrontendFlows, isStale, type SeenFlow } from '../plan/stale-flows.ts';

/** linux/in.h. */
const PROTOCOL_NUMBERS: Readonly<Record<Protocol, number>> = { TCP: 6, UDP: 17, SCTP: 132 };
/** Events of a rollout come in a crowd; the table is read once for all of them. */
const PAUSE_MS = 1000;
const RETRY_MS = 5000;
const ENDS_AT_ONCE = 32;
/** A thread costs memory while it is there, and a twentieth of a second to start. */
const KEEP_OPEN_MS = 30_000;
/** Timers hold no more than 24 days. */
const LONGEST_WAIT_MS = 24 * 3_600_000;

export interface CleanupReport {
  readonly family: Family;
  readonly seconds: number;
  readonly ended: number;
}

export interface ConntrackCleanupOptions {
  readonly families: readonly Family[];
  /** Opens the table; it is closed when there was nothing to do for a while. */
  readonly open: () => Promise<Conntrack & AsyncDisposable>;
  readonly flowsOf: (key: FrontendKey) => FrontendFlows;
  readonly isNodeAddress: (address: Address) => boolean;
  readonly done: (report: CleanupReport) => void;
  readonly log: Logger;
  readonly clock?: () => number;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export interface ConntrackCleanup {
  /** To be called after a sync that went through, with the frontends that may have lost an endpoint. */
  look(frontends: ReadonlySet<FrontendKey>): void;
  /** Works until the signal aborts. A run that fails is tried again, with what came meanwhile. */
  run(signal: AbortSignal): Promise<void>;
}

export function createConntrackCleanup(options: ConntrackCleanupOptions): ConntrackCleanup {
  const {
    families,
    open,
    flowsOf,
    isNodeAddress,
    done,
    log,
    clock = () => performance.now(),
    sleep = sleepFor,
  } = options;
  let due = new Set<FrontendKey>();
  let waiting: AbortController | undefined;
  let opened: (Conntrack & AsyncDisposable) | undefined;

  async function clean(keys: ReadonlySet<FrontendKey>): Promise<void> {
    opened ??= await open();
    const conntrack = opened;
    // As of now, not of when they were put on the list: nobody's live flow is cut.
    const scope: FlowScope = {
      frontends: new Map([...keys].map((key) => [key, flowsOf(key)])),
      isNodeAddress,
    };
    for (const family of families) {
      const start = clock();
      let ended = 0;
      for (const protocol of protocolsOf(keys, family)) {
        const stale = await staleFlows(conntrack, family, protocol, scope);
        for (let at = 0; at < stale.length; at += ENDS_AT_ONCE) {
          const results = await Promise.all(
            stale.slice(at, at + ENDS_AT_ONCE).map((flow) => conntrack.end(flow)),
          );
          ended += results.filter(Boolean).length;
        }
      }
      done({ family, seconds: (clock() - start) / 1000, ended });
      log.debug(4, 'Finished reconciling conntrack entries', { family, deletedEntries: ended });
    }
  }

  async function close(): Promise<void> {
    const closing = opened;
    opened = undefined;
    await closing?.[Symbol.asyncDispose]();
  }

  /** Waits for frontends to look at; less long when there is a table to close. */
  async function waitForWork(signal: AbortSignal): Promise<void> {
    waiting = new AbortController();
    await sleep(
      opened === undefined ? LONGEST_WAIT_MS : KEEP_OPEN_MS,
      AbortSignal.any([waiting.signal, signal]),
    );
    waiting = undefined;
    if (due.size === 0) await close();
  }

  return {
    look(frontends) {
      for (const key of frontends) due.add(key);
      if (due.size > 0) waiting?.abort();
    },
    async run(signal) {
      while (!signal.aborted) {
        if (due.size === 0) {
          await waitForWork(signal);
          continue;
        }
        const keys = due;
        due = new Set();
        try {
          await clean(keys);
          await sleep(PAUSE_MS, signal);
        } catch (error) {
          for (const key of keys) due.add(key);
          log.error(error, 'Conntrack clean-up failed', { retryingIn: `${RETRY_MS}ms` });
          await close();
          await sleep(RETRY_MS, signal);
        }
      }
      await close();
    },
  };
}

/** The protocols of a family's frontends. */
function protocolsOf(keys: ReadonlySet<FrontendKey>, family: Family): readonly Protocol[] {
  const found = new Set<Protocol>();
  for (const key of keys) {
    const of = key.startsWith('nodeport/') ? key.includes('/IPv6/') : key.includes(':');
    if (of !== (family === 'IPv6')) continue;
    for (const protocol of ['TCP', 'UDP', 'SCTP'] as const)
      if (key.includes(`/${protocol}/`)) found.add(protocol);
  }
  return [...found];
}

async function staleFlows(
  conntrack: Conntrack,
  family: Family,
  protocol: Protocol,
  scope: FlowScope,
): Promise<readonly Flow[]> {
  const stale: Flow[] = [];
  const slicer = createSlicer();
  const query = {
    family: family === 'IPv4' ? 'ip' : 'ip6',
    protocol: PROTOCOL_NUMBERS[protocol],
    unanswered: protocol === 'TCP',
  } as const;
  for await (const flows of conntrack.flows(query)) {
    for (const flow of flows) {
      if (isStale(seen(flow, protocol, query.unanswered), scope)) stale.push(flow);
      const pause = slicer.turn();
      if (pause !== undefined) await pause;
    }
  }
  return stale;
}

function seen(flow: Flow, protocol: Protocol, unanswered: boolean): SeenFlow {
  return {
    protocol,
    destination: addressText(flow.original.destination),
    port: flow.original.destinationPort,
    server: addressText(flow.reply.source),
    serverPort: flow.reply.sourcePort,
    answered: !unanswered,
  };
}
