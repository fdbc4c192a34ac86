// The proxy as a whole: everything is made here, wired, run, and taken down in order.
import { readFileSync } from 'node:fs';
import { cpus, networkInterfaces } from 'node:os';
import { sleep } from '../base/backoff.ts';
import { oneLine, PointsmanError } from '../base/errors.ts';
import { gatesInForce } from '../config/feature-gates.ts';
import type { ProxyConfig } from '../config/proxy-config.ts';
import { createEventRecorder } from '../kube/events.ts';
import { findAccess } from '../kube/find-access.ts';
import { createTransport, type RequestReport } from '../kube/transport.ts';
import { createConntrackCleanup } from '../observe/conntrack-cleanup.ts';
import { createHealth } from '../observe/health.ts';
import type { Log } from '../observe/log.ts';
import { createMetrics } from '../observe/metrics.ts';
import { createServiceHealth } from '../observe/service-health.ts';
import type { ForwardingTable } from '../plan/forwarding-table.ts';
import { createClusterState } from './cluster-state.ts';
import { applyConntrackSettings, conntrackFill, type SettingsAccess } from './conntrack-settings.ts';
import type { OpenDataPath } from './data-path.ts';
import { createEventReports } from './event-reports.ts';
import { detectFamilies } from './families.ts';
import { healthCheckAddresses } from './health-check-addresses.ts';
import { createHealthPortUpdates } from './health-port-updates.ts';
import { createIntake } from './intake.ts';
import { createLocalAddresses } from './local-addresses.ts';
import { bindFailureNote, startingNote } from './notes.ts';
import { setOomScore } from './oom-score.ts';
import { createPendingChanges } from './pending-changes.ts';
import { createQuarantine } from './quarantine.ts';
import type { ConfigFileState } from './reload.ts';
import { checkSanity } from './sanity.ts';
import { serveHttp } from './serve-http.ts';
import { waitForStart } from './start-gate.ts';
import { createSyncLoop } from './sync-loop.ts';
import { createSyncReports } from './sync-reports.ts';
import { tableSettings } from './table-settings.ts';
import { createWatches } from './watches.ts';

export interface DaemonOptions {
  readonly config: ProxyConfig;
  readonly version: string;
  /** Every flag with its value, for /flagz. */
  readonly flags: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly openDataPath: OpenDataPath;
  /** Sysctls of the node. */
  readonly settings: SettingsAccess;
  /** Ends after what needs privileges is done: nothing is watched, and no rule written. */
  readonly initOnly?: boolean;
  /** The configuration file, where there is one. */
  readonly configFile?: () => ConfigFileState;
  /** Called once rules may be written: the configuration works. */
  readonly started?: () => void;
  /** Ends the proxy in order; the rules stay in the kernel. */
  readonly signal: AbortSignal;
}

/** How long the process waits to tell why it ends. */
const LAST_WORDS_MS = 3_000;
/** Upstream's longest time between two full syncs (behaviour spec 4). */
const AUDIT_MS = 3_600_000;

/**
 * Runs the proxy until the signal aborts. Throws, before anything was written, E_KUBECONFIG, E_PERMISSION,
 * E_KERNEL_FEATURE, E_KERNEL_THREAD, E_CONFIG or, where that is to be an error, E_BIND.
 */
export async function runDaemon(options: DaemonOptions): Promise<void> {
  const { config, version, env, log, openDataPath, settings, signal } = options;
  const own = log.room('daemon');
  const now = Date.now;
  const clock = (): number => performance.now();
  const startedAt = now();

  const access = await findAccess({
    env,
    ...(config.kubeconfig === '' ? {} : { kubeconfig: config.kubeconfig }),
    ...(config.master === '' ? {} : { master: config.master }),
  });
  const families = detectFamilies(textOf);
  checkSanity(config, { families, node: undefined });
  await using dataPath = await openDataPath({ families, log, config, settings, env }).catch(
    cannotUse(config.mode),
  );
  const { backend } = dataPath;
  await backend.probe().catch(cannotUse(config.mode));
  // From here on there is something to tell; an error before is the one line of the command.
  own.info('Version info', { version, node: process.version });
  own.info(`Using ${backend.mode} Proxier`, { nodeName: config.nodeName, apiServer: access.server.origin });
  own.info(`kube-proxy running in ${families.length > 1 ? 'dual' : 'single'}-stack mode`, { families });
  for (const { name, before, value } of applyConntrackSettings(
    config.conntrack,
    // Not availableParallelism: a quota of this container says nothing about the node's connections.
    cpus().length,
    settings,
  ))
    own.info('Set sysctl', { name, before, value });
  if (options.initOnly === true) {
    own.info('System initialized and --init-only specified');
    return;
  }
  await setOomScore(config.oomScoreAdj, own);

  const state = createClusterState({
    nodeName: config.nodeName,
    families,
    settings: tableSettings(config, { node: undefined, serviceCidrs: [], localAddresses: [] }),
  });
  const pending = createPendingChanges(clock);
  const events = createEventReports({
    nodeName: config.nodeName,
    state: () => state,
    record: (note) => recorder.record(note),
    log: log.room('events'),
  });
  const quarantine = createQuarantine({
    log: log.room('quarantine'),
    now,
    clock,
    told: events.quarantined,
  });
  const health = createHealth({ families, syncPeriodMs: config.syncPeriodMs, now });
  const metrics = createMetrics({
    version,
    families,
    process: true,
    features: gatesInForce(config.source.featureGates),
    sources: {
      caches: () => watches.caches(),
      quarantined: () => quarantine.counts,
      clashes: () => state.clashes.size,
      portClashes: () => state.portClashes.size,
      healthCheckSockets: () => serviceHealth.counts,
      conntrack: () => conntrackFill(settings),
      entries: () => state.table.entries.size,
      kernelThreadRestarts: () => dataPath.restarts(),
      configFile: () => options.configFile?.(),
    },
    mode: {
      kind: config.mode,
      rules: () => dataPath.iptables?.ruleCounts() ?? [],
      partialFailures: () => dataPath.iptables?.partialFailures ?? 0,
    },
  });
  const cleanup = createConntrackCleanup({
    families,
    open: () => dataPath.openConntrack(),
    flowsOf: (key) => state.flowsOf(key),
    isNodeAddress: (address) => localAddresses().includes(address),
    done: ({ family, seconds, ended }) => metrics.upstream.conntrackCleaned(family, seconds, ended),
    log: log.room('conntrack'),
  });
  await using serviceHealth = createServiceHealth({
    healthy: () => health.healthy,
    failed: events.healthCheckFailed,
    log: log.room('service-health'),
  });
  let listening: ForwardingTable['settings'] | undefined;
  const listenWhereNodePortsAre = (): void => {
    const { settings: current } = state.table;
    if (current === listening) return;
    listening = current;
    serviceHealth.listenOn(healthCheckAddresses(config.nodePorts, current, localAddresses()));
  };
  const updateHealthPorts = createHealthPortUpdates({ servers: serviceHealth, quarantine });
  const reports = createSyncReports({ metrics, health, pending, dirty: () => state.dirty, now });
  const loop = createSyncLoop({
    backend,
    state,
    pending,
    quarantine,
    observer: {
      ...reports,
      done(report) {
        reports.done(report);
        cleanup.look(state.takeTouched());
        listenWhereNodePortsAre();
        updateHealthPorts(state.takeHealthPorts());
        events.clashed(state.takeClashes());
        metrics.upstream.noLocalEndpoints(state.noLocal);
      },
    },
    timing: { minSyncMs: config.minSyncPeriodMs, longestRetryMs: config.syncPeriodMs, auditMs: AUDIT_MS },
    log: log.room('sync'),
    clock,
    sleep,
  });
  using transport = createTransport({
    access,
    log: log.room('kube'),
    userAgent: `pointsman/${version} (linux/${process.arch})`,
    rate: config.kubeApi,
    onRequest: (report: RequestReport) => metrics.upstream.request(report),
  });
  const recorder = createEventRecorder({
    transport,
    source: { reportingController: 'kube-proxy', reportingInstance: `kube-proxy-${config.nodeName}` },
    log: log.room('events'),
  });
  const intake = createIntake({
    config,
    state,
    pending,
    quarantine,
    health,
    metrics: metrics.upstream,
    changed: () => loop.changed(),
    startedAt,
    log: log.room('node'),
  });
  const watches = createWatches({ transport, nodeName: config.nodeName, log, now, intake });
  const addresses =
    config.nodePorts.kind === 'cidrs' && config.nodePorts.cidrs.length > 0
      ? createLocalAddresses({
          source: dataPath.addresses,
          changed: (seen) => intake.localAddresses(seen),
          log: log.room('node'),
        })
      : undefined;

  await using servers = serveHttp({
    config,
    version,
    flags: options.flags,
    mode: backend.mode,
    health,
    metrics,
    api: transport,
    startedAt,
    now,
    clock,
    log,
  });
  if (config.bindAddressHardFail) {
    const failed = async (server: 'health' | 'metrics', error: unknown): Promise<never> => {
      recorder.record(bindFailureNote(config.nodeName, server, oneLine(error)));
      await recorder.flush(AbortSignal.timeout(LAST_WORDS_MS));
      throw error;
    };
    await servers.health?.opened.catch((error) => failed('health', error));
    await servers.metrics?.opened.catch((error) => failed('metrics', error));
  }
  recorder.record(startingNote(config.nodeName));

  await runTogether(signal, [
    (ending) => watches.run(ending),
    (ending) => loop.run(ending),
    (ending) => cleanup.run(ending),
    (ending) => recorder.run(ending),
    ...(addresses === undefined ? [] : [addresses.run]),
    async (ending) => {
      const start = await waitForStart({
        config,
        families,
        listed: watches.listed,
        settingsListed: Promise.all([watches.settingsListed, addresses?.listed]).then(() => {}),
        node: () => intake.ownNode,
        log: own,
        signal: ending,
      });
      if (!start) return;
      options.started?.();
      loop.open();
    },
  ]);
  own.info('The proxy ends, the rules stay in the kernel');
}

/** Every address of this machine's interfaces. */
function localAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []);
}

/** Runs tasks until the signal aborts; when one fails the others are ended, and its error is thrown. */
async function runTogether(
  signal: AbortSignal,
  tasks: readonly ((ending: AbortSignal) => Promise<void>)[],
): Promise<void> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  const running = tasks.map((task) => task(ending.signal));
  try {
    await Promise.all(running);
  } finally {
    end();
    signal.removeEventListener('abort', end);
    await Promise.allSettled(running);
  }
}

/** Names the mode where the kernel itself knows only what it lacks. */
function cannotUse(mode: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof PointsmanError) || error.code !== 'E_KERNEL_FEATURE') throw error;
    const { code, message, hint, facts } = error;
    throw new PointsmanError(code, `cannot use ${mode} mode: ${message}`, {
      ...(hint === undefined ? {} : { hint }),
      facts,
      cause: error.cause,
    });
  };
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
