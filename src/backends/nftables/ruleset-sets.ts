// The fixed sets and maps of a table. Whatever changes with Services and endpoints is elements of these.
import type { FieldType, SetDefinition } from '../../kernel/nft/commands.ts';
import type { TableFamily } from './ruleset-statements.ts';

/** Clients remembered at most; beyond that new ones are served without being remembered. */
const STICKY_CLIENTS = 262_144;
/** The default time-out of a remembered client; chains set their Service's own. */
const STICKY_TIMEOUT_MS = 3 * 60 * 60 * 1000;

/**
 * All sets and maps of a family's table. A frontend is `address . protocol . port`, or `protocol . port` in the twins
 * for node ports. Plan words are of type classid, which prints as `policy:rung`; slots and ids are plain numbers, for
 * which mark is the one type that all versions of `nft` print.
 */
export function setDefinitions(family: TableFamily): readonly SetDefinition[] {
  const address: FieldType = family === 'ip' ? 'ipv4_addr' : 'ipv6_addr';
  const nodePort: readonly FieldType[] = ['inet_proto', 'inet_service'];
  const frontend: readonly FieldType[] = [address, ...nodePort];
  const endpoint: readonly FieldType[] = [address, 'inet_service'];
  const twins = (prefix: string, key: readonly FieldType[]): readonly SetDefinition[] => [
    // Lists: a frontend and a slot to an endpoint.
    { name: `${prefix}endpoints`, key: [...key, 'mark'], data: endpoint },
    { name: `${prefix}local-endpoints`, key: [...key, 'mark'], data: endpoint },
    { name: `${prefix}sticky-endpoints`, key: [...key, 'mark'], data: endpoint },
    // Under which number a frontend's clients are remembered: one for all frontends of a Service port.
    { name: `${prefix}affinity-ids`, key, data: ['mark'] },
    { name: `${prefix}local-affinity-ids`, key, data: ['mark'] },
    // The two lists of a frontend with policy Local.
    { name: `${prefix}any-endpoint`, key, data: ['classid'] },
    { name: `${prefix}local-endpoint`, key, data: ['classid'] },
    // Where a plan word leads. The second leads to lists only: the kernel refuses maps that may lead in a circle.
    { name: `${prefix}plans`, key: ['classid'], data: ['verdict'] },
    { name: `${prefix}list-plans`, key: ['classid'], data: ['verdict'] },
  ];
  return [
    { name: 'services', key: frontend, data: ['classid'] },
    ...twins('', frontend),
    { name: 'node-ports', key: nodePort, data: ['classid'] },
    ...twins('node-port-', nodePort),
    {
      name: 'sticky-clients',
      key: [address, 'mark'],
      data: ['mark'],
      dynamic: true,
      timeoutMs: STICKY_TIMEOUT_MS,
      size: STICKY_CLIENTS,
    },
    { name: 'cluster-ips', key: [address] },
    // (pod . pod): endpoints of this node, which reach themselves through a Service.
    { name: 'hairpin-pods', key: [address, address] },
    // Frontends with source ranges, and who may use them.
    { name: 'source-checked', key: frontend },
    { name: 'allowed-sources', key: [address, ...frontend], interval: true },
    // Frontends whose clients' addresses are all replaced, and those where only this node's own are.
    { name: 'masquerade-vips', key: frontend },
    { name: 'masquerade-own-vips', key: frontend },
    { name: 'masquerade-node-ports', key: nodePort },
    { name: 'masquerade-own-node-ports', key: nodePort },
  ];
}
