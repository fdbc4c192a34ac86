// A node, local pods on one side, remote pods and outside clients on the other, in network namespaces. Those who ask and
// those who answer live apart, or answers would find a short cut past the node. `beyond` is where the default route
// leads, to catch what no rule touched. Every server answers who it is and whom it saw.
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import { listenerIn, preparePool, tcpSocketIn, udpSocketIn } from '../../src/kernel/netns.ts';
import { createKoffiSys } from '../../src/kernel/sys/koffi.ts';
import { createTestNamespace } from '../kernel/test-namespace.ts';

/** `pods` and `world` hold servers, of this node and of others; `askers` is a local pod, `outside` the other clients. */
export type Place = 'node' | 'pods' | 'askers' | 'world' | 'outside' | 'beyond';

/** What a client met. `server` is who answered, as `address:port`; `client` is the source address that it saw. */
export type Answer =
  | { readonly kind: 'answered'; readonly server: string; readonly client: string }
  | { readonly kind: 'refused' }
  /** EPERM on send: how a process of the node itself meets a rule that drops or refuses its datagram. */
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'silence' };

export interface Question {
  readonly from: Place;
  /** A source address of that place; without it the kernel chooses. */
  readonly source?: string;
  readonly sourcePort?: number;
  /** SCTP only where the stage was made with it. */
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  readonly address: string;
  readonly port: number;
  /** How long no answer is no answer: long, so that a busy machine counts for none, unless silence is what is expected. */
  readonly patienceMs?: number;
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
  /** Path of any namespace. */
  namespaceOf(place: Place): string;
  ask(question: Question): Promise<Answer>;
  open(question: Question): Promise<OpenConnection>;
  /** Lets one more address answer; beyond, the address is made for it. */
  addServer(place: Place, address: string, port: number): Promise<void>;
  /** Runs a command in a namespace and gives what it printed. */
  run(place: Place, ...command: readonly string[]): string;
}

export interface SmallNetOptions {
  /** The node's own addresses; the first of each family is where the world routes to. */
  readonly node: readonly string[];
  readonly pods: readonly string[];
  readonly askers: readonly string[];
  readonly world: readonly string[];
  readonly outside: readonly string[];
  /** Ports that every address of the pods and the world answers on, TCP and UDP. */
  readonly ports: readonly number[];
  /** SCTP, too: only where the kernel has it. */
  readonly sctp?: boolean;
}

/** For questions to which silence is expected: on one machine an answer takes well under a millisecond. */
export const SILENCE_MS = 300;
const PATIENCE_MS = 5000;
const NEIGHBOURS = ['pods', 'askers', 'world', 'outside', 'beyond'] as const;
const PLACES = ['node', ...NEIGHBOURS] as const;
/** linux/in.h. */
const IPPROTO_TCP = 6;
const IPPROTO_SCTP = 132;
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
    askers: made.use(createTestNamespace()),
    world: made.use(createTestNamespace()),
    outside: made.use(createTestNamespace()),
    beyond: made.use(createTestNamespace()),
  };
  const addressesOf = (place: (typeof NEIGHBOURS)[number]): readonly string[] =>
    place === 'beyond' ? [] : options[place];
  const batch = (place: Place, lines: readonly string[]): void => {
    execFileSync('ip', ['-n', namespaces[place].name, '-batch', '-'], {
      input: `${lines.join('\n')}\n`,
      stdio: ['pipe', 'inherit', 'inherit'],
    });
  };
  for (const place of PLACES) {
    const settings: Record<string, string> = {
      'net.ipv4.ip_forward': place === 'node' ? '1' : '0',
      'net.ipv6.conf.all.forwarding': place === 'node' ? '1' : '0',
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
  batch(
    'node',
    NEIGHBOURS.flatMap((place) => [
      `link add ${place} type veth peer name eth0 netns ${namespaces[place].name}`,
      `link set ${place} up`,
    ]),
  );
  for (const place of NEIGHBOURS) batch(place, ['link set eth0 up']);
  const firstSix = options.node.find(isSix);
  batch('node', [
    // What is masqueraded on its way out has the first address of the interface, on every side.
    ...NEIGHBOURS.flatMap((place) => [
      ...options.node.map((address) => {
        // Of several equal IPv6 addresses the kernel would take the newest, but never one that is deprecated.
        const six = address === firstSix ? ' nodad' : ' nodad preferred_lft 0';
        return `addr add ${host(address)} dev ${place}${isSix(address) ? six : ''}`;
      }),
      `addr add ${GATEWAY4}/32 dev ${place}`,
      `addr add ${GATEWAY6}/64 dev ${place} nodad`,
      ...addressesOf(place).map((address) => `route add ${host(address)} dev ${place}`),
    ]),
    'route add default dev beyond',
    'route add ::/0 dev beyond',
  ]);
  for (const place of NEIGHBOURS) {
    batch(place, [
      ...addressesOf(place).map(
        (address) => `addr add ${host(address)} dev eth0${isSix(address) ? ' nodad' : ''}`,
      ),
      `route add ${GATEWAY4} dev eth0`,
      `route add default via ${GATEWAY4} dev eth0`,
      `route add ::/0 via ${GATEWAY6} dev eth0`,
    ]);
  }

  const known = new Set<string>();
  const servers = made.use(new AsyncDisposableStack());
  const addServer = async (place: Place, address: string, port: number): Promise<void> => {
    if (place === 'beyond' && !known.has(address)) {
      known.add(address);
      batch(place, [`addr add ${host(address)} dev eth0${isSix(address) ? ' nodad' : ''}`]);
    }
    const at = { namespace: namespaces[place].path, address, port };
    const answer = (socket: Socket): void => {
      socket.on('error', () => socket.destroy());
      const line = `${bracketed(address)}:${port} ${socket.remoteAddress}\n`;
      socket.write(line);
      socket.on('data', () => socket.write(line));
    };
    for (const protocol of options.sctp ? [IPPROTO_TCP, IPPROTO_SCTP] : [IPPROTO_TCP]) {
      const server = createServer(answer);
      server.listen({ fd: listenerIn(sys, { ...at, protocol }) });
      if (!server.listening) await once(server, 'listening');
      servers.defer(() => {
        server.close();
      });
    }
    const udp = createSocket(isSix(address) ? 'udp6' : 'udp4');
    udp.bind({ fd: udpSocketIn(sys, at) });
    udp.on('message', (_, peer) =>
      udp.send(`${bracketed(address)}:${port} ${peer.address}\n`, peer.port, peer.address),
    );
    udp.on('error', () => {});
    servers.defer(() => {
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
      protocol: question.protocol === 'SCTP' ? IPPROTO_SCTP : IPPROTO_TCP,
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
  /** SCTP sockets of the one-to-one style (RFC 6458) are used like TCP's. */
  const askTcp = (question: Question): Promise<Answer> =>
    new Promise((resolve) => {
      const socket = connect(question);
      const timer = setTimeout(() => finish({ kind: 'silence' }), question.patienceMs ?? PATIENCE_MS);
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
      const timer = setTimeout(() => finish({ kind: 'silence' }), question.patienceMs ?? PATIENCE_MS);
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
      // A refusal comes as ICMP, which only a connected socket hears of.
      socket.once('error', () => finish({ kind: 'refused' }));
      socket.connect(question.port, question.address, () => {
        socket.send('?', (error) => {
          if (error) finish({ kind: error.message.includes('EPERM') ? 'forbidden' : 'refused' });
        });
      });
    });

  const kept = made.move();
  return {
    node: namespaces.node.path,
    namespaceOf: (place) => namespaces[place].path,
    ask: (question) => (question.protocol === 'UDP' ? askUdp(question) : askTcp(question)),
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
            const timer = setTimeout(() => resolve(false), PATIENCE_MS);
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
