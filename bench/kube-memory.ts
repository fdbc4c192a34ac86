// What list and watch of a large cluster cost this process: time, CPU, memory, and how long the event loop was held up.
// `sh tools/node.sh bench/kube-memory.ts [--services N] [--slices N] [--endpoints-per-slice N]` prints one JSON object.
// The owner keeps nothing, so that what is left on the heap is the reflectors' own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { silentLogger } from '../src/base/log.ts';
import { createCredentials } from '../src/kube/credentials.ts';
import { createReflector } from '../src/kube/reflector.ts';
import { constantText } from '../src/kube/refreshed-file.ts';
import { ENDPOINT_SLICES, SERVICES } from '../src/kube/resources.ts';
import { createTransport, type Transport } from '../src/kube/transport.ts';
import { type ClusterSize, serveCluster } from './kube-cluster.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    services: { type: 'string', default: '10000' },
    slices: { type: 'string', default: '10000' },
    'endpoints-per-slice': { type: 'string', default: '10' },
  },
});
const size: ClusterSize = {
  services: Number(values.services),
  slices: Number(values.slices),
  endpointsPerSlice: Number(values['endpoints-per-slice']),
};
const SIZES = [
  '--services',
  size.services,
  '--slices',
  size.slices,
  '--endpoints-per-slice',
  size.endpointsPerSlice,
];
const megabytes = (bytes: number): number => Math.round(bytes / 1e5) / 10;

/** A process of this file in another role, and the first line that it prints. */
async function startRole(
  role: string,
  input?: string,
): Promise<{ readonly child: ChildProcess; readonly line: string }> {
  const file = new URL(import.meta.url).pathname;
  const child = spawn(process.execPath, [file, role, ...SIZES.map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  if (input !== undefined) child.stdin?.write(`${input}\n`);
  if (child.stdout === null) throw new Error('no output');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, line };
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  gc();
  gc();
}

/** Reads both resources into nothing and tells what that took. */
async function measure(how: 'stream' | 'pages', transport: Transport): Promise<object> {
  collectGarbage();
  const { heapUsed: heapBefore, rss: rssBefore } = process.memoryUsage();
  const cpu = process.cpuUsage();
  const start = performance.now();
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const stopper = new AbortController();
  let changes = 0;
  const reflectors = [SERVICES, ENDPOINT_SLICES].map((resource) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const reflector = createReflector({
      ...resource,
      transport,
      decode: () => true,
      onChange: () => {
        changes += 1;
      },
      onSynced: resolve,
      log: silentLogger,
    });
    return { reflector, running: reflector.run(stopper.signal), synced: promise };
  });
  await Promise.all(reflectors.map(({ synced }) => synced));
  const loadMs = performance.now() - start;
  delays.disable();
  const { user, system } = process.cpuUsage(cpu);
  const peak = process.resourceUsage().maxRSS * 1024;
  collectGarbage();
  const heapAfter = process.memoryUsage().heapUsed;
  stopper.abort();
  await Promise.all(reflectors.map(({ running }) => running));
  return {
    how,
    services: size.services,
    endpoints: size.slices * size.endpointsPerSlice,
    objects: changes,
    load_ms: Math.round(loadMs),
    cpu_ms: Math.round((user + system) / 1000),
    loop_blocked_max_ms: Math.round(delays.max / 1e5) / 10,
    heap_kept_mb: megabytes(heapAfter - heapBefore),
    heap_mb: megabytes(heapAfter),
    rss_before_mb: megabytes(rssBefore),
    peak_rss_mb: megabytes(peak),
  };
}

async function client(how: 'stream' | 'pages'): Promise<void> {
  const [line] = (await once(createInterface(process.stdin), 'line')) as [string];
  process.stdin.destroy();
  const { port, ca } = JSON.parse(line) as { readonly port: number; readonly ca: string };
  using transport = createTransport({
    access: {
      server: new URL(`https://127.0.0.1:${port}`),
      authority: constantText(ca),
      insecureSkipVerify: false,
      compression: true,
      credentials: createCredentials({}),
      origin: 'bench',
    },
    log: silentLogger,
    userAgent: 'bench',
    rate: { qps: 0, burst: 0 },
  });
  // The server streams; whoever wants pages is told that it does not.
  const paged: Transport = {
    ...transport,
    stream: (path, options) =>
      options?.query?.sendInitialEvents === undefined
        ? transport.stream(path, options)
        : transport.stream('/refuse', options),
  };
  console.log(JSON.stringify(await measure(how, how === 'stream' ? transport : paged)));
}

const [role] = positionals;
if (role === 'serve') serveCluster(size);
else if (role === 'stream' || role === 'pages') await client(role);
else {
  const { child: server, line } = await startRole('serve');
  const rows: unknown[] = [];
  for (const how of ['stream', 'pages']) {
    const run = await startRole(how, line);
    rows.push(JSON.parse(run.line));
    run.child.kill();
  }
  server.kill();
  console.log(JSON.stringify({ rows }));
}
