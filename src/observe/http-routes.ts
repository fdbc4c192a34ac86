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

/** `/metrics`, `/proxyMode`, and a `/healthz` that says that the server answers. */
export function metricsRoutes(metrics: Pick<Metrics, 'text' | 'contentType'>, mode: string): HttpRoutes {
  const plain = (body: string): HttpAnswer => ({ status: 200, contentType: PLAIN, body });
  return async (path) => {
    switch (path) {
      case '/metrics':
        return { status: 200, contentType: metrics.contentType, body: await metrics.text() };
      case '/proxyMode':
        return plain(mode);
      case '/healthz':
      case '/healthz/ping':
        return plain('ok');
      default:
        return undefined;
    }
  };
}
