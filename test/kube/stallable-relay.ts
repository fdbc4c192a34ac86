// A TCP relay whose connections can be made to hang without being closed: what a firewall that forgot them does.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface StallableRelay {
  readonly port: number;
  /** From now on nothing passes on the connections that are open. New ones work. */
  stall(): void;
  /** Connections that are open, stalled ones too. */
  readonly connections: number;
  onConnection: () => void;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startRelay(target: number): Promise<StallableRelay> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const state = { onConnection: () => {} };
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [far, near] as const]) {
      from.on('error', () => to.destroy());
      from.on('close', () => {
        pairs.delete(pair);
        to.destroy();
      });
      from.pipe(to);
    }
    state.onConnection();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const [near, far] of pairs) {
      near.destroy();
      far.destroy();
    }
    await closed;
  };
  return {
    port: (server.address() as AddressInfo).port,
    stall() {
      for (const [near, far] of pairs) {
        near.unpipe(far);
        far.unpipe(near);
        near.pause();
        far.pause();
      }
    },
    get connections() {
      return pairs.size;
    },
    get onConnection() {
      return state.onConnection;
    },
    set onConnection(value) {
      state.onConnection = value;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
