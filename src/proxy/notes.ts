// What is told to the cluster as events (behaviour spec 7), in words for those who own the object.
import type { EventNote, ObjectReference } from '../kube/event-series.ts';
import { type ServiceKey, serviceOfKey } from '../model/service.ts';
import type { FrontendKey } from '../model/service-port.ts';
import type { QuarantineKind } from './quarantine.ts';

/** What notes need to know of the cluster. */
export interface NoteFacts {
  readonly nodeName: string;
  /** Uid of a Service; undefined when it is gone. */
  readonly uidOf: (key: ServiceKey) => string | undefined;
  /** The Service that has a frontend. */
  readonly serviceOf: (key: FrontendKey) => ServiceKey | undefined;
}

const ACTION_START = 'StartKubeProxy';
const ACTION_PROGRAM = 'ProgramService';

/** kubectl finds events of Nodes by the name in place of the uid. */
export const nodeReference = (nodeName: string): ObjectReference => ({
  kind: 'Node',
  name: nodeName,
  uid: nodeName,
});

export const startingNote = (nodeName: string): EventNote => ({
  regarding: nodeReference(nodeName),
  type: 'Normal',
  reason: 'Starting',
  action: ACTION_START,
  note: '',
});

/** A port of the proxy that cannot be opened, and must be. */
export const bindFailureNote = (
  nodeName: string,
  server: 'health' | 'metrics',
  because: string,
): EventNote => ({
  regarding: nodeReference(nodeName),
  type: 'Warning',
  reason: server === 'health' ? 'FailedToStartProxierHealthcheck' : 'FailedToStartMetricServer',
  action: ACTION_START,
  note: because,
});

/** A health check node port that cannot be opened (behaviour spec 7). */
export const healthCheckNote = (
  facts: NoteFacts,
  service: ServiceKey,
  port: number,
  because: string,
): EventNote => ({
  regarding: serviceReference(service, facts),
  type: 'Warning',
  reason: 'FailedToStartServiceHealthcheck',
  action: 'Listen',
  note: `node ${facts.nodeName} failed to start healthcheck ${JSON.stringify(service)} on port ${port}: ${because}`,
});

/** What is set aside; undefined when no object can be named. */
export function quarantineNote(
  facts: NoteFacts,
  kind: QuarantineKind,
  key: string,
  reason: string,
): EventNote | undefined {
  if (kind === 'entry') {
    const service = facts.serviceOf(key);
    if (service === undefined) return undefined;
    return {
      regarding: serviceReference(service, facts),
      type: 'Warning',
      reason: 'FrontendRefused',
      action: ACTION_PROGRAM,
      note: `node ${facts.nodeName} cannot program ${key}, and goes on without it: ${reason}`,
    };
  }
  // `services ns/name`, `endpointslices ns/name`, with words behind that say which part.
  const [resource = '', object = '', ...part] = key.split(' ');
  const { namespace, name } = serviceOfKey(object);
  const where = part.length === 0 ? '' : `${part.join(' ')}: `;
  return {
    regarding:
      resource === 'services'
        ? serviceReference(object, facts)
        : { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', namespace, name },
    type: 'Warning',
    reason: resource === 'services' ? 'InvalidService' : 'InvalidEndpointSlice',
    action: ACTION_PROGRAM,
    note: `node ${facts.nodeName} goes on without what cannot be used: ${where}${reason}`,
  };
}

/** A frontend that an older Service has. */
export const clashNote = (
  facts: NoteFacts,
  frontend: FrontendKey,
  loser: ServiceKey,
  holder: ServiceKey,
): EventNote => ({
  regarding: serviceReference(loser, facts),
  related: serviceReference(holder, facts),
  type: 'Warning',
  reason: 'FrontendClash',
  action: ACTION_PROGRAM,
  note: `${frontend} is that of the older Service ${holder}, and stays so while it is there`,
});

/** A node port that is a health check node port too: packets to it go to the Service, health checks get no answer. */
export const portClashNote = (
  facts: NoteFacts,
  port: number,
  told: ServiceKey,
  other: ServiceKey,
): EventNote => ({
  regarding: serviceReference(told, facts),
  related: serviceReference(other, facts),
  type: 'Warning',
  reason: 'HealthCheckNodePortClash',
  action: ACTION_PROGRAM,
  note: `port ${port} is a node port and a health check node port, of ${told} and ${other}: the node port has it, and health checks are not answered`,
});

function serviceReference(key: ServiceKey, { uidOf }: NoteFacts): ObjectReference {
  const { namespace, name } = serviceOfKey(key);
  const uid = uidOf(key);
  return { apiVersion: 'v1', kind: 'Service', namespace, name, ...(uid ? { uid } : {}) };
}
