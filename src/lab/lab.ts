// A whole small cluster on one machine: API server, controllers, nodes and Pods as network namespaces, and a Pointsman
// on each node. For the demonstration and for tests.
import { PointsmanError } from '../base/errors.ts';
import { type Logger, silentLogger } from '../base/log.ts';
import { listenerIn, preparePool } from '../kernel/netns.ts';
import { createKoffiSys } from '../kernel/sys/koffi.ts';
import type { Sys } from '../kernel/sys/sys.ts';
import { type Cidr, parseCidr } from '../model/address.ts';
import { type ApiServer, createApiServer } from './api/api-server.ts';
import type { ClusterApi } from './api/cluster-api.ts';
import { type KubectlOptions, type KubectlResult, runKubectl } from './commands/kubectl.ts';
import { startControllers } from './controllers/controllers.ts';
import { READY_ANNOTATION } from './controllers/pod-status.ts';
import { LOAD_BALANCER_RANGE, type PerFamily, ROUTER, SERVICE_RANGE } from './network/address-plan.ts';
import { checkPrefix, SWITCH } from './network/names.ts';
import { createTopology, type NodePlace, type Topology } from './network/topology.ts';
import { createPointsmans, healthPlace, type PointsmanOptions, type Pointsmans } from './nodes/pointsmans.ts';
import { registerNodes, registerServer, zoneOf } from './nodes/register.ts';
import { type Client, createClient } from './pods/client.ts';
import { createPodNetwork } from './pods/pod-network.ts';
import { claimLab } from './state/claim-lab.ts';
import type { LabState, NodeState } from './state/lab-state.ts';
import {
  DEFAULT_LAB,
  removeFolder,
  type StateFolder,
  stateFolder,
  writePrivate,
  writeState,
} from './state/state-folder.ts';

export interface LabOptions {
  /** Prefix of its namespaces and name of its folder; up to 40 lower-case letters, digits and dashes. */
  readonly name?: string;
  /** 2 unless said otherwise. */
  readonly nodes?: number;
  /** `false`: nodes without a Pointsman. */
  readonly pointsman?: PointsmanOptions | false;
  readonly log?: Logger;
  /** Gives up the wait for its Pointsmans. */
  readonly signal?: AbortSignal;
  /** Where the folders of labs are. */
  readonly stateRoot?: string;
}

export interface LabNode {
  readonly name: string;
  readonly zone: string;
  /** Path of its network namespace. */
  readonly namespace: string;
  readonly addresses: PerFamily;
}

/** Disposing ends everything and removes the namespaces and the folder. */
export interface Lab extends AsyncDisposable {
  readonly name: string;
  readonly folder: StateFolder;
  /** File for kubectl on the machine. */
  readonly kubeconfig: string;
  readonly sys: Sys;
  /** The API by function calls. */
  readonly api: ClusterApi;
  readonly server: ApiServer;
  readonly topology: Topology;
  /** Asks from any namespace of the lab: `lab.client.ask({ namespace: lab.namespaceOf('outside'), … })`. */
  readonly client: Client;
  readonly nodes: readonly LabNode[];
  /** One per node; none when the lab has no Pointsmans. */
  readonly pointsmans: Pointsmans;
  /** Path of the network namespace of a node, of a Pod (`namespace/name`), of `outside` or `switch`. */
  namespaceOf(part: string): string;
  /** Runs the stock kubectl; its exit code is a value. */
  kubectl(args: readonly string[], options?: KubectlOptions): Promise<KubectlResult>;
  /** Runs `kubectl apply` on a text (YAML or JSON); throws E_LAB with what kubectl said when it refuses. */
  apply(manifest: string): Promise<void>;
  /** Ends the Pointsman of a node in order and starts it again, maybe with other flags; resolves when it is healthy. */
  restartPointsman(node: string, flags?: readonly string[]): Promise<void>;
  /** Sends a signal to it, and resolves when it has ended. */
  killPointsman(node: string, signal: NodeJS.Signals): Promise<void>;
}

const API_PORT = 6443;
const NODES = 2;
const PROXY_USER = { name: 'system:kube-proxy', groups: ['system:node-proxier'] };

const cidrsOf = ({ IPv4, IPv6 }: PerFamily): readonly Cidr[] =>
  [IPv4, IPv6].flatMap((text) => parseCidr(text) ?? []);

/**
 * Builds a lab; remains of a crashed one of the same name are removed first. Resolves when all its Pointsmans are
 * healthy. Throws E_LAB when one of this name runs, E_PERMISSION without root; leaves nothing behind then.
 */
export async function createLab(options: LabOptions = {}): Promise<Lab> {
  const { name = DEFAULT_LAB, log = silentLogger, stateRoot, pointsman = {} } = options;
  checkPrefix(name);
  const folder = stateFolder(name, stateRoot);
  await using made = new AsyncDisposableStack();
  let state = await claimLab({ name, folder, stateRoot, now: Date.now(), log });
  made.defer(() => removeFolder(folder));

  await preparePool();
  const sys = createKoffiSys();
  const topology = made.use(await createTopology({ sys, prefix: name, nodes: options.nodes ?? NODES }));
  const server = made.use(await startServer(sys, topology, log));
  const { api } = server;
  const { port } = await server.listen('127.0.0.1', 0);
  const url = `https://127.0.0.1:${port}`;
  writePrivate(folder.kubeconfig, server.kubeconfig(url, { name }));
  const nodeKubeconfig = server.kubeconfig(`https://${ROUTER.IPv4}:${API_PORT}`, { name, user: PROXY_USER });
  for (const node of topology.nodes()) writePrivate(folder.nodeKubeconfig(node.name), nodeKubeconfig);

  const pods = made.use(
    createPodNetwork({ sys, topology, onReadiness: (pod, ready) => switchReadiness(api, pod, ready) }),
  );
  made.use(
    startControllers(
      { api, log, now: Date.now },
      { host: pods, loadBalancerPool: cidrsOf(LOAD_BALANCER_RANGE) },
    ),
  );
  registerNodes(api, topology.nodes(), Date.now());

  const pointsmans = made.use(
    createPointsmans({
      ...(pointsman === false
        ? { perNode: Object.fromEntries(topology.nodes().map((n) => [n.name, false])) }
        : pointsman),
      sys,
      topology,
      folder,
      log,
      onChange: () => save({}),
    }),
  );
  const nodeStates = (): readonly NodeState[] =>
    topology.nodes().map((place) => nodeState(place, topology, pointsmans));
  // The folder goes last, so that it can be written to until all processes have ended.
  function save(changes: Partial<LabState>): void {
    state = { ...state, ...changes, nodes: nodeStates() };
    writeState(folder, state);
  }
  save({ server: url });
  await pointsmans.start(options.signal);
  save({ phase: 'ready' });

  const kubectl: Lab['kubectl'] = (args, how) => runKubectl(folder.kubeconfig, args, how);
  const end = made.move();
  return {
    name,
    folder,
    kubeconfig: folder.kubeconfig,
    sys,
    api,
    server,
    topology,
    client: createClient(sys),
    nodes: topology.nodes().map((place) => ({ ...place, zone: zoneOf(place) })),
    pointsmans,
    namespaceOf: (part) => topology.namespacePath(part),
    kubectl,
    async apply(manifest) {
      const { code, stderr } = await kubectl(['apply', '-f', '-'], { input: manifest });
      if (code !== 0) throw new PointsmanError('E_LAB', `kubectl apply: ${stderr.trim()}`);
    },
    async restartPointsman(node, flags) {
      const process = pointsmans.of(node);
      await process.stop();
      await process.start(flags === undefined ? process.flags : [...process.flags, ...flags]);
      await process.healthy();
    },
    killPointsman: async (node, signal) => void (await pointsmans.of(node).kill(signal)),
    [Symbol.asyncDispose]: () => end.disposeAsync(),
  };
}

/** The API server, on the addresses by which nodes and Pods reach it. */
async function startServer(sys: Sys, topology: Topology, log: Logger): Promise<ApiServer> {
  const addresses = Object.values(ROUTER);
  await using server = new AsyncDisposableStack();
  const started = server.use(createApiServer({ serviceCidrs: cidrsOf(SERVICE_RANGE), addresses, log }));
  for (const address of addresses)
    await started.listenFd(
      listenerIn(sys, { namespace: topology.namespacePath(SWITCH), address, port: API_PORT }),
    );
  registerServer(started.api, ROUTER.IPv4, API_PORT);
  server.move();
  return started;
}

/** A request to a Pod that switches its readiness does what `kubectl annotate` does. */
function switchReadiness(api: ClusterApi, pod: string, ready: boolean): void {
  const [namespace = '', name = ''] = pod.split('/');
  const annotations = { [READY_ANNOTATION]: ready ? null : 'false' };
  api.patch({ resource: 'pods', namespace, name }, 'merge', { metadata: { annotations } });
}

function nodeState(place: NodePlace, topology: Topology, pointsmans: Pointsmans): NodeState {
  const process = pointsmans.all.find(({ node }) => node === place.name);
  const { address, port } = healthPlace(place);
  return {
    name: place.name,
    zone: zoneOf(place),
    namespace: topology.namespaceName(place.name),
    addresses: Object.values(place.addresses),
    pointsman:
      process === undefined
        ? null
        : { process: process.identity ?? null, log: process.logFile, healthz: { address, port } },
  };
}
