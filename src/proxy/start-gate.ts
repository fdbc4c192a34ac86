// When the kernel may be written for the first time: once all that decides about rules is known (behaviour spec 1.6
// and 2, initial sync gate).
import { sleep } from '../base/backoff.ts';
import { PointsmanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { ProxyConfig } from '../config/proxy-config.ts';
import type { Family } from '../model/address.ts';
import type { Node } from '../model/node.ts';
import { checkSanity } from './sanity.ts';

export interface StartGateOptions {
  readonly config: ProxyConfig;
  readonly families: readonly Family[];
  /** Services and EndpointSlices were listed. */
  readonly listed: Promise<void>;
  /** The own Node, the ServiceCIDRs and, where they matter, this machine's addresses were listed, or are not there. */
  readonly settingsListed: Promise<void>;
  readonly node: () => Node | undefined;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Milliseconds that only grow. */
  readonly clock?: () => number;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** As upstream waits for the own Node to appear. */
const NODE_WAIT_MS = 30_000;
/** And then for its podCIDRs, in NodeCIDR mode. */
const POD_CIDR_WAIT_MS = 300_000;
const POLL_MS = 250;

/**
 * Resolves with true when rules may be written, with false when the signal aborts. Throws E_CONFIG when they never
 * can: no podCIDRs in NodeCIDR mode, a family that is not there.
 */
export async function waitForStart(options: StartGateOptions): Promise<boolean> {
  const { config, families, log, node, signal } = options;
  const clock = options.clock ?? ((): number => performance.now());
  const pause = options.sleep ?? sleep;
  const ended = Promise.withResolvers<'ended'>();
  if (signal.aborted) return false;
  signal.addEventListener('abort', () => ended.resolve('ended'), { once: true });
  if ((await Promise.race([options.listed, ended.promise])) === 'ended') return false;

  // Without Node and ServiceCIDRs a restart would commit a difference, and back.
  const timer = new AbortController();
  const listed = options.settingsListed.then(() => timer.abort());
  await Promise.race([listed, ended.promise, pause(NODE_WAIT_MS, timer.signal)]);
  timer.abort();

  if (config.localDetection.kind === 'node-cidr') {
    const until = clock() + NODE_WAIT_MS + POD_CIDR_WAIT_MS;
    let told = false;
    while (!signal.aborted && (node()?.podCidrs.length ?? 0) === 0) {
      const { nodeName } = config;
      if (!told) log.info('Waiting for the podCIDRs of the own Node', { nodeName });
      told = true;
      if (clock() >= until)
        throw new PointsmanError(
          'E_CONFIG',
          node() === undefined
            ? `timeout waiting for node ${JSON.stringify(nodeName)} to exist`
            : `timeout waiting for PodCIDR allocation on node ${JSON.stringify(nodeName)}`,
          { hint: 'let the cluster allocate podCIDRs, or use another --detect-local-mode' },
        );
      await pause(POLL_MS, signal);
    }
  }
  if (signal.aborted) return false;
  const seen = node();
  if (seen === undefined)
    log.warn('The own Node is not in the cluster, going on without its zone and addresses', {
      nodeName: config.nodeName,
    });
  for (const warning of checkSanity(config, { families, node: seen }))
    log.warn('Kube-proxy configuration may be incomplete or incorrect', { because: warning });
  return true;
}
