// Asks a health server inside a namespace how it is.
import { request } from 'node:http';
import { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { tcpSocketIn } from '../../kernel/netns.ts';
import type { Sys } from '../../kernel/sys/sys.ts';
import { familyOf } from '../../model/address.ts';

export interface HealthPlace {
  /** Path of the network namespace. */
  readonly namespace: string;
  readonly address: string;
  readonly port: number;
}

export type Health =
  | { readonly kind: 'healthy' }
  | { readonly kind: 'unhealthy'; readonly because: string }
  /** Nobody answers. */
  | { readonly kind: 'silent'; readonly because: string };

const TIMEOUT_MS = 2000;

/** One request for /healthz. A namespace that is not there is silence too. */
export async function probeHealth(sys: Sys, { namespace, address, port }: HealthPlace): Promise<Health> {
  try {
    const fd = tcpSocketIn(sys, { namespace, family: familyOf(address) === 'IPv6' ? 6 : 4 });
    const socket = new Socket({ fd, readable: true, writable: true });
    socket.connect({ host: address, port });
    return await new Promise<Health>((resolve, reject) => {
      const asked = request({
        createConnection: () => socket,
        path: '/healthz',
        headers: { Host: `${address}:${port}`, Connection: 'close' },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      asked.once('error', reject);
      asked.once('response', (response) => {
        const { statusCode } = response;
        text(response).then(
          (body) =>
            resolve(
              statusCode === 200
                ? { kind: 'healthy' }
                : {
                    kind: 'unhealthy',
                    because: `/healthz answers ${statusCode}: ${body.trim().slice(0, 200)}`,
                  },
            ),
          reject,
        );
      });
      asked.end();
    });
  } catch (error) {
    return { kind: 'silent', because: error instanceof Error ? error.message : String(error) };
  }
}
