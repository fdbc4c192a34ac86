// What may be wrong with the ports of a Service.
import { duplicate, type FieldError, invalidValue, notSupported, required } from '../../field-error.ts';
import type { JsonValue } from '../../json.ts';
import { dnsLabel, portName } from '../../names.ts';
import { isHeadless, type ServicePort, type ServiceSpec } from './types.ts';

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const RANGE = 'must be between 1 and 65535, inclusive';

function targetErrors(port: ServicePort, path: string): readonly FieldError[] {
  const { targetPort } = port;
  const field = `${path}.targetPort`;
  if (typeof targetPort === 'string')
    return portName(targetPort).map((why) => invalidValue(field, targetPort, why));
  return targetPort < 1 || targetPort > 65535 ? [invalidValue(field, targetPort, RANGE)] : [];
}

/** How the real server shows a port that repeats. */
const shownPort = ({ protocol, port }: ServicePort): JsonValue => ({
  Name: '',
  Protocol: protocol,
  AppProtocol: null,
  Port: port,
  TargetPort: 0,
  NodePort: 0,
});

function portErrors(port: ServicePort, path: string, many: boolean): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { name } = port;
  if (name === undefined) {
    if (many) errors.push(required(`${path}.name`));
  } else errors.push(...dnsLabel(name).map((why) => invalidValue(`${path}.name`, name, why)));
  if (port.port < 1 || port.port > 65535) errors.push(invalidValue(`${path}.port`, port.port, RANGE));
  if (!PROTOCOLS.includes(port.protocol))
    errors.push(notSupported(`${path}.protocol`, port.protocol, PROTOCOLS));
  // The target that defaulted to a bad port is not a second mistake.
  if (port.targetPort !== port.port) errors.push(...targetErrors(port, path));
  return errors;
}

function repeats(
  ports: readonly ServicePort[],
  field: string,
  keyOf: (port: ServicePort) => string | undefined,
  show: (port: ServicePort) => JsonValue,
): readonly FieldError[] {
  const seen = new Set<string>();
  return ports.flatMap((port, at) => {
    const key = keyOf(port);
    if (key === undefined) return [];
    if (seen.has(key)) return [duplicate(`spec.ports[${at}]${field}`, show(port))];
    seen.add(key);
    return [];
  });
}

export function servicePortErrors(spec: ServiceSpec): readonly FieldError[] {
  const ports = spec.ports ?? [];
  if (ports.length === 0 && !isHeadless(spec) && spec.type !== 'ExternalName')
    return [required('spec.ports')];
  return [
    ...ports.flatMap((port, at) => portErrors(port, `spec.ports[${at}]`, ports.length > 1)),
    ...repeats(
      ports,
      '.name',
      ({ name }) => name,
      ({ name }) => name ?? '',
    ),
    ...repeats(ports, '', ({ protocol, port }) => `${protocol}/${port}`, shownPort),
    ...repeats(
      ports,
      '.nodePort',
      ({ protocol, nodePort }) => (nodePort === undefined ? undefined : `${protocol}/${nodePort}`),
      ({ nodePort }) => nodePort ?? 0,
    ),
  ];
}
