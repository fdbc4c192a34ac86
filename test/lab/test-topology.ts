// Topologies for tests: with a prefix that no other process has, and gone at the end, also after a crash.
import { existsSync } from 'node:fs';
import { createKoffiSys } from '../../src/kernel/sys/koffi.ts';
import type { Sys } from '../../src/kernel/sys/sys.ts';
import { listNamespaces } from '../../src/lab/network/construction.ts';
import { removeLeftovers } from '../../src/lab/network/leftovers.ts';
import { createTopology, type Topology } from '../../src/lab/network/topology.ts';

export const sys: Sys = createKoffiSys();

let made = 0;

/** A prefix `pt-<pid>-lab<n>`, after what dead test processes left under such prefixes is gone. */
export async function testPrefix(): Promise<string> {
  for (const name of listNamespaces()) {
    const [, prefix, pid] = /^(pt-(\d+)-lab\d+)-switch$/.exec(name) ?? [];
    if (prefix !== undefined && !existsSync(`/proc/${pid}`)) await removeLeftovers(prefix);
  }
  made += 1;
  return `pt-${process.pid}-lab${made}`;
}

export async function testTopology(nodes: number): Promise<Topology> {
  return createTopology({ sys, prefix: await testPrefix(), nodes });
}
