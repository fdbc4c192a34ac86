// Metrics: upstream's names where their meaning exists here (behaviour spec 6.3), and our own.
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Family } from '../model/address.ts';
import { addComponentMetrics } from './component-metrics.ts';
import { createOwnMetrics, type OwnMetrics, type OwnSources } from './own-metrics.ts';
import { createUpstreamMetrics, type ModeSources, type UpstreamMetrics } from './upstream-metrics.ts';

export interface MetricsOptions {
  readonly version: string;
  readonly families: readonly Family[];
  readonly sources: OwnSources;
  /** Whether to tell of the process itself too; once a process. */
  readonly process: boolean;
  readonly mode: ModeSources;
  /** Feature gates in force. */
  readonly features: readonly { readonly name: string; readonly on: boolean }[];
}

/** One registry: what a scrape of /metrics gets. */
export interface Metrics {
  readonly upstream: UpstreamMetrics;
  readonly own: OwnMetrics;
  readonly contentType: string;
  /** The text of a scrape. */
  text(): Promise<string>;
}

/** How often the event loop's delay is sampled: each sample wakes the process. */
const LOOP_SAMPLE_MS = 20;

export function createMetrics(options: MetricsOptions): Metrics {
  const { version, families, sources, process, features, mode } = options;
  const registry = new Registry();
  const upstream = createUpstreamMetrics(registry, families, mode);
  addComponentMetrics(registry, version, features);
  const own = createOwnMetrics(registry, version, sources);
  if (process) collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_SAMPLE_MS });
  return {
    upstream,
    own,
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}
