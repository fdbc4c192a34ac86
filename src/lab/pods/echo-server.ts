// The servers of one Pod: HTTP on its TCP ports, datagrams on its UDP ports. They live in this process; only their
// sockets are in the Pod's namespace.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { sleep } from '../../base/backoff.ts';
import { PointsmanError } from '../../base/errors.ts';
import { listenerIn, udpSocketIn } from '../../kernel/netns.ts';
import type { Sys } from '../../kernel/sys/sys.ts';
import { familyOf } from '../../model/address.ts';
import { encodeEchoAnswer, sleepWish } from './echo-answer.ts';
import { echoHttpHandler } from './echo-http.ts';

export interface EchoPort {
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  readonly port: number;
}

export interface EchoServerOptions {
  readonly sys: Sys;
  /** Path of the network namespace. */
  readonly namespace: string;
  /** `namespace/name`. */
  readonly pod: string;
  readonly node: string;
  readonly ports: readonly EchoPort[];
  /**
   * Where UDP listens, so that an answer comes from the address that was asked and can name it. Without this it is the
   * wildcards, which is right where there is one address of each family. TCP always listens on all addresses.
   */
  readonly udpAddresses?: readonly string[];
  readonly onReadiness?: (ready: boolean) => void;
}

export const WILDCARDS = ['0.0.0.0', '::'] as const;
const BACKLOG = 4096;

/**
 * Opens all ports, or none. Throws E_SYSCALL for a port that is taken, E_LAB for SCTP, which the servers do not speak.
 * Disposing closes also the connections that are open.
 */
export async function startEchoServer(options: EchoServerOptions): Promise<AsyncDisposable> {
  const { sys, namespace, pod, node, ports } = options;
  const sctp = ports.find(({ protocol }) => protocol === 'SCTP');
  if (sctp !== undefined) {
    throw new PointsmanError('E_LAB', `SCTP port ${sctp.port} of Pod ${pod} cannot be served`, {
      hint: "the lab's servers speak TCP and UDP; leave the port out of the Pod, a Service may still have it",
    });
  }
  await using opened = new AsyncDisposableStack();
  const closing = new AbortController();
  const { signal } = closing;
  let ready = true;
  const onRequest = echoHttpHandler({
    pod,
    node,
    signal,
    isReady: () => ready,
    onReadiness(next) {
      ready = next;
      options.onReadiness?.(next);
    },
  });
  for (const { protocol, port } of ports) {
    const addresses = protocol === 'TCP' ? WILDCARDS : (options.udpAddresses ?? WILDCARDS);
    for (const address of addresses) {
      const place = { namespace, address, port };
      if (protocol === 'TCP') {
        // No time limits: a connection may idle as long as a test likes.
        const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 }, onRequest);
        server.listen({ fd: listenerIn(sys, { ...place, backlog: BACKLOG }) });
        opened.defer(() => closeServer(server));
        await once(server, 'listening');
      } else {
        const socket = createSocket(familyOf(address) === 'IPv6' ? 'udp6' : 'udp4');
        socket.bind({ fd: udpSocketIn(sys, place) });
        opened.defer(() => closeSocket(socket));
        answerDatagrams(socket, { pod, node, server: { address, port }, signal });
      }
    }
  }
  opened.defer(() => closing.abort());
  return opened.move();
}

interface DatagramAnswers {
  readonly pod: string;
  readonly node: string;
  readonly server: { readonly address: string; readonly port: number };
  readonly signal: AbortSignal;
}

/** A datagram may say `sleep=SECONDS`, else its text does not matter. */
function answerDatagrams(socket: Socket, { signal, ...who }: DatagramAnswers): void {
  // An ICMP error about an answer: the client has left.
  socket.on('error', () => {});
  socket.on('message', (message, { address, port }) => {
    const reply = (): void => {
      if (signal.aborted) return;
      socket.send(encodeEchoAnswer({ ...who, client: { address, port } }), port, address, () => {});
    };
    const wait = sleepWish(new URLSearchParams(message.toString('latin1').trim()));
    if (wait === 0) reply();
    else void sleep(wait, signal).then(reply);
  });
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

async function closeSocket(socket: Socket): Promise<void> {
  const closed = once(socket, 'close');
  socket.close();
  await closed;
}
