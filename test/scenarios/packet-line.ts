// Reads the packet lines of the scenario tables.
import type { Family } from '../../src/model/address.ts';
import { endpointText } from '../../src/model/service-port.ts';
import type { Place } from '../packets/small-net.ts';
import { textIn } from './family.ts';
import type { PacketLine, ServiceGiven } from './scenario.ts';
import { ENDPOINT_PORT, ENDPOINTS, NODE_ADDRESSES, SENDERS } from './stage.ts';

export type Outcome =
  | { readonly kind: 'answered'; readonly servers: readonly string[]; readonly masqueraded: boolean }
  | { readonly kind: 'refused' | 'silence' | 'untouched' };

export interface PacketGiven {
  readonly line: PacketLine;
  readonly sender: string;
  readonly place: Place;
  readonly source: string;
  readonly address: string;
  readonly port: number;
  readonly outcome: Outcome;
}

/** Throws for a line that names what is not there, so that a slip in a table cannot pass. */
export function readPacket(
  line: PacketLine,
  services: Readonly<Record<string, ServiceGiven>>,
  family: Family,
): PacketGiven {
  const [, sender = '', target = '', outcome = ''] = /^(\S+) -> (\S+) : (.+)$/.exec(line) ?? [];
  const from = SENDERS[sender];
  if (from === undefined) throw new Error(`no sender '${sender}' in '${line}'`);
  const { address, port } = readTarget(target, services, line);
  return {
    line,
    sender,
    place: from.place,
    source: textIn(family, from.address),
    address: textIn(family, address),
    port,
    outcome: readOutcome(outcome, line, family),
  };
}

function readTarget(
  target: string,
  services: Readonly<Record<string, ServiceGiven>>,
  line: string,
): { readonly address: string; readonly port: number } {
  const [, name = '', , what, port] = /^([^:.]+)(\.(node|vip2|vip|ext))?(?::(\d+))?$/.exec(target) ?? [];
  const service = services[name];
  if (service === undefined) {
    const [, address = '', number = ''] = /^(.+):(\d+)$/.exec(target) ?? [];
    if (address === '') throw new Error(`no target '${target}' in '${line}'`);
    return { address, port: Number(number) };
  }
  const vips = (service.vips ?? []).map((vip) => (typeof vip === 'string' ? vip : String(vip.ip)));
  const address =
    what === 'node'
      ? NODE_ADDRESSES[0]
      : what === 'vip'
        ? vips[0]
        : what === 'vip2'
          ? vips[1]
          : what === 'ext'
            ? service.externalIPs?.[0]
            : service.clusterIP;
  const number = port ?? (what === 'node' ? service.nodePort : service.port);
  if (address === undefined || number === undefined)
    throw new Error(`'${target}' has no address or port in '${line}'`);
  return { address, port: Number(number) };
}

function readOutcome(text: string, line: string, family: Family): Outcome {
  if (text === 'refused' || text === 'silence' || text === 'untouched') return { kind: text };
  const words = text.split(' ');
  const mark = words.pop();
  if (mark !== 'M' && mark !== '-') throw new Error(`'${text}' ends neither with M nor with - in '${line}'`);
  const servers = words.map((word) => {
    const [name = '', port = String(ENDPOINT_PORT)] = word.split(':');
    const endpoint = ENDPOINTS[name];
    if (endpoint === undefined) throw new Error(`no endpoint '${name}' in '${line}'`);
    return endpointText({ address: textIn(family, endpoint.address), port: Number(port) });
  });
  if (servers.length === 0) throw new Error(`nobody answers in '${line}'`);
  return { kind: 'answered', servers, masqueraded: mark === 'M' };
}
