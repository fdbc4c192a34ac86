// A node with its pods on one side and the world on the other, in three network namespaces. The world holds outside
// clients and the pods of other nodes. Every pod and every remote address answers who it is and whom it saw.
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import { listenerIn, preparePool, tcpSocketIn, udpSocketIn } from '../../src/kernel/netns.ts';
import { createKoffiSys } from '../../src/kernel/sys/koffi.ts';
import { createTestNamespace } from '../kernel/test-namespace.ts';

export type Place = 'node' | 'pods' | 'world';

/** What a client met. `server` is who answered, as `address:port`; `client` is the source address that it saw. */
export type Answer =
  | { readonly kind: 'answered'; readonly server: string; readonly client: string }
  | { readonly kind: 'refused' }
  | { readonly kind: 'silence' };

export interface Question {
  readonly from: Place;
  /** A source address of that place; without it the kernel chooses. */
  readonly source?: string;
  readonly sourcePort?: number;
  readonly protocol: 'TCP' | 'UDP';
  readonly address: string;
  readonly port: number;
}

/** A TCP connection that stays open, to see what happens to it. */
export interface OpenConnection {
  readonly server: string;
  /** Asks the server again over the same connection; false when the connection is gone. */
  alive(): Promise<boolean>;
  close(): void;
}

export interface SmallNet extends AsyncDisposable {
  /** Path of the node's namespace. */
  readonly node: string;
  ask(question: Question): Promise<Answer>;
  open(question: Question): Promise<OpenConnection>;
  /** Lets one more address of the pods or the world answer. */
  addServer(place: 'pods' | 'world', address: string, port: number): Promise<void>;
  /** Runs a command in a namespace and gives what it printed. */
  run(place: Place, ...command: readonly string[]): string;
}

export interface SmallNetOptions {
  /** The node's own addresses; the first of each family is where the world routes to. */
  readonly node: readonly string[];
  /** Ranges that lie behind the pods' side; everything else is the world's. */
  readonly podRanges: readonly string[];
  /** Addresses of the two other places: clients and servers. */
  readonly pods: readonly string[];
  readonly world: readonly string[];
  /** Ports that every address of the pods and the world answers on, TCP and UDP. */
  readonly ports: readonly number[];
}

/** How long no answer is no answer. Everything is on one machine, where an answer takes well under a millisecond. */
const SILENCE_MS = 300;
const GATEWAY4 = '169.254.1.1';
const GATEWAY6 = 'fe80::1';

const isSix = (address: string): boolean => address.includes(':');
const host = (address: string): string => `${address}/${isSix(address) ? 128 : 32}`;
const bracketed = (address: string): string => (isSix(address) ? `[${address}]` : address);

export async function createSmallNet(options: SmallNetOptions): Promise<SmallNet> {
  await preparePool();
  const sys = createKoffiSys();
  await using made = new AsyncDisposableStack();
  const namespaces = {
    node: made.use(createTestNamespace()),
    pods: made.use(createTestNamespace()),
    world: made.use(createTestNamespace()),
  };
  const batch = (place: Place, lines: readonly string[]): void => {
    execFileSync('ip', ['-n', namespaces[place].name, '-batch', '-'], {
      input: `${lines.join('\n')}\n`,
      stdio: ['pipe', 'inherit', 'inherit'],
    });
  };
  for (const place of ['node', 'pods', 'world'] as const) {
    const settings: Record<string, string> = {
      'net.ipv4.ip_forward': '1',
      'net.ipv6.conf.all.forwarding': '1',
      'net.ipv6.conf.default.accept_dad': '0',
      'net.ipv4.conf.all.rp_filter': '0',
      'net.ipv4.conf.default.rp_filter': '0',
      'net.ipv4.conf.all.send_redirects': '0',
      'net.ipv4.conf.default.send_redirects': '0',
      'net.ipv4.icmp_ratelimit': '0',
      'net.ipv4.icmp_ratemask': '0',
      'net.ipv6.icmp.ratelimit': '0',
      'net.ipv4.ip_nonlocal_bind': place === 'node' ? '0' : '1',
    };
    namespaces[place].run(
      'sysctl',
      '-qw',
      ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
    );
  }
  batch('node', [
    `link add pods type veth peer name eth0 netns ${namespaces.pods.name}`,
    `link add eth0 type veth peer name eth0 netns ${namespaces.world.name}`,
    'link set pods up',
    'link set eth0 up',
  ]);
  batch('pods', ['link set eth0 up']);
  batch('world', ['link set eth0 up']);
  batch('node', [
    ...options.node.map((address) => `addr add ${host(address)} dev eth0${isSix(address) ? ' nodad' : ''}`),
    ...['pods', 'eth0'].flatMap((device) => [
      `addr add ${GATEWAY4}/32 dev ${device}`,
      `addr add ${GATEWAY6}/64 dev ${device} nodad`,
    ]),
    ...options.podRanges.map((range) => `route add ${range} dev pods`),
    'route add default dev eth0',
    'route add ::/0 dev eth0',
  ]);
  for (const place of ['pods', 'world'] as const) {
    batch(place, [
      ...options[place].map(
        (address) => `addr add ${host(address)} dev eth0${isSix(address) ? ' nodad' : ''}`,
      ),
      `route add ${GATEWAY4} dev eth0`,
      `route add default via ${GATEWAY4} dev eth0`,
      `route add ::/0 via ${GATEWAY6} dev eth0`,
    ]);
  }

  const addServer = async (place: 'pods' | 'world', address: string, port: number): Promise<void> => {
    const at = { namespace: namespaces[place].path, address, port };
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      const line = `${bracketed(address)}:${port} ${socket.remoteAddress}\n`;
      socket.write(line);
      socket.on('data', () => socket.write(line));
    });
    server.listen({ fd: listenerIn(sys, at) });
    await once(server, 'listening');
    made.defer(() => {
      server.close();
    });
    const udp = createSocket(isSix(address) ? 'udp6' : 'udp4');
    udp.bind({ fd: udpSocketIn(sys, at) });
    udp.on('message', (_, peer) =>
      udp.send(`${bracketed(address)}:${port} ${peer.address}\n`, peer.port, peer.address),
    );
    udp.on('error', () => {});
    made.defer(() => {
      udp.close();
    });
  };
  for (const place of ['pods', 'world'] as const) {
    for (const address of options[place])
      for (const port of options.ports) await addServer(place, address, port);
  }

  const connect = (question: Question): Socket => {
    const { source, sourcePort = 0 } = question;
    const fd = tcpSocketIn(sys, {
      namespace: namespaces[question.from].path,
      family: isSix(question.address) ? 6 : 4,
      ...(source === undefined ? {} : { from: { address: source, port: sourcePort } }),
    });
    const socket = new Socket({ fd, readable: true, writable: true });
    socket.connect({ host: question.address, port: question.port });
    return socket;
  };
  const answerOf = (text: string): Answer => {
    const [server = '', client = ''] = text.trim().split(' ');
    return { kind: 'answered', server, client };
  };
  const askTcp = (question: Question): Promise<Answer> =>
    new Promise((resolve) => {
      const socket = connect(question);
      const timer = setTimeout(() => finish({ kind: 'silence' }), SILENCE_MS);
      const finish = (answer: Answer): void => {
        clearTimeout(timer);
        // A reset leaves no TIME_WAIT behind; while still connecting it would wait for the connection.
        if (answer.kind === 'answered') socket.resetAndDestroy();
        else socket.destroy();
        resolve(answer);
      };
      socket.once('data', (data) => finish(answerOf(String(data))));
      socket.once('error', () => finish({ kind: 'refused' }));
    });
  const askUdp = (question: Question): Promise<Answer> =>
    new Promise((resolve) => {
      const six = isSix(question.address);
      const socket = createSocket(six ? 'udp6' : 'udp4');
      const timer = setTimeout(() => finish({ kind: 'silence' }), SILENCE_MS);
      const finish = (answer: Answer): void => {
        clearTimeout(timer);
        socket.close();
        resolve(answer);
      };
      const address = question.source ?? (six ? '::' : '0.0.0.0');
      socket.bind({
        fd: udpSocketIn(sys, {
          namespace: namespaces[question.from].path,
          address,
          port: question.sourcePort ?? 0,
        }),
      });
      socket.once('message', (message) => finish(answerOf(String(message))));
      // A refusal meets the node's own sockets as EPERM on send, and others as ICMP, hence the connected socket.
      socket.once('error', () => finish({ kind: 'refused' }));
      socket.connect(question.port, question.address, () => {
        socket.send('?', (error) => {
          if (error) finish({ kind: 'refused' });
        });
      });
    });

  const kept = made.move();
  return {
    node: namespaces.node.path,
    ask: (question) => (question.protocol === 'TCP' ? askTcp(question) : askUdp(question)),
    async open(question) {
      const socket = connect(question);
      const [hello] = await once(socket, 'data');
      let gone = false;
      socket.on('error', () => {
        gone = true;
      });
      socket.on('close', () => {
        gone = true;
      });
      const answer = answerOf(String(hello));
      return {
        server: answer.kind === 'answered' ? answer.server : '',
        alive: () =>
          new Promise((resolve) => {
            if (gone) return resolve(false);
            const timer = setTimeout(() => resolve(false), SILENCE_MS * 5);
            const done = (alive: boolean) => (): void => {
              clearTimeout(timer);
              resolve(alive);
            };
            socket.once('data', done(true));
            socket.once('close', done(false));
            socket.write('?');
          }),
        close: () => {
          socket.resetAndDestroy();
        },
      };
    },
    addServer,
    run: (place, ...command) => namespaces[place].run(...command),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
