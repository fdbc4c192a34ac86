// npm run bench -- sync: from a change of the model to the kernel's acknowledgement, at several sizes.
import { openNftablesBackend } from '../src/backends/nftables/open.ts';
import { silentLogger } from '../src/base/log.ts';
import { decodeEndpointSlice, sliceKey } from '../src/model/endpoint-slice.ts';
import { decodeService, serviceKey } from '../src/model/service.ts';
import type { TableSettings } from '../src/plan/forwarding-table.ts';
import { type ClusterState, createClusterState } from '../src/proxy/cluster-state.ts';
import { createBenchNamespace } from './namespace.ts';
import { quantile, rounded } from './statistics.ts';
import { sliceObject, syntheticCluster } from './synthetic-cluster.ts';

/** One row of every benchmark's table; further columns may follow. Times in ms. */
export interface SyncRow {
  readonly services: number;
  readonly endpoints: number;
  /** From cached API objects to the last ack of the initial load, planning included. */
  readonly load_ms: number;
  readonly change_p50_ms: number;
  readonly change_p99_ms: number;
  readonly cpu_ms_per_change: number;
  /** The longest time for which the main thread did not turn its event loop during the load, in CPU time. */
  readonly load_stall_ms: number;
  readonly restart_ms: number;
  readonly restart_messages: number;
}

const CHANGES = 500;
/** Compilers and caches are warm after these. */
const WARM_UP = 100;

const settings: TableSettings = {
  masqueradeAll: false,
  localDetector: { kind: 'none' },
  serviceCidrs: [],
  nodePortAddresses: 'all',
};

function setSlice(state: ClusterState, object: unknown): void {
  const slice = decodeEndpointSlice(object);
  if (slice.kind === 'decoded') state.setSlice(sliceKey(slice.value), slice.value);
}

export async function benchSync(services: number, endpoints: number): Promise<SyncRow> {
  using namespace = createBenchNamespace();
  const open = (): ReturnType<typeof openNftablesBackend> =>
    openNftablesBackend({ namespace: namespace.path, families: ['IPv4'], log: silentLogger });
  const cluster = syntheticCluster(services, endpoints);
  const state = createClusterState({
    nodeName: 'node-0',
    families: ['IPv4'],
    settings: { IPv4: settings, IPv6: settings },
  });
  const stall = watchEventLoop();
  let load = 0;
  const changes: number[] = [];
  let cpuMs = 0;
  {
    await using backend = await open();
    await backend.probe();
    stall.reset();
    const start = performance.now();
    for (const [index, object] of cluster.services.entries()) {
      const service = decodeService(object);
      if (service.kind === 'decoded')
        state.setService(serviceKey(service.value.namespace, service.value.name), service.value);
      setSlice(state, cluster.slices[index]);
      // The watches hand objects over in slices as well.
      if (index % 100 === 99) await new Promise(setImmediate);
    }
    await state.take();
    check(await backend.reconcile(state.table));
    load = performance.now() - start;
    stall.stop();

    let cpu = process.cpuUsage();
    for (let turn = 0; turn < WARM_UP + CHANGES; turn++) {
      if (turn === WARM_UP) cpu = process.cpuUsage();
      // Objects are made before the clock starts: a watch event has been parsed by then.
      const object = sliceObject((turn * 7919) % services, endpoints, turn + 1);
      const began = performance.now();
      setSlice(state, object);
      const taken = await state.take();
      check(await backend.commit(taken.change));
      if (turn >= WARM_UP) changes.push(performance.now() - began);
    }
    const used = process.cpuUsage(cpu);
    cpuMs = (used.user + used.system) / 1000;
  }
  await using again = await open();
  const start = performance.now();
  const report = await again.reconcile(state.table);
  check(report);
  return {
    services,
    endpoints,
    load_ms: rounded(load),
    change_p50_ms: rounded(quantile(changes, 0.5)),
    change_p99_ms: rounded(quantile(changes, 0.99)),
    cpu_ms_per_change: rounded(cpuMs / CHANGES),
    load_stall_ms: rounded(stall.longest()),
    restart_ms: rounded(performance.now() - start),
    restart_messages: report.messages,
  };
}

function check({
  refused,
  failed,
}: Awaited<ReturnType<Awaited<ReturnType<typeof openNftablesBackend>>['commit']>>): void {
  if (failed !== undefined) throw failed;
  if (refused.size > 0) throw new Error(`${refused.size} entries were refused`);
}

/**
 * Measures the longest piece of work of the main thread between two turns of the event loop, in CPU time, so that what
 * else the machine does meanwhile does not count. Collecting garbage does.
 */
function watchEventLoop(): { reset(): void; stop(): void; longest(): number } {
  const worked = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let last = worked();
  let longest = 0;
  const timer = setInterval(() => {
    const now = worked();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  return {
    reset() {
      last = worked();
      longest = 0;
    },
    stop: () => clearInterval(timer),
    longest: () => longest,
  };
}
