// One TCP connection of the lab's client: questions and answers in turn, and what ended it.
import { Socket } from 'node:net';
import { tcpSocketIn } from '../../kernel/netns.ts';
import type { Sys } from '../../kernel/sys/sys.ts';
import { familyOf } from '../../model/address.ts';
import { type Answer, answerOf, type Failure, type Target } from './answer.ts';
import { failureKind } from './client-failure.ts';
import { parseResponse, requestText } from './http-response.ts';

export interface TcpConversation {
  /** Never rejects. One question at a time. After a failure all further ones fail alike. */
  ask(path: string, timeoutMs: number): Promise<Answer>;
  /** Ends the connection with a reset, which leaves no TIME_WAIT behind. */
  close(): void;
}

/** Begins to connect. Throws E_SYSCALL when there is no such namespace or source address. */
export function converse(sys: Sys, target: Target): TcpConversation {
  const { namespace, source, address, port } = target;
  const fd = tcpSocketIn(sys, {
    family: familyOf(address) === 'IPv6' ? 6 : 4,
    ...(namespace !== undefined && { namespace }),
    ...(source !== undefined && { from: { port: 0, ...source } }),
  });
  const socket = new Socket({ fd, readable: true, writable: true });
  let received = '';
  let connected = false;
  let end: Omit<Failure, 'ms'> | undefined;
  let settle: (() => void) | undefined;

  const over = (failure: Omit<Failure, 'ms'>): void => {
    end ??= failure;
    settle?.();
  };
  socket.setEncoding('latin1');
  socket.on('connect', () => {
    connected = true;
  });
  socket.on('data', (text: string) => {
    received += text;
    settle?.();
  });
  socket.on('error', (error) => over({ kind: 'failed', how: failureKind(error), detail: error.message }));
  socket.on('close', () => over({ kind: 'failed', how: 'reset', detail: 'the connection was closed' }));
  socket.setNoDelay(true);
  socket.connect({ host: address, port });

  const close = (): void => {
    // A socket that still connects would wait for the connection before it resets it.
    if (connected) socket.resetAndDestroy();
    else socket.destroy();
  };
  return {
    ask(path, timeoutMs) {
      const begun = performance.now();
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          over({ kind: 'failed', how: 'timeout', detail: `no answer in ${timeoutMs} ms` });
        }, timeoutMs);
        settle = (): void => {
          const response = parseResponse(received);
          if (response.kind === 'incomplete' && end === undefined) return;
          clearTimeout(timer);
          settle = undefined;
          const ms = performance.now() - begun;
          if (response.kind === 'response') {
            received = response.rest;
            resolve(answerOf(response.body, ms));
            return;
          }
          end ??= { kind: 'failed', how: 'other', detail: `this is no HTTP: ${received.slice(0, 80)}` };
          close();
          resolve({ ...end, ms });
        };
        if (end === undefined) socket.write(requestText(path));
        settle();
      });
    },
    close,
  };
}
