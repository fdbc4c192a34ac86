// The controllers' Events, which `kubectl describe` shows.
import type { ApiObject } from '../api/api-object.ts';
import { timestamp } from '../api/time.ts';
import { type ControllerContext, settle } from './controller-context.ts';

export interface Happening {
  readonly type: 'Normal' | 'Warning';
  /** One word in CamelCase. */
  readonly reason: string;
  readonly message: string;
  /** Who says so. */
  readonly component: string;
  /** The node it happened on. */
  readonly host?: string;
}

/** Writes an Event about an object. Each call writes one: the controllers speak of changes only. */
export function recordEvent(context: ControllerContext, about: ApiObject, happening: Happening): void {
  const { type, reason, message, component, host } = happening;
  const { name = '', namespace = 'default', uid, resourceVersion } = about.metadata;
  const time = timestamp(context.now());
  const answer = context.api.create('events', {
    metadata: { generateName: `${name}.`, namespace },
    involvedObject: { kind: about.kind, apiVersion: about.apiVersion, name, namespace, uid, resourceVersion },
    type,
    reason,
    message,
    source: { component, ...(host === undefined ? {} : { host }) },
    reportingComponent: component,
    ...(host === undefined ? {} : { reportingInstance: host }),
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  });
  settle(context, `Event ${reason} about ${about.kind} ${name}`, answer);
}
