// Carries what goes wrong with single objects to the event recorder and, once each, to the log.
import type { Logger } from '../base/log.ts';
import type { EventNote } from '../kube/event-series.ts';
import { serviceKey } from '../model/service.ts';
import type { ServiceHealthFacts } from '../observe/service-health-answer.ts';
import type { ClusterState } from './cluster-state.ts';
import { clashNote, healthCheckNote, type NoteFacts, portClashNote, quarantineNote } from './notes.ts';
import type { QuarantineKind } from './quarantine.ts';

export interface EventReportsOptions {
  readonly nodeName: string;
  readonly state: () => Pick<ClusterState, 'service' | 'table'>;
  readonly record: (note: EventNote) => void;
  readonly log: Logger;
}

export interface EventReports {
  quarantined(kind: QuarantineKind, key: string, reason: string): void;
  healthCheckFailed(service: ServiceHealthFacts, port: number, error: Error): void;
  clashed(changes: ReturnType<ClusterState['takeClashes']>): void;
}

export function createEventReports({ nodeName, state, record, log }: EventReportsOptions): EventReports {
  const facts: NoteFacts = {
    nodeName,
    uidOf: (key) => state().service(key).service?.uid,
    serviceOf(key) {
      const port = state().table.entries.get(key)?.servicePort;
      return port && serviceKey(port.namespace, port.name);
    },
  };
  return {
    quarantined(kind, key, reason) {
      const note = quarantineNote(facts, kind, key, reason);
      if (note !== undefined) record(note);
    },
    healthCheckFailed({ namespace, name }, port, error) {
      record(healthCheckNote(facts, serviceKey(namespace, name), port, error.message));
    },
    clashed({ frontends, ports }) {
      for (const [frontend, clash] of frontends) {
        if (clash === undefined) {
          log.info('A frontend is claimed by one Service only again', { frontend });
          continue;
        }
        const { holder, others } = clash;
        log.warn('Several Services claim a frontend, the oldest has it', { frontend, holder, others });
        for (const other of others) record(clashNote(facts, frontend, other, holder));
      }
      for (const [port, { nodePortOf, healthPortOf }] of ports) {
        log.warn('A node port is a health check node port too, health checks are not answered', {
          port,
          nodePortOf,
          healthPortOf,
        });
        record(portClashNote(facts, port, healthPortOf, nodePortOf));
        if (nodePortOf !== healthPortOf) record(portClashNote(facts, port, nodePortOf, healthPortOf));
      }
    },
  };
}
