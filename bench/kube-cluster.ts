// The API server of kube-memory: objects as a real one sends them, made up while they are sent. Runs as its own process.
import * as http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createAuthority } from '../test/kube/certificates.ts';

const VERSION = '1000000';

export interface ClusterSize {
  readonly services: number;
  readonly slices: number;
  readonly endpointsPerSlice: number;
}

const managed = (manager: string, fields: object): object[] => [
  {
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time: '2026-12-01T02:00:41Z',
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
  },
];

function metadata(name: string, index: number, fields: object): object {
  return {
    name,
    namespace: `team-${index % 50}`,
    uid: `c40a9e75-e4e4-4f99-ac5e-${String(index).padStart(12, '0')}`,
    resourceVersion: String(1000 + index),
    creationTimestamp: '2026-12-01T02:00:41Z',
    labels: { 'app.kubernetes.io/name': name, 'kubernetes.io/service-name': `service-${index}` },
    annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-12-01T02:00:41Z' },
    managedFields: managed('kube-controller-manager', fields),
  };
}

function service(index: number): object {
  const address = `10.${96 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
  return {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: metadata(`service-${index}`, index, {
      'f:spec': { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { 'f:port': {} } } },
    }),
    spec: {
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
      selector: { app: `service-${index}` },
      clusterIP: address,
      clusterIPs: [address],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
    },
    status: { loadBalancer: {} },
  };
}

function slice(index: number, endpoints: number): object {
  return {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: metadata(`service-${index}-x7k2q`, index, {
      'f:endpoints': {},
      'f:ports': {},
      'f:addressType': {},
    }),
    addressType: 'IPv4',
    endpoints: Array.from({ length: endpoints }, (_, number) => ({
      addresses: [`10.244.${(index + number) & 255}.${number & 255}`],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: `node-${(index + number) % 1000}`,
      zone: `zone-${number % 3}`,
      targetRef: {
        kind: 'Pod',
        namespace: `team-${index % 50}`,
        name: `service-${index}-${number}`,
        uid: `${index}-${number}`,
      },
    })),
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
  };
}

/** Writes the pieces with the reader's pace. */
async function send(stream: http2.ServerHttp2Stream, pieces: Iterable<string>): Promise<void> {
  for (const piece of pieces) {
    if (stream.destroyed) return;
    if (!stream.write(piece)) await new Promise((resolve) => stream.once('drain', resolve));
  }
}

/** Serves services and endpointslices until the process ends; prints `{port, ca}` when ready. */
export function serveCluster(size: ClusterSize): void {
  using authority = createAuthority('bench');
  const pair = authority.issue('apiserver', 'IP:127.0.0.1');
  const server = http2.createSecureServer({ cert: pair.certificate, key: pair.key });
  server.on('stream', (stream: http2.ServerHttp2Stream, headers) => {
    stream.on('error', () => {});
    const url = new URL(headers[':path'] ?? '/', 'https://server');
    const isSlices = url.pathname.endsWith('endpointslices');
    const count = isSlices ? size.slices : size.services;
    const object = (index: number): object =>
      isSlices ? slice(index, size.endpointsPerSlice) : service(index);
    const event = (type: string, value: object): string => `${JSON.stringify({ type, object: value })}\n`;

    function* initialEvents(): Generator<string> {
      for (let index = 0; index < count; index += 1) yield event('ADDED', object(index));
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      yield event('BOOKMARK', { metadata: { resourceVersion: VERSION, annotations } });
    }
    function* page(from: number, to: number): Generator<string> {
      const more = to < count ? { continue: String(to), remainingItemCount: count - to } : {};
      yield `{"kind":"List","metadata":${JSON.stringify({ resourceVersion: VERSION, ...more })},"items":[`;
      for (let index = from; index < to; index += 1)
        yield `${index > from ? ',' : ''}${JSON.stringify(object(index))}`;
      yield ']}';
    }

    if (url.pathname === '/refuse') {
      stream.respond({ ':status': 422 }, { endStream: true });
      return;
    }
    stream.respond({ ':status': 200, 'content-type': 'application/json' });
    if (url.searchParams.get('sendInitialEvents') === 'true') {
      void send(stream, initialEvents());
    } else if (url.searchParams.get('watch') === null) {
      const from = Number(url.searchParams.get('continue') ?? 0);
      const limit = Number(url.searchParams.get('limit') ?? count);
      void send(stream, page(from, Math.min(count, from + limit))).then(() => stream.end());
    }
  });
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    console.log(JSON.stringify({ port, ca: authority.certificate }));
  });
}
