// What a load balancer is told of a Service's local endpoints (behaviour spec 6.2).

/** A Service with a health check node port, and its local endpoints. */
export interface ServiceHealthFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface ServiceHealthAnswer {
  readonly status: 200 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The answer to any request: 200 while new connections that come to this node have a place to go. */
export function serviceHealthAnswer(
  { namespace, name }: ServiceHealthFacts,
  localEndpoints: number,
  serviceProxyHealthy: boolean,
): ServiceHealthAnswer {
  const body = { service: { namespace, name }, localEndpoints, serviceProxyHealthy };
  return {
    status: localEndpoints > 0 && serviceProxyHealthy ? 200 : 503,
    headers: {
      'Content-Type': 'application/json',
      'X-Content-Type-Options': 'nosniff',
      'X-Load-Balancing-Endpoint-Weight': String(localEndpoints),
    },
    body: JSON.stringify(body, undefined, '\t'),
  };
}
