// Names of chains, which people and programs know (behaviour spec 4.1, names).
import { createHash } from 'node:crypto';
import { type Endpoint, endpointText, type ServicePort, servicePortText } from '../../model/service-port.ts';

/** SVC: all endpoints. SVL: those of this node. EXT: what comes from outside. FW: source ranges. */
export type PortChainKind = 'SVC' | 'SVL' | 'EXT' | 'FW';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const LENGTH = 16;

/** The first 16 letters of base32 (RFC 4648) of the SHA-256 of a text. */
function hashOf(text: string): string {
  const digest = createHash('sha256').update(text).digest();
  let name = '';
  let bits = 0;
  let value = 0;
  for (const byte of digest) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5 && name.length < LENGTH) {
      name += ALPHABET[(value >> (bits - 5)) & 31];
      bits -= 5;
    }
    if (name.length === LENGTH) break;
  }
  return name;
}

const portText = (port: ServicePort): string => servicePortText(port) + port.protocol.toLowerCase();

/** The names of a Service port's chains, of one hash. */
export function portChains(port: ServicePort): Readonly<Record<PortChainKind, string>> {
  const hash = hashOf(portText(port));
  return {
    SVC: `KUBE-SVC-${hash}`,
    SVL: `KUBE-SVL-${hash}`,
    EXT: `KUBE-EXT-${hash}`,
    FW: `KUBE-FW-${hash}`,
  };
}

/** The chain of one endpoint of a Service port. */
export function endpointChain(port: ServicePort, endpoint: Pick<Endpoint, 'address' | 'port'>): string {
  return `KUBE-SEP-${hashOf(portText(port) + endpointText(endpoint))}`;
}

/** A chain of a Service port or an endpoint: those that come and go. */
export function isPortChain(chain: string): boolean {
  return /^KUBE-(SVC|SVL|EXT|FW|SEP)-/.test(chain);
}
