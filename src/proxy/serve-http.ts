// The health port and the metrics port, as configured.
import { readFile } from 'node:fs/promises';
import { configurationDocument } from '../config/configuration.ts';
import type { ProxyConfig } from '../config/proxy-config.ts';
import type { SocketAddress } from '../config/socket-address.ts';
import { debugRoutes } from '../observe/debug-routes.ts';
import type { Health } from '../observe/health.ts';
import { guardedRoutes, type ReviewApi } from '../observe/http-auth.ts';
import { healthRoutes, metricsRoutes } from '../observe/http-routes.ts';
import {
  type HttpRoutes,
  type HttpServer,
  startHttpServer,
  type TlsMaterial,
} from '../observe/http-server.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { profileRoutes } from '../observe/profiles.ts';

export interface HttpOptions {
  readonly config: ProxyConfig;
  readonly version: string;
  /** Every flag with its value, for /flagz. */
  readonly flags: Readonly<Record<string, string>>;
  readonly mode: string;
  readonly health: Health;
  readonly metrics: Metrics;
  /** Asked who may read the metrics port. */
  readonly api: ReviewApi;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly now: () => number;
  /** Milliseconds that only grow. */
  readonly clock: () => number;
  readonly log: Log;
}

/** Servers that are not configured are undefined. */
export interface HttpServers extends AsyncDisposable {
  readonly health: HttpServer | undefined;
  readonly metrics: HttpServer | undefined;
}

/** Probes of the kubelet have no token. */
const OPEN_PATHS = ['/healthz', '/healthz/ping'];

export function serveHttp(options: HttpOptions): HttpServers {
  const { config, health, metrics, mode, log } = options;
  const serve = (
    name: string,
    at: SocketAddress | undefined,
    routes: HttpRoutes,
    tls?: () => Promise<TlsMaterial>,
  ): HttpServer | undefined =>
    at &&
    startHttpServer({
      name,
      ...at,
      routes,
      hardFail: config.bindAddressHardFail,
      log: log.room('http'),
      tls,
    });

  const routes = metricsRoutes({
    metrics,
    mode,
    more: [
      debugRoutes({
        ...options,
        ...config,
        paths: pathsOf(config),
        configuration: configurationDocument(config.source),
      }),
      ...(config.profiling
        ? [
            profileRoutes({
              verbosity: () => log.verbosity,
              setVerbosity(verbosity) {
                log.verbosity = verbosity;
              },
            }),
          ]
        : []),
    ],
  });
  const { metricsTls, metricsAuthorization } = config.own;
  const guard = { api: options.api, log: log.room('http'), clock: options.clock };
  const servers = {
    health: serve('health server', config.healthz, healthRoutes(health, metrics.upstream)),
    metrics: serve(
      'metrics server',
      config.metrics,
      metricsAuthorization ? guardedRoutes(guard, OPEN_PATHS, routes) : routes,
      metricsTls &&
        (async () => ({
          cert: await readFile(metricsTls.certFile, 'utf8'),
          key: await readFile(metricsTls.keyFile, 'utf8'),
        })),
    ),
  };
  return {
    ...servers,
    async [Symbol.asyncDispose]() {
      await Promise.all([servers.health?.[Symbol.asyncDispose](), servers.metrics?.[Symbol.asyncDispose]()]);
    },
  };
}

function pathsOf({ statusz, flagz, profiling }: ProxyConfig): readonly string[] {
  return [
    '/configz',
    ...(profiling ? ['/debug/flags', '/debug/pprof'] : []),
    ...(flagz ? ['/flagz'] : []),
    '/healthz',
    '/metrics',
    '/metrics/slis',
    '/proxyMode',
    ...(statusz ? ['/statusz'] : []),
  ];
}
