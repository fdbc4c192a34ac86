// Pods as the kubelet starts them: a namespace each, and servers in it.
import { oneLine } from '../../base/errors.ts';
import type { Sys } from '../../kernel/sys/sys.ts';
import type { PodHost, PodOutcome, PodStart } from '../controllers/pod-host.ts';
import type { PodRequest, Topology } from '../network/topology.ts';
import { startEchoServer } from './echo-server.ts';

export interface PodNetworkOptions {
  readonly sys: Sys;
  readonly topology: Topology;
  /** A Pod was asked, by a request to it, to fail its readiness or to be ready again. */
  readonly onReadiness: (pod: string, ready: boolean) => void;
}

const LOOPBACKS = ['127.0.0.1', '::1'];

interface RunningPod {
  readonly server: AsyncDisposable;
  readonly ownNetwork: boolean;
}

/** Disposing ends the servers of all Pods; their namespaces are the topology's. */
export function createPodNetwork(options: PodNetworkOptions): PodHost & AsyncDisposable {
  const { sys, topology } = options;
  const running = new Map<string, RunningPod>();

  const hostIpsOf = (node: string): readonly string[] => topology.addresses(node);
  const failed = (error: unknown): PodOutcome => ({ kind: 'failed', because: oneLine(error) });

  /** Networks for many at once; if that fails, one by one, to see whose fault it was. */
  const connect = async (pods: readonly PodStart[]): Promise<ReadonlyMap<string, PodOutcome>> => {
    const outcomes = new Map<string, PodOutcome>();
    const requests = pods
      .filter(({ hostNetwork }) => !hostNetwork)
      .map(({ key, node }): PodRequest => ({ name: key, node }));
    const add = async (some: readonly PodRequest[]): Promise<void> => {
      for (const { name, node, addresses } of await topology.addPods(some))
        outcomes.set(name, { kind: 'running', podIps: addresses, hostIps: hostIpsOf(node) });
    };
    try {
      await add(requests);
    } catch {
      for (const request of requests)
        await add([request]).catch((error: unknown) => outcomes.set(request.name, failed(error)));
    }
    return outcomes;
  };

  const startServer = async (pod: PodStart, network: PodOutcome): Promise<PodOutcome> => {
    if (network.kind === 'failed') return network;
    const { key, node, hostNetwork, ports } = pod;
    try {
      const server = await startEchoServer({
        sys,
        namespace: topology.namespacePath(hostNetwork ? node : key),
        pod: key,
        node,
        ports,
        udpAddresses: [...network.podIps, ...LOOPBACKS],
        onReadiness: (ready) => options.onReadiness(key, ready),
      });
      running.set(key, { server, ownNetwork: !hostNetwork });
      return network;
    } catch (error) {
      if (!hostNetwork) await topology.removePod(key);
      return failed(error);
    }
  };

  const hostNetworkOf = ({ node }: PodStart): PodOutcome => {
    try {
      const hostIps = hostIpsOf(node);
      return { kind: 'running', podIps: hostIps, hostIps };
    } catch (error) {
      return failed(error);
    }
  };

  return {
    async start(pods) {
      const networks = await connect(pods);
      return Promise.all(
        pods.map((pod) => startServer(pod, networks.get(pod.key) ?? hostNetworkOf(pod)).catch(failed)),
      );
    },
    async stop(keys) {
      const found = keys.flatMap((key) => {
        const pod = running.get(key);
        running.delete(key);
        return pod === undefined ? [] : [{ key, ...pod }];
      });
      // First the connections, so that their ends are told; then the cable.
      await Promise.all(found.map(({ server }) => server[Symbol.asyncDispose]()));
      const present = new Set(topology.pods().map(({ name }) => name));
      const own = found.filter(({ key, ownNetwork }) => ownNetwork && present.has(key));
      await topology.removePods(own.map(({ key }) => key));
    },
    async [Symbol.asyncDispose]() {
      const servers = [...running.values()].map(({ server }) => server);
      running.clear();
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    },
  };
}
