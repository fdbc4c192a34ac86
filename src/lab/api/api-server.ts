// The lab's API server: a cluster in memory, behind HTTPS for kubectl and Pointsman, and by function calls for the lab.
import { type Logger, silentLogger } from '../../base/log.ts';
import type { ClusterApi } from './cluster-api.ts';
import { type AskedRequest, createFaults, type Faults } from './faults.ts';
import { type Authority, createAuthority } from './identity/certificates.ts';
import { kubeconfigText } from './identity/kubeconfig.ts';
import { createTokens, type Tokens, type User } from './identity/users.ts';
import { createListeners, type Listening } from './listeners.ts';
import { RESOURCES, VIEWS } from './resources/all.ts';
import { firstAddress } from './resources/service/address-range.ts';
import { createEncoder } from './rest/encode.ts';
import { createHandler } from './rest/handler.ts';
import { type ClusterOptions, startCluster } from './start-cluster.ts';

export interface ApiServerOptions extends ClusterOptions {
  /** Addresses that the server's certificate names, beside loopback and the `kubernetes` Service's. */
  readonly addresses?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly log?: Logger;
  /** Told of every request, before it is answered. */
  readonly onRequest?: (request: AskedRequest) => void;
  /** How often watchers get a bookmark; a minute unless said otherwise. */
  readonly bookmarkMs?: number;
  /** How long a watch lasts that names no time; half an hour unless said otherwise. */
  readonly watchTimeoutMs?: number;
}

export interface UserOptions {
  readonly user?: User;
  readonly by?: 'certificate' | 'token';
  readonly namespace?: string;
  /** Names the cluster and the context in the file. */
  readonly name?: string;
}

export interface ApiServer extends AsyncDisposable {
  readonly api: ClusterApi;
  readonly faults: Faults;
  readonly tokens: Tokens;
  /** PEM of the authority that signed the server's certificate. */
  readonly authority: string;
  /** Opens a listener; port 0 takes a free one. */
  listen(address: string, port: number): Promise<Listening>;
  /** Serves on a bound TCP socket, maybe one of another network namespace; the descriptor becomes the server's. */
  listenFd(fd: number): Promise<Listening>;
  /** A kubeconfig (YAML) for a server's URL; an admin's with a client certificate unless said otherwise. */
  kubeconfig(serverUrl: string, options?: UserOptions): string;
  /** Closes all connections, as a crash of the network would; listeners stay. */
  dropConnections(): void;
  /** Forgets the history: watches and pages of older versions are answered 410 from now on. */
  compact(): void;
}

const MINUTE_MS = 60_000;
const ADMIN: User = { name: 'kubernetes-admin', groups: ['system:masters'] };

function kubeconfigFor(authority: Authority, tokens: Tokens, server: string, options: UserOptions): string {
  const { user = ADMIN, by = 'certificate', namespace, name } = options;
  const token = `lab-${crypto.randomUUID()}`;
  if (by === 'token') tokens.add(token, { ...user, groups: [...user.groups, 'system:authenticated'] });
  return kubeconfigText({
    server,
    authority: authority.certificate,
    user: user.name,
    credential:
      by === 'token'
        ? { kind: 'token', token }
        : {
            kind: 'certificate',
            pair: authority.issue({
              commonName: user.name,
              organizations: user.groups,
              purpose: 'client',
            }),
          },
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  });
}

/** Starts a server with a fresh cluster; it serves over HTTPS once `listen` or `listenFd` was called. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const { registry, api } = startCluster(options);
  const authority = createAuthority({ now: registry.cluster.now() });
  const tokens = createTokens();
  const faults = createFaults();
  const closing = new AbortController();
  const handler = createHandler({
    registry,
    resources: [...RESOURCES, ...VIEWS],
    encoder: createEncoder(() => registry.cluster.now()),
    tokens,
    faults,
    log: options.log ?? silentLogger,
    onRequest: options.onRequest ?? (() => undefined),
    signal: closing.signal,
    times: {
      bookmarkMs: options.bookmarkMs ?? MINUTE_MS,
      defaultTimeoutMs: options.watchTimeoutMs ?? 30 * MINUTE_MS,
    },
  });
  const listeners = createListeners({
    authority: authority.certificate,
    handler,
    pair: authority.issue({
      commonName: 'kube-apiserver',
      purpose: 'server',
      dnsNames: [
        'localhost',
        'kubernetes',
        'kubernetes.default',
        'kubernetes.default.svc',
        'kubernetes.default.svc.cluster.local',
        ...(options.dnsNames ?? []),
      ],
      addresses: [
        '127.0.0.1',
        '::1',
        ...options.serviceCidrs.map(firstAddress),
        ...(options.addresses ?? []),
      ],
    }),
  });
  return {
    api,
    faults,
    tokens,
    authority: authority.certificate,
    listen: (address, port) => listeners.listen(address, port),
    listenFd: (fd) => listeners.listenFd(fd),
    kubeconfig: (serverUrl, user = {}) => kubeconfigFor(authority, tokens, serverUrl, user),
    dropConnections: () => listeners.dropConnections(),
    compact: () => registry.cluster.store.compact(),
    async [Symbol.asyncDispose]() {
      closing.abort();
      await listeners[Symbol.asyncDispose]();
    },
  };
}
