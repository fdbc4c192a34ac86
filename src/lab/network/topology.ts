// Nodes, Pods, the switch between the nodes, and a client beyond it: network namespaces of one lab.
import { PointsmanError } from '../../base/errors.ts';
import { namedNamespace, preparePool } from '../../kernel/netns.ts';
import type { Sys } from '../../kernel/sys/sys.ts';
import {
  checkPodAddresses,
  FIRST_POD,
  LAST_POD,
  MOST_NODES,
  nodeAddresses,
  OUTSIDE,
  type PerFamily,
  podAddresses,
  podRanges,
  ROUTER,
} from './address-plan.ts';
import {
  backboneBuild,
  nodeFarewell,
  nodesBuild,
  type PlannedNode,
  type PlannedPod,
  podsBuild,
  podsFarewell,
} from './commands.ts';
import { construct, destroy, runInside } from './construction.ts';
import {
  checkNodeName,
  checkPodKey,
  checkPrefix,
  defaultNodeName,
  namespaceName,
  OUTSIDE_CLIENT,
  SWITCH,
} from './names.ts';

export interface NodePlace {
  readonly name: string;
  readonly number: number;
  /** Path of its network namespace. */
  readonly namespace: string;
  readonly addresses: PerFamily;
  /** `spec.podCIDRs`. */
  readonly podRanges: PerFamily;
}

export interface PodPlace {
  /** `namespace/name`. */
  readonly name: string;
  readonly node: string;
  /** Path of its network namespace. */
  readonly namespace: string;
  /** IPv4 first. */
  readonly addresses: readonly string[];
}

export interface PodRequest {
  readonly node: string;
  /** `namespace/name`. */
  readonly name: string;
  /** At most one of each family, in the node's ranges; without them the Pod gets the next free one of both families. */
  readonly addresses?: readonly string[];
}

/**
 * The network of a lab. Changes are carried out one after the other, in the order of the calls. They throw E_LAB for
 * names that are taken or unknown and for addresses that cannot be, E_PERMISSION without the right to change networks;
 * a change that fails leaves nothing of itself behind.
 */
export interface Topology extends AsyncDisposable {
  readonly prefix: string;
  nodes(): readonly NodePlace[];
  pods(): readonly PodPlace[];
  /** Without a name it is called after its number: node-a, node-b, … */
  addNode(name?: string): Promise<NodePlace>;
  /** Its Pods go with it. */
  removeNode(name: string): Promise<void>;
  addPod(request: PodRequest): Promise<PodPlace>;
  /** Many at once are quicker than one after the other. */
  addPods(requests: readonly PodRequest[]): Promise<readonly PodPlace[]>;
  /** Its address is used again as late as possible. */
  removePod(name: string): Promise<void>;
  removePods(names: readonly string[]): Promise<void>;
  /** Path of the namespace of a node, a Pod (`namespace/name`), `outside` or `switch`. */
  namespacePath(part: string): string;
  /** Its name, for `ip netns exec`. */
  namespaceName(part: string): string;
  /** Its addresses, IPv4 first; those of `switch` are the router's on the nodes' network. */
  addresses(part: string): readonly string[];
}

interface Node extends PlannedNode {
  /** Where the search for the next Pod number begins. */
  nextPod: number;
}

/** Builds the switch, the outside client and `nodes` nodes. The caller disposes; after a crash, `removeLeftovers`. */
export async function createTopology(options: {
  readonly sys: Sys;
  readonly prefix: string;
  readonly nodes: number;
}): Promise<Topology> {
  const { sys, prefix } = options;
  checkPrefix(prefix);
  await preparePool();
  const nodes = new Map<string, Node>();
  const pods = new Map<string, PlannedPod>();
  let lastChange: Promise<unknown> = Promise.resolve();
  const inOrder = <T>(change: () => Promise<T>): Promise<T> => {
    const result = lastChange.then(change);
    lastChange = result.catch(() => {});
    return result;
  };

  const pathOf = (part: string): string => namedNamespace(namespaceName(prefix, part));
  const nodePlace = ({ name, number }: PlannedNode): NodePlace => ({
    name,
    number,
    namespace: pathOf(name),
    addresses: nodeAddresses(number),
    podRanges: podRanges(number),
  });
  const podPlace = ({ name, node, addresses }: PlannedPod): PodPlace => ({
    name,
    node: node.name,
    namespace: pathOf(name),
    addresses,
  });
  const nodeCalled = (name: string): Node => nodes.get(name) ?? unknown('node', name, nodes.keys());
  const podCalled = (name: string): PlannedPod => pods.get(name) ?? unknown('Pod', name, pods.keys());

  const addNodes = async (names: readonly (string | undefined)[]): Promise<readonly NodePlace[]> => {
    const added: Node[] = [];
    const present = [...nodes.values()];
    for (const given of names) {
      const taken = new Set([...present, ...added].map(({ number }) => number));
      const number = firstFree(1, 1, MOST_NODES, (candidate) => !taken.has(candidate));
      if (number === undefined) throw new PointsmanError('E_LAB', `a lab has at most ${MOST_NODES} nodes`);
      const name = given ?? defaultNodeName(number);
      checkNodeName(name);
      if (nodes.has(name)) throw new PointsmanError('E_LAB', `there is a node ${name} already`);
      added.push({ name, number, nextPod: FIRST_POD });
    }
    await construct(sys, prefix, nodesBuild(added, present));
    for (const node of added) nodes.set(node.name, node);
    return added.map(nodePlace);
  };

  const planPod = (request: PodRequest, present: ReadonlyMap<string, PlannedPod>): PlannedPod => {
    const { name } = request;
    checkPodKey(name);
    if (present.has(name)) throw new PointsmanError('E_LAB', `there is a Pod ${name} already`);
    const node = nodeCalled(request.node);
    const neighbours = [...present.values()].filter((pod) => pod.node.name === node.name);
    const numbers = new Set(neighbours.map((pod) => pod.number));
    const taken = new Set(neighbours.flatMap((pod) => pod.addresses));
    const wanted = request.addresses && checkPodAddresses(node.number, request.addresses);
    const conflict = wanted?.find((address) => taken.has(address));
    if (conflict !== undefined) throw new PointsmanError('E_LAB', `another Pod has the address ${conflict}`);
    const own = (number: number): readonly string[] => Object.values(podAddresses(node.number, number));
    const number = firstFree(node.nextPod, FIRST_POD, LAST_POD, (candidate) => {
      if (numbers.has(candidate)) return false;
      return wanted !== undefined || !own(candidate).some((address) => taken.has(address));
    });
    if (number === undefined) {
      throw new PointsmanError('E_LAB', `node ${node.name} is full: it has ${neighbours.length} Pods`);
    }
    node.nextPod = number + 1;
    return { name, node, number, addresses: wanted ?? own(number) };
  };
  const addPods = (requests: readonly PodRequest[]): Promise<readonly PodPlace[]> =>
    inOrder(async () => {
      const present = new Map(pods);
      const added: PlannedPod[] = [];
      for (const request of requests) {
        const pod = planPod(request, present);
        present.set(pod.name, pod);
        added.push(pod);
      }
      await construct(sys, prefix, podsBuild(added));
      for (const pod of added) pods.set(pod.name, pod);
      return added.map(podPlace);
    });
  const removePods = (names: readonly string[]): Promise<void> =>
    inOrder(async () => {
      const leaving = names.map(podCalled);
      for (const { name } of leaving) pods.delete(name);
      await runInside(prefix, podsFarewell(leaving));
      await destroy(prefix, names);
    });

  const dispose = async (): Promise<void> => {
    const parts = [...pods.keys(), ...nodes.keys(), OUTSIDE_CLIENT, SWITCH];
    pods.clear();
    nodes.clear();
    await destroy(prefix, parts);
  };

  await construct(sys, prefix, backboneBuild());
  try {
    await addNodes(new Array<undefined>(options.nodes).fill(undefined));
  } catch (error) {
    await dispose();
    throw error;
  }

  const isPart = (part: string): boolean =>
    part === SWITCH || part === OUTSIDE_CLIENT || nodes.has(part) || pods.has(part);
  const known = (part: string): string =>
    isPart(part) ? part : unknown('part', part, [SWITCH, OUTSIDE_CLIENT, ...nodes.keys()]);
  return {
    prefix,
    nodes: () => [...nodes.values()].map(nodePlace),
    pods: () => [...pods.values()].map(podPlace),
    addNode: (name) =>
      inOrder(async () => {
        const [node] = await addNodes([name]);
        return node ?? unknown('node', String(name), nodes.keys());
      }),
    removeNode: (name) =>
      inOrder(async () => {
        const leaving = nodeCalled(name);
        const staying = [...nodes.values()].filter((node) => node !== leaving);
        const gone = [...pods.values()].filter((pod) => pod.node.name === name);
        nodes.delete(name);
        for (const pod of gone) pods.delete(pod.name);
        await runInside(prefix, [...podsFarewell(gone), ...nodeFarewell(leaving, staying)]);
        await destroy(prefix, [...gone.map((pod) => pod.name), name]);
      }),
    addPod: async (request) => {
      const [pod] = await addPods([request]);
      return pod ?? unknown('Pod', request.name, pods.keys());
    },
    addPods,
    removePod: (name) => removePods([name]),
    removePods,
    namespacePath: (part) => pathOf(known(part)),
    namespaceName: (part) => namespaceName(prefix, known(part)),
    addresses(part) {
      const pod = pods.get(part);
      if (pod !== undefined) return pod.addresses;
      if (part === SWITCH) return Object.values(ROUTER);
      if (part === OUTSIDE_CLIENT) return Object.values(OUTSIDE);
      return Object.values(nodeAddresses(nodeCalled(part).number));
    },
    [Symbol.asyncDispose]: () => inOrder(dispose),
  };
}

/** The first number from `start` on, going round between `first` and `last`, that is free. */
function firstFree(
  start: number,
  first: number,
  last: number,
  isFree: (number: number) => boolean,
): number | undefined {
  const count = last - first + 1;
  for (let step = 0; step < count; step += 1) {
    const number = first + ((start - first + step) % count);
    if (isFree(number)) return number;
  }
  return undefined;
}

function unknown(kind: string, name: string, names: Iterable<string>): never {
  const list = [...names].slice(0, 10).join(', ');
  throw new PointsmanError('E_LAB', `the lab has no ${kind} ${name}`, {
    hint: list === '' ? 'there is none yet' : `there are ${list}`,
  });
}
