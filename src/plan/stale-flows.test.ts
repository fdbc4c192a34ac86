import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Protocol } from '../model/service.ts';
import { type FrontendFlows, isStale } from './stale-flows.ts';

const served: FrontendFlows = { kind: 'served', serving: new Set(['10.50.2.8:9053']) };
const frontends = new Map<string, FrontendFlows>([
  ['10.96.0.40/UDP/5300', served],
  ['198.18.0.40/UDP/5300', served],
  ['203.0.113.40/UDP/5300', served],
  ['nodeport/IPv4/UDP/31040', served],
  ['10.96.0.41/UDP/5300', { kind: 'gone' }],
  ['10.96.0.42/UDP/5300', { kind: 'served', serving: new Set() }],
  ['10.96.0.40/TCP/5300', served],
  ['10.96.0.40/SCTP/5300', served],
]);
const scope = { frontends, isNodeAddress: (address: string): boolean => address === '192.0.2.11' };

/** `UDP 10.96.0.40:5300 > 10.50.2.8:9053`: client sent to, answered by; `?` behind: nobody answered yet. */
function stale(line: string): boolean {
  const [, protocol, destination = '', port, server = '', serverPort, mark] =
    /^(\w+) ([\d.]+):(\d+) > ([\d.]+):(\d+)(\?)?$/.exec(line) ?? [];
  const flow = {
    protocol: protocol as Protocol,
    destination,
    port: Number(port),
    server,
    serverPort: Number(serverPort),
    answered: mark === undefined,
  };
  return isStale(flow, scope);
}

test('which flows are ended', () => {
  const table: readonly (readonly [string, string, boolean])[] = [
    ['S342 ClusterIP', 'UDP 10.96.0.40:5300 > 10.50.2.8:9053', false],
    ['S342 load balancer', 'UDP 198.18.0.40:5300 > 10.50.2.8:9053', false],
    ['S342 external IP', 'UDP 203.0.113.40:5300 > 10.50.2.8:9053', false],
    ['S343 an endpoint that does not serve', 'UDP 10.96.0.40:5300 > 10.50.2.9:9053', true],
    ['S344 one that is gone', 'UDP 203.0.113.40:5300 > 10.50.2.7:9053', true],
    ['S345 its old port', 'UDP 10.96.0.40:5300 > 10.50.2.8:8053', true],
    ['S346 never translated', 'UDP 10.96.0.40:5300 > 10.96.0.40:5300', true],
    ['S347 another port', 'UDP 10.96.0.40:9999 > 10.96.0.40:9999', false],
    ['S348 B004 by node port', 'UDP 192.0.2.11:31040 > 10.50.2.7:9053', true],
    ['by node port at an address that the node had', 'UDP 192.0.2.99:31040 > 10.50.2.7:9053', true],
    ['by node port to one that serves', 'UDP 192.0.2.11:31040 > 10.50.2.8:9053', false],
    ['a stranger’s flow to that port number elsewhere', 'UDP 198.51.100.1:31040 > 198.51.100.1:31040', false],
    ['to the node itself before there was a rule', 'UDP 192.0.2.11:31040 > 192.0.2.11:31040', true],
    ['B003 of a deleted Service', 'UDP 10.96.0.41:5300 > 10.50.2.8:9053', true],
    ['to its address untranslated', 'UDP 10.96.0.41:5300 > 10.96.0.41:5300', false],
    ['B002 no endpoint serves', 'UDP 10.96.0.42:5300 > 10.50.2.8:9053', true],
    ['B015 SCTP likewise', 'SCTP 10.96.0.40:5300 > 10.50.2.7:9053', true],
    ['SCTP to one that serves', 'SCTP 10.96.0.40:5300 > 10.50.2.8:9053', false],
    ['S349 B017 established TCP stays', 'TCP 10.96.0.40:5300 > 10.50.2.7:9053', false],
    ['B016 unanswered TCP goes', 'TCP 10.96.0.40:5300 > 10.50.2.7:9053?', true],
    ['unanswered TCP to one that serves', 'TCP 10.96.0.40:5300 > 10.50.2.8:9053?', false],
    ['what is no Service', 'UDP 8.8.8.8:53 > 8.8.8.8:53', false],
  ];
  for (const [name, line, expected] of table) assert.equal(stale(line), expected, `${name}: ${line}`);
});
