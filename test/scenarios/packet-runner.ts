// The scenario tables by real packets, through any backend: namespaces, connections, who answered and whom they saw.
import type { Backend } from '../../src/backends/backend.ts';
import { oneLine } from '../../src/base/errors.ts';
import { AF_INET, SOCK_CLOEXEC, SOCK_STREAM } from '../../src/kernel/sys/constants.ts';
import { createKoffiSys } from '../../src/kernel/sys/koffi.ts';
import { FAMILIES, type Family } from '../../src/model/address.ts';
import { PROTOCOLS, type Protocol } from '../../src/model/service.ts';
import { endpointText } from '../../src/model/service-port.ts';
import { type Answer, createSmallNet, SILENCE_MS, type SmallNet } from '../packets/small-net.ts';
import { familiesOf, textIn } from './family.ts';
import { type PacketGiven, readPacket } from './packet-line.ts';
import type { PacketLine, Scenario, ServiceGiven } from './scenario.ts';
import { ENDPOINT_PORT, ENDPOINTS, NODE_ADDRESSES, OTHER_PORTS, SENDERS } from './stage.ts';
import { createWorld, settingsOf, type World } from './world.ts';

const IPPROTO_SCTP = 132;

/** A balanced target is asked until every endpoint has answered; 60 tries miss one of three with odds of 1 to 10^10. */
const TRIES = 60;

/** Above all node ports. */
const FIRST_PORT = 33_000;

export interface ScenarioRunner extends AsyncDisposable {
  /** Resolves when the scenario holds over this family, else rejects with what differed. */
  run(scenario: Scenario, family: Family): Promise<void>;
}

/** A packet line as it is in a data path, which may differ from nftables mode. */
function lineIn(path: string, scenario: Scenario, family: Family, line: PacketLine): PacketLine {
  const [question = ''] = line.split(' : ');
  const other = path.startsWith('iptables') ? scenario.differs?.iptables[question] : undefined;
  const outcome = typeof other === 'object' ? other[family] : other;
  return outcome === undefined ? line : `${question} : ${outcome}`;
}

/** One stage and one backend for many scenarios: each leaves the next a state to change incrementally. */
export async function createScenarioRunner(
  path: string,
  createBackend: (node: string) => Promise<Backend>,
  scenarios: readonly Scenario[],
): Promise<ScenarioRunner> {
  await using made = new AsyncDisposableStack();
  const of = (place: string): readonly string[] => [
    ...new Set(
      FAMILIES.flatMap((family) =>
        everyone.filter((item) => item.place === place).map(({ address }) => textIn(family, address)),
      ),
    ),
  ];
  const everyone = [
    ...Object.values(SENDERS),
    ...Object.values(ENDPOINTS).map(({ address, node }) => ({
      address,
      place: NODE_ADDRESSES.includes(address) ? 'node' : node === 'n1' ? 'pods' : 'world',
    })),
  ];
  const net = made.use(
    await createSmallNet({
      node: FAMILIES.flatMap((family) => NODE_ADDRESSES.map((address) => textIn(family, address))),
      pods: of('pods'),
      askers: of('askers'),
      world: of('world'),
      outside: of('outside'),
      ports: [ENDPOINT_PORT, ...OTHER_PORTS],
      sctp: hasSctp(),
    }),
  );
  for (const family of FAMILIES) {
    for (const { address } of Object.values(ENDPOINTS)) {
      if (NODE_ADDRESSES.includes(address))
        await net.addServer('node', textIn(family, address), ENDPOINT_PORT);
    }
  }
  await catchUntouched(path, net, scenarios);
  const backend = made.use(await createBackend(net.node));
  await backend.probe();
  let world: World | undefined;
  // A UDP source port that comes again would meet the tracked flow of an earlier scenario.
  let lastPort = FIRST_PORT - 1;
  const nextPort = (): number => {
    lastPort += 1;
    if (lastPort > 65_535) throw new Error('more UDP questions than source ports');
    return lastPort;
  };
  const kept = made.move();
  return {
    async run(scenario, family) {
      const settings = settingsOf(scenario);
      if (world === undefined) {
        world = createWorld(settings);
        await world.state.take();
        await expectCommitted(backend.reconcile(world.state.table));
      }
      world.clear();
      world.state.setSettings(settings);
      const services: Record<string, ServiceGiven> = { ...scenario.services };
      world.set(services, family);
      await sync(world, backend);
      for (const line of scenario.packets)
        await send(
          net,
          nextPort,
          scenario,
          readPacket(lineIn(path, scenario, family, line), services, family),
        );
      for (const step of scenario.steps ?? []) {
        world.set(step.services, family);
        for (const [name, given] of Object.entries(step.services)) if (given !== null) services[name] = given;
        await sync(world, backend);
        for (const line of step.packets)
          await send(
            net,
            nextPort,
            scenario,
            readPacket(lineIn(path, scenario, family, line), services, family),
          );
      }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function sync(world: World, backend: Backend): Promise<void> {
  const { change } = await world.state.take();
  await expectCommitted(backend.commit(change));
}

async function expectCommitted(commit: ReturnType<Backend['commit']>): Promise<void> {
  const { refused, failed } = await commit;
  if (failed !== undefined) throw failed;
  for (const [key, error] of refused) throw new Error(`${key} was refused: ${oneLine(error)}`);
}

/** Puts a server wherever a table says that a packet goes its way untouched. */
async function catchUntouched(path: string, net: SmallNet, scenarios: readonly Scenario[]): Promise<void> {
  const placed = new Set<string>();
  for (const [scenario, family] of scenarios.flatMap((one) =>
    familiesOf(one).map((item) => [one, item] as const),
  )) {
    const services: Record<string, ServiceGiven> = { ...scenario.services };
    const lines = [...scenario.packets, ...(scenario.steps ?? []).flatMap((step) => step.packets)];
    for (const line of lines.map((given) => lineIn(path, scenario, family, given))) {
      if (!line.endsWith(': untouched')) continue;
      const { address, port } = readPacket(line, services, family);
      if (placed.has(`${address}:${port}`)) continue;
      placed.add(`${address}:${port}`);
      const own = [...NODE_ADDRESSES, '127.0.0.1'].map((text) => textIn(family, text));
      await net.addServer(own.includes(address) ? 'node' : 'beyond', address, port);
    }
  }
}

async function send(
  net: SmallNet,
  nextPort: () => number,
  scenario: Scenario,
  packet: PacketGiven,
): Promise<void> {
  const { outcome, place, source, address, port } = packet;
  for (const protocol of (scenario.protocols ?? PROTOCOLS).filter((one) => one !== 'SCTP' || hasSctp())) {
    // Linux's SCTP is silent where others are refused: see isMet.
    const silent = outcome.kind === 'silence' || (outcome.kind === 'refused' && protocol === 'SCTP');
    const question = {
      from: place,
      source,
      protocol,
      address,
      port,
      ...(silent ? { patienceMs: SILENCE_MS } : {}),
    };
    const wrong = (met: string): Error => new Error(`${packet.line} over ${protocol}: ${met}`);
    const missing = new Set(outcome.kind === 'answered' ? outcome.servers : ['one answer']);
    for (let tries = 0; missing.size > 0; tries++) {
      if (tries === TRIES) throw wrong(`${[...missing].join(', ')} never answered`);
      const answer = await net.ask(protocol === 'UDP' ? { ...question, sourcePort: nextPort() } : question);
      if (outcome.kind === 'untouched') {
        if (answer.kind !== 'answered' || answer.server !== endpointText({ address, port }))
          throw wrong(`met ${JSON.stringify(answer)}`);
        missing.clear();
      } else if (outcome.kind !== 'answered') {
        if (!isMet(outcome.kind, answer.kind, protocol)) throw wrong(`met ${JSON.stringify(answer)}`);
        missing.clear();
      } else {
        if (answer.kind !== 'answered' || !outcome.servers.includes(answer.server))
          throw wrong(`met ${JSON.stringify(answer)}`);
        if ((answer.client !== source) !== outcome.masqueraded)
          throw wrong(`${answer.server} saw ${answer.client}`);
        missing.delete(answer.server);
      }
    }
  }
}

/**
 * A process of the node itself is told EPERM, refused or dropped. Linux's SCTP does not end a connect for an ICMP port
 * unreachable, so a refusal there looks like silence.
 */
function isMet(expected: 'refused' | 'silence', met: Answer['kind'], protocol: Protocol): boolean {
  return met === expected || met === 'forbidden' || (protocol === 'SCTP' && met === 'silence');
}

/** Whether this kernel has SCTP: asked by opening a socket. */
export function hasSctp(): boolean {
  const sys = createKoffiSys();
  const fd = sys.socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SCTP);
  if (fd < 0) return false;
  sys.close(fd);
  return true;
}
