// What the health port and the metrics port answer (behaviour spec 6.1 and 6.3).
import type { Health, HealthPath } from './health.ts';
import type { HttpAnswer, HttpRoutes } from './http-server.ts';
import type { Metrics } from './metrics.ts';

const PLAIN = 'text/plain; charset=utf-8';

/** `/healthz` and `/livez`, and a count of their answers. */
export function healthRoutes(
  health: Health,
  counted: { readonly healthz: (status: number) => void; readonly livez: (status: number) => void },
): HttpRoutes {
  const answer = (path: HealthPath): HttpAnswer => {
    const { status, body } = health.answer(path);
    if (path === '/healthz') counted.healthz(status);
    else counted.livez(status);
    return { status, contentType: 'application/json', body };
  };
  return (path) => (path === '/healthz' || path === '/livez' ? answer(path) : undefined);
}

/** What the metrics port tells beside metrics. */
export interface MetricsPort {
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  readonly mode: string;
  /** Routes that are tried first: /configz and its like. */
  readonly more: readonly HttpRoutes[];
}

/** `/metrics`, `/proxyMode`, and a `/healthz` that says that the server answers. */
export function metricsRoutes({ metrics, mode, more }: MetricsPort): HttpRoutes {
  const plain = (body: string): HttpAnswer => ({ status: 200, contentType: PLAIN, body });
  return async (path, request) => {
    switch (path) {
      case '/metrics':
        return { status: 200, contentType: metrics.contentType, body: await metrics.text() };
      case '/metrics/slis':
        return { status: 200, contentType: metrics.contentType, body: SLIS };
      case '/proxyMode':
        return plain(mode);
      case '/healthz':
      case '/healthz/ping':
        return plain('ok');
      default:
        for (const routes of more) {
          const answer = await routes(path, request);
          if (answer !== undefined) return answer;
        }
        return undefined;
    }
  };
}

/** What Kubernetes components tell of their own checks: that this port answers is the one there is. */
const SLIS = `# HELP kubernetes_healthcheck This metric records the result of a single healthcheck.
# TYPE kubernetes_healthcheck gauge
kubernetes_healthcheck{name="ping",type="healthz"} 1
`;
