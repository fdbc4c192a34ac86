// One listening socket of a health check node port: opened with patience, closed with all its connections.
import { createServer, type RequestListener } from 'node:http';
import { createBackoff, sleep } from '../base/backoff.ts';

export interface ServiceHealthListenerOptions {
  readonly address: string;
  readonly port: number;
  readonly answer: RequestListener;
  /** The one that had the address and port before: its end is awaited. */
  readonly after: Promise<void> | undefined;
  readonly opened: () => void;
  /** Told once, of the first failure. */
  readonly failed: (error: Error) => void;
  readonly firstRetryMs: number;
}

export interface ServiceHealthListener {
  readonly listening: boolean;
  /** Gives the port back; resolves when all is closed. */
  close(): Promise<void>;
}

const LONGEST_RETRY_MS = 30_000;

export function openServiceHealthListener(options: ServiceHealthListenerOptions): ServiceHealthListener {
  const { address, port, answer, after, opened, failed, firstRetryMs } = options;
  const server = createServer(answer);
  const ending = new AbortController();
  const backoff = createBackoff({ firstMs: firstRetryMs, maxMs: LONGEST_RETRY_MS });

  const listen = (): Promise<Error | undefined> =>
    new Promise((resolve) => {
      const settle = (failure?: Error): void => {
        server.removeListener('error', settle);
        server.removeListener('listening', settle);
        resolve(failure);
      };
      server.once('error', settle);
      server.once('listening', settle);
      // Both families have the same port, each with counts of its own.
      server.listen({ host: address, port, ipv6Only: true });
    });

  const open = async (): Promise<void> => {
    await after;
    while (!ending.signal.aborted) {
      const failure = await listen();
      if (failure === undefined) {
        if (!ending.signal.aborted) opened();
        return;
      }
      if (backoff.attempts === 0 && !ending.signal.aborted) failed(failure);
      await sleep(backoff.next(), ending.signal);
    }
  };
  const opening = open();
  return {
    get listening() {
      return server.listening && !ending.signal.aborted;
    },
    async close() {
      ending.abort();
      await opening;
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
