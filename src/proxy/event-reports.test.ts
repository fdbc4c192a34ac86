import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../base/log.ts';
import type { EventNote } from '../kube/event-series.ts';
import { createEventReports } from './event-reports.ts';
import { bindFailureNote, startingNote } from './notes.ts';
import { createPortClashes } from './port-clashes.ts';

function reports() {
  const notes: EventNote[] = [];
  const made = createEventReports({
    nodeName: 'n1',
    state: () => ({
      service: (key) => ({
        service: key === 'shop/web' ? ({ uid: 'u-1' } as never) : undefined,
        slices: [],
      }),
      table: {
        settings: {} as never,
        entries: new Map([
          ['10.96.0.1/TCP/80', { servicePort: { namespace: 'shop', name: 'web' } } as never],
        ]),
      },
    }),
    record: (note) => notes.push(note),
    log: silentLogger,
  });
  return { ...made, notes };
}

test('an entry that the kernel refuses is told of its Service', () => {
  const { quarantined, notes } = reports();
  quarantined('entry', '10.96.0.1/TCP/80', 'ENOMEM');
  quarantined('entry', '10.96.0.9/TCP/80', 'ENOMEM');
  assert.deepEqual(notes, [
    {
      regarding: { apiVersion: 'v1', kind: 'Service', namespace: 'shop', name: 'web', uid: 'u-1' },
      type: 'Warning',
      reason: 'FrontendRefused',
      action: 'ProgramService',
      note: 'node n1 cannot program 10.96.0.1/TCP/80, and goes on without it: ENOMEM',
    },
  ]);
});

test('B070: parts of objects that cannot be used are told of the object', () => {
  const { quarantined, notes } = reports();
  quarantined('object', 'services shop/web', 'spec.externalIPs[0] "x" is no IP address');
  quarantined('object', 'services shop/db healthCheckNodePort 30555', 'the port is that of shop/web');
  quarantined('object', 'endpointslices shop/web-1', 'ports[0] has no number');
  assert.deepEqual(
    notes.map(({ regarding, reason, note }) => [regarding.kind, regarding.name, regarding.uid, reason, note]),
    [
      [
        'Service',
        'web',
        'u-1',
        'InvalidService',
        'node n1 goes on without what cannot be used: spec.externalIPs[0] "x" is no IP address',
      ],
      [
        'Service',
        'db',
        undefined,
        'InvalidService',
        'node n1 goes on without what cannot be used: healthCheckNodePort 30555: the port is that of shop/web',
      ],
      [
        'EndpointSlice',
        'web-1',
        undefined,
        'InvalidEndpointSlice',
        'node n1 goes on without what cannot be used: ports[0] has no number',
      ],
    ],
  );
});

test('Services that want a frontend of an older one are told so, each', () => {
  const { clashed, notes } = reports();
  const clash = { holder: 'shop/web', others: ['shop/a', 'shop/b'] };
  clashed({
    frontends: new Map([
      ['10.0.0.1/TCP/80', clash],
      ['10.0.0.2/TCP/80', undefined],
    ]),
    ports: new Map(),
  });
  assert.deepEqual(
    notes.map(({ regarding, related, reason }) => [regarding.name, related?.name, reason]),
    [
      ['a', 'web', 'FrontendClash'],
      ['b', 'web', 'FrontendClash'],
    ],
  );
});

test("B085: a node port that is another Service's health check node port is told of both", () => {
  const { clashed, notes } = reports();
  const clashes = createPortClashes();
  clashes.nodePort(30_555, 'shop/b');
  clashes.healthPort(30_556, 'shop/a');
  assert.equal(clashes.current.size, 0);
  clashes.healthPort(30_555, 'shop/a');
  clashed({ frontends: new Map(), ports: clashes.take() });
  assert.deepEqual(
    notes.map(({ regarding, related, reason }) => [regarding.name, related?.name, reason]),
    [
      ['a', 'b', 'HealthCheckNodePortClash'],
      ['b', 'a', 'HealthCheckNodePortClash'],
    ],
  );
  assert.equal(clashes.take().size, 0);
  clashes.nodePort(30_555, undefined);
  assert.equal(clashes.current.size, 0);
});

test("S382 S387 S474: events of start and of ports that cannot be opened have upstream's words", () => {
  const { healthCheckFailed, notes } = reports();
  healthCheckFailed({ namespace: 'shop', name: 'web', uid: 'u-1' }, 32_022, new Error('EADDRINUSE'));
  const [note] = notes;
  assert.deepEqual(
    [note?.reason, note?.action, note?.regarding.uid],
    ['FailedToStartServiceHealthcheck', 'Listen', 'u-1'],
  );
  assert.equal(note?.note, 'node n1 failed to start healthcheck "shop/web" on port 32022: EADDRINUSE');
  assert.deepEqual(startingNote('n1'), {
    regarding: { kind: 'Node', name: 'n1', uid: 'n1' },
    type: 'Normal',
    reason: 'Starting',
    action: 'StartKubeProxy',
    note: '',
  });
  assert.equal(bindFailureNote('n1', 'health', 'x').reason, 'FailedToStartProxierHealthcheck');
  assert.equal(bindFailureNote('n1', 'metrics', 'x').reason, 'FailedToStartMetricServer');
});
